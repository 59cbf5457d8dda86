/**
 * Bodies of one workspace that are paused go on in turns of the event loop: a stack reads up to half a mebibyte of each connection in a
 * turn, so that fifty uploads at once would make one turn of all of them. Those of others go on beside them.
 *
 * Invariants: a body that waits goes on, in the order in which they came; a workspace's alone goes on in the next turn.
 */

/** Bodies of one workspace that go on in one turn. */
const AT_ONCE = 4;

/** Has the connection read on, later. */
export type GoOn = (resume: () => void) => void;

export class BodyTurns {
  readonly #waiting = new Map<string, (() => void)[]>();

  /** `holder` of the owner: the workspace, before a key is known the address. */
  of(owner: { readonly holder: string }): GoOn {
    return (resume) => this.#add(owner.holder, resume);
  }

  #add(holder: string, resume: () => void): void {
    const line = this.#waiting.get(holder);
    if (line) return void line.push(resume);
    const begun = [resume];
    this.#waiting.set(holder, begun);
    setImmediate(() => this.#turn(holder, begun));
  }

  #turn(holder: string, line: (() => void)[]): void {
    const next = line.splice(0, AT_ONCE);
    if (line.length === 0) this.#waiting.delete(holder);
    else setImmediate(() => this.#turn(holder, line));
    for (const resume of next) resume();
  }
}
