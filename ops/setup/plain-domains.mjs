/**
 * Stands in for async-hook-domain in the bundle of tap (transpile.mjs): what nobody caught fails the innermost test that is
 * running. The package itself finds the test by a hook on every promise and every timer, which makes each of them cost
 * several times as much; tests of a file run one after the other, so that there is no choice to make.
 */

/** The key under which tap's core keeps the file's own test. */
const ROOT = Symbol.for('TAP private constructor');
const EVENTS = ['uncaughtException', 'unhandledRejection'];

let living = 0;

/** The test itself, or the one within it that is running. Files that a runner has spawned are no tests of its process. */
function innermost(test) {
  for (const subtest of test.activeSubtests) if (subtest.activeSubtests) return innermost(subtest);
  return test;
}

/** A listener of the test's own goes first. */
const isOurs = (event) => process.listenerCount(event) === 1;

const listeners = EVENTS.map((event) => [
  event,
  (error) => isOurs(event) && innermost(globalThis[ROOT]).hookDomain.onerror(error, event),
]);

/** One for each test, from its making to its end. Without any, what nobody caught ends the process as ever. */
export class Domain {
  #lives = true;

  constructor(onerror) {
    this.onerror = onerror;
    living += 1;
    if (living === 1) for (const [event, listener] of listeners) process.on(event, listener);
  }

  destroy() {
    if (!this.#lives) return;
    this.#lives = false;
    living -= 1;
    if (living === 0) for (const [event, listener] of listeners) process.off(event, listener);
  }
}
