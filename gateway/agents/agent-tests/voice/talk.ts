/**
 * A conversation by voice from the caller's side: it waits until the agent has finished, says its line, hears the answer,
 * and interrupts as its scenario says. Time is that of the audio: it advances with each 100 ms heard.
 */
import type { CallerEvent, CallerLine } from '../../../../contracts/ports/agents/test-callers.js';
import { type AgentSpan, AgentSpans } from './agent-spans.js';
import type { CallerTurn } from './timeline.js';

export interface Interruption {
  /** The line whose answer is interrupted, from 1; 0 is the agent's opening. */
  readonly turn: number;
  readonly after_ms: number;
  readonly say: string;
  readonly backchannel?: boolean;
}

export interface TalkParts {
  readonly line: CallerLine;
  readonly interruptions: readonly Interruption[];
  /** Most lines that the caller says, interruptions not counted. */
  readonly most: number;
  /** Whether the agent speaks first: the caller waits for it as for an answer. */
  readonly opens: boolean;
  /** The caller's next words; undefined if the caller hangs up. */
  next(turns: readonly CallerTurn[], spans: readonly AgentSpan[]): Promise<string | undefined>;
  speak(line: string): Promise<Int16Array>;
  /** Its words, without its pauses. */
  wordsOf(line: string): string;
}

export interface Talked {
  readonly turns: readonly CallerTurn[];
  readonly spans: readonly AgentSpan[];
  /** Undefined if the agent's side ended it. */
  readonly endedBy: 'user' | 'turn_limit' | undefined;
  /** Why the agent's side ended it, as reported to clients. */
  readonly reason: string;
}

/** The agent has finished after this much silence if it reports that it listens. */
const FINISHED_MS = 800;
/** How long an agent without an opening must be silent and listening. */
const OPENING_MS = 1500;
/** Longest wait for an answer. */
export const ANSWER_MS = 15_000;
/** Interruptions are sent this much ahead of their time, since audio is reported a little after it was heard. */
const AHEAD_MS = 600;

interface Said {
  readonly from: number;
  readonly to: number;
}

interface Prepared extends Interruption {
  readonly samples: Int16Array;
}

const ORDINARY = { interrupts: false, backchannel: false, unanswered: false } as const;

/** The call has ended: nothing more can be said or heard. */
class CallOver extends Error {
  override readonly name = 'CallOver';
}

export class Talk {
  readonly #agentSpans = new AgentSpans();
  readonly #turns: CallerTurn[] = [];
  readonly #said = new Map<number, Said>();
  #state = '';
  #connected = false;
  #over = false;
  #reason = '';
  #wake: () => void = () => undefined;

  constructor(private readonly parts: TalkParts) {}

  /** Errors: those of the line, of the next words, of the voice. */
  async run(): Promise<Talked> {
    const listening = this.#listen();
    // Awaited below; until then a rejection must not count as unhandled.
    listening.catch(() => undefined);
    const endedBy = await Promise.race([this.#converse(), listening.then(() => undefined)]).catch(
      (error: unknown) => {
        if (!(error instanceof CallOver)) throw error;
        return undefined;
      },
    );
    if (endedBy !== undefined) this.parts.line.hangUp();
    await listening;
    this.#agentSpans.end();
    return { turns: this.#turns, spans: this.#agentSpans.ended, endedBy, reason: this.#reason };
  }

  async #listen(): Promise<void> {
    try {
      for await (const event of this.parts.line.events) {
        this.#note(event);
        this.#wake();
      }
    } finally {
      this.#over = true;
      this.#wake();
    }
  }

  #note(event: CallerEvent): void {
    if (event.kind === 'heard') this.#agentSpans.take(event.at, event.samples);
    else if (event.kind === 'said') this.#said.set(event.utterance, event);
    else if (event.kind === 'agent') this.#state = event.state;
    else if (event.kind === 'ended') this.#reason = event.reason;
    else this.#connected = true;
  }

  /** Calls `look` with each event until it finds something. Errors: `CallOver`. */
  async #until<T>(look: () => T | undefined | false): Promise<T> {
    for (;;) {
      const found = look();
      if (found !== undefined && found !== false) return found;
      if (this.#over) throw new CallOver();
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  /** Whether the agent has finished the speech that it began after `since`, or has not begun within `patience`. */
  #isQuiet(since: number, patience: number): boolean {
    const { now, last = 0 } = this.#agentSpans;
    const silence = now - Math.max(since, last);
    const enough = last > since || this.#agentSpans.since !== undefined ? FINISHED_MS : patience;
    return silence >= (this.#state === 'listening' ? enough : ANSWER_MS);
  }

  async #converse(): Promise<'user' | 'turn_limit'> {
    const { most, opens, next } = this.parts;
    const opening = await this.#prepared(0);
    await this.#until(() => this.#connected);
    await this.#hearOut(opening, 0, opens ? ANSWER_MS : OPENING_MS);
    for (let turn = 1; ; turn += 1) {
      const line = await next(this.#turns, this.#agentSpans.all);
      if (line === undefined) return 'user';
      if (turn > most) return 'turn_limit';
      await this.#take(line, await this.#prepared(turn));
    }
  }

  /** Synthesizes the interruptions of an answer before it begins, so that they are in time and do not delay the agent. */
  async #prepared(turn: number): Promise<readonly Prepared[]> {
    const prepared: Prepared[] = [];
    for (const interruption of this.parts.interruptions.filter((each) => each.turn === turn))
      prepared.push({ ...interruption, samples: await this.parts.speak(interruption.say) });
    return prepared;
  }

  /** Says a line and hears the answer. A line without words is silence, which needs no answer. */
  async #take(line: string, interruptions: readonly Prepared[]): Promise<void> {
    const text = this.parts.wordsOf(line);
    const { from, to } = await this.#say(await this.parts.speak(line));
    if (text === '') return this.#hearOut(interruptions, to, 0);
    this.#turns.push({ ...ORDINARY, text, from, to });
    await this.#hearOut(interruptions, to, ANSWER_MS);
    this.#noteAnswer();
  }

  /** Says the samples, and resolves with the time at which they were heard. */
  #say(samples: Int16Array, at?: number): Promise<Said> {
    const number = this.parts.line.say(samples, at);
    return this.#until(() => this.#said.get(number));
  }

  /** Hears the agent until it has finished, and interrupts it when due. */
  async #hearOut(interruptions: readonly Prepared[], behind: number, patience: number): Promise<void> {
    let since = behind;
    for (const { after_ms: after, say, samples, backchannel = false } of interruptions) {
      const begun = await this.#until(() => this.#agentSpans.since ?? this.#isQuiet(since, patience));
      if (begun === true) break;
      const at = begun + after;
      const isDue = await this.#until(() =>
        this.#agentSpans.since === undefined ? 'late' : this.#agentSpans.now >= at - AHEAD_MS && 'due',
      );
      if (isDue === 'late') continue;
      const { from, to } = await this.#say(samples, at);
      this.#turns.push({
        ...ORDINARY,
        text: this.parts.wordsOf(say),
        from,
        to,
        interrupts: true,
        backchannel,
      });
      if (!backchannel) since = to;
    }
    await this.#until(() => this.#isQuiet(since, patience));
  }

  /** Marks the last turn that needs an answer if it had none. */
  #noteAnswer(): void {
    const { last = 0 } = this.#agentSpans;
    const at = this.#turns.findLastIndex(({ backchannel }) => !backchannel);
    const turn = this.#turns[at];
    if (turn && last <= turn.to) this.#turns[at] = { ...turn, unanswered: true };
  }
}
