/**
 * A call without media: the user types, and the agent's words count as heard as soon as they are written. The conversation
 * sees an ordinary call (contracts/ports/calls/calls.ts).
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { PLAYOUT_RATE } from '../../../../contracts/audio.js';
import type { Clock } from '../../../../contracts/clock.js';
import { LIMITS } from '../../../../contracts/limits.js';
import type { Call, CallEvent, TranscriptText } from '../../../../contracts/ports/calls/calls.js';
import { TokenBucket } from '../../../../contracts/limits/token-bucket.js';
import { AsyncQueue } from '../../../../media/async-queue.js';
import { TOPICS } from '../client/events.js';
import { pause } from '../record.js';

/** Interval of activity messages while the simulated user thinks, so that the agent does not ask whether it is still there. */
const ACTIVITY_MS = 5000;
const RETRY_MS = 500;

/** A message for the client (../client/events.ts), as far as somebody reads it here. */
export interface AgentEvent {
  readonly type: string;
  readonly callId?: string;
  readonly toolName?: string;
  readonly toolSource?: string;
  readonly input?: string;
  readonly output?: string;
  readonly error?: string;
  readonly reason?: string;
}

/** Who watches the call. */
export interface TextObserver {
  /** Captions of both sides. */
  shown(text: TranscriptText): void;
  /** Messages for the client. */
  told(event: AgentEvent): void;
}

export class TextCall implements Call {
  readonly events = new AsyncQueue<CallEvent>();
  /** Why the agent's side ended it; undefined until then. */
  ended: string | undefined;
  #listens = false;
  /** Called tools that have not answered yet. */
  readonly #tools = new Set<string>();
  readonly #played = new Map<number, number>();
  /** The rate limit of clients, which the conversation enforces. */
  readonly #rate: TokenBucket;
  #changed = (): void => undefined;

  constructor(
    private readonly clock: Clock,
    private readonly observer?: TextObserver,
  ) {
    this.#rate = new TokenBucket(LIMITS.session.clientMessages, () => clock.monotonic());
    this.events.push({ kind: 'connected' });
  }

  /** Resolves with true when it is the user's turn (the agent is silent, no tool runs), or with false when the call has ended. */
  async untilListening(): Promise<boolean> {
    for (;;) {
      if (this.ended !== undefined) return false;
      const isQuiet = this.#listens && this.#tools.size === 0;
      // A tool's result may make the agent speak again in this turn of the event loop.
      if (isQuiet) await nextTurn();
      else await new Promise<void>((resolve) => (this.#changed = resolve));
      if (isQuiet && this.#listens && this.#tools.size === 0) return true;
    }
  }

  /** Sends the user's words; `aloud`: whether the answer is for the voice, or shown as it is written. */
  async say(text: string, aloud = true): Promise<void> {
    while (!this.#rate.take()) await pause(this.clock, RETRY_MS);
    this.#listens = false;
    this.#client({ type: 'user.message', text, audio: aloud });
  }

  /** Runs the user's work while the agent waits. */
  async thinking<T>(work: Promise<T>): Promise<T> {
    let stop = (): void => undefined;
    const stay = (): void => {
      if (this.#rate.take()) this.#client({ type: 'user.activity' });
      stop = this.clock.after(ACTIVITY_MS, stay);
    };
    stop = this.clock.after(ACTIVITY_MS, stay);
    return work.finally(() => stop());
  }

  hangUp(): void {
    this.events.push({ kind: 'left' });
  }

  #client(event: object): void {
    const payload = Buffer.from(JSON.stringify(event));
    this.events.push({ kind: 'data', topic: TOPICS.fromClient, payload });
  }

  playSpeech(utterance: number, samples: Int16Array): Promise<void> {
    const ms = (this.#played.get(utterance) ?? 0) + (samples.length * 1000) / PLAYOUT_RATE;
    this.#played.set(utterance, ms);
    this.events.push({ kind: 'played', utterance, ms, ended: false });
    return Promise.resolve();
  }

  finishUtterance(utterance: number): void {
    this.events.push({ kind: 'played', utterance, ms: this.#played.get(utterance) ?? 0, ended: true });
  }

  setAttributes(values: Readonly<Record<string, string>>): void {
    this.#listens = values['lk.agent.state'] === 'listening';
    this.#changed();
  }

  sendData(_topic: string, payload: Uint8Array): void {
    const event = JSON.parse(Buffer.from(payload).toString()) as AgentEvent;
    const { type, callId = '', reason = '' } = event;
    this.observer?.told(event);
    if (type === 'tool.started') this.#tools.add(callId);
    if (type === 'tool.completed' || type === 'tool.failed') this.#tools.delete(callId);
    if (type === 'session.ended') this.ended = reason;
    this.#changed();
  }

  end(): void {
    this.ended ??= '';
    this.events.end();
    this.#changed();
  }

  showTranscript(text: TranscriptText): void {
    this.observer?.shown(text);
  }

  /** These do nothing: words are heard at once, so they are never held or dropped. */
  pauseSpeech(): void {}
  resumeSpeech(): void {}
  clearSpeech(): void {}
}
