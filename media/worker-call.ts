/**
 * A call whose media runs in a worker: the gateway's side, for any carrier. Commands go out, reports come
 * in; `play` applies back-pressure until the worker has played most of its speech.
 *
 * Invariants: the events end when the job has; unread commands are bounded, and a worker that leaves too many unread
 * loses the call; nothing waits for room in a call that has ended.
 */
import { bytesOf, PLAYOUT_RATE, samplesOf } from '../contracts/audio.js';
import { CALL_TIMES } from '../contracts/limits/call-times.js';
import { ServiceError } from '../contracts/errors.js';
import type {
  Call,
  CallEvent,
  CallObserver,
  CallOptions,
  TranscriptText,
} from '../contracts/ports/calls/calls.js';
import { pieceOf } from '../contracts/ports/accounts/memory.js';
import type { JobRunner } from '../contracts/ports/jobs.js';
import { ownerOf } from '../processes/job-owner.js';
import { AsyncQueue } from './async-queue.js';
import type { CallCommand, LineCommand, OfferedCommand, Report, SignalCommand } from './wire.js';

/** Most speech that the worker holds before it is played; the producer waits with more. */
const AHEAD_MS = 2000;
/** Most commands that a worker may leave unread, in number and in bytes of frames and audio. */
const MOST_WAITING = 4096;
const MOST_WAITING_BYTES = 8 * 1024 * 1024;

type AnyCommand = CallCommand | SignalCommand | LineCommand | OfferedCommand;

function bytesIn(command: AnyCommand): number {
  if (command.op === 'play') return command.pcm.length;
  if (command.op === 'hear') return command.audio.length;
  if (command.op === 'event') return command.text.length;
  return command.op === 'signal' ? command.frame.length : 0;
}

const weightOf = (command: AnyCommand): number => pieceOf(bytesIn(command));

const milliseconds = (samples: number): number => (samples / PLAYOUT_RATE) * 1000;

const speechOf = ({ active, background = false, silentMs, at }: Extract<Report, { readonly on: 'speech' }>) =>
  ({ kind: 'speech', active, background, at, ...(silentMs !== undefined && { silentMs }) }) as const;

/** `Own`: the reports that only this carrier has. */
export abstract class WorkerCall<Own extends { readonly on: string }> implements Call {
  readonly events: AsyncIterable<CallEvent> = this.#read();
  readonly #reported = this.#follow();
  /** The first event of a job that was started before its events are read. */
  #first: Promise<IteratorResult<CallEvent, void>> | undefined;
  readonly #commands = new AsyncQueue(weightOf);
  readonly #abort = new AbortController();
  #letGo: NodeJS.Timeout | undefined;
  /** Milliseconds given and played of each utterance that has not ended. */
  readonly #given = new Map<number, { ms: number; played: number }>();
  #room: (() => void)[] = [];
  /** Resolvers of `press`, waiting until the keys have been sent. */
  #pressing: (() => void)[] = [];
  #over = false;

  constructor(
    protected readonly options: CallOptions,
    private readonly observer: CallObserver,
  ) {}

  /** Starts the job and returns its reports, message by message; called when reading of the events begins. */
  protected abstract reports(): AsyncIterable<unknown>;
  /** Takes a report that only this carrier has. */
  protected abstract take(report: Own): void;
  /** The job has ended. Called once, never rejects; unless the call broke, the events end when it has settled. */
  protected abstract closed(): void | Promise<void>;

  /** Options of the job: its commands, its abort signal, and whose it is. */
  protected get run(): Parameters<JobRunner['runJob']>[2] {
    const { workspaceId, isTest } = this.options;
    const owner = ownerOf({ workspaceId, isLive: isTest !== true });
    return { input: this.#commands, signal: this.#abort.signal, owner };
  }

  protected get over(): boolean {
    return this.#over;
  }

  /** Whether `end` was called, though the job may still run. */
  protected get ended(): boolean {
    return this.#over || this.#letGo !== undefined;
  }

  /** Bytes of commands that the worker has not read. */
  protected get waitingBytes(): number {
    return this.#commands.length > 0 ? this.#commands.bytes : 0;
  }

  async playSpeech(utterance: number, samples: Int16Array): Promise<void> {
    const given = this.#given.get(utterance) ?? { ms: 0, played: 0 };
    this.#given.set(utterance, given);
    given.ms += milliseconds(samples.length);
    this.tell({ op: 'play', utterance, pcm: bytesOf(samples) });
    while (!this.#over && this.#given.get(utterance) === given && given.ms - given.played > AHEAD_MS)
      await new Promise<void>((resolve) => this.#room.push(resolve));
  }

  finishUtterance(utterance: number): void {
    this.tell({ op: 'finish', utterance });
  }

  pauseSpeech(): void {
    this.tell({ op: 'pause' });
  }

  resumeSpeech(): void {
    this.tell({ op: 'resume' });
  }

  clearSpeech(): void {
    this.#given.clear();
    this.#wake();
    this.tell({ op: 'clear' });
  }

  sendData(topic: string, payload: Uint8Array): void {
    this.tell({ op: 'data', topic, payload });
  }

  showTranscript(text: TranscriptText): void {
    this.tell({ op: 'show', ...text });
  }

  setAttributes(values: Readonly<Record<string, string>>): void {
    this.tell({ op: 'attributes', values });
  }

  /** A message of a caller, as a client would send it. */
  told(topic: string, payload: Uint8Array): void {
    this.tell({ op: 'told', topic, payload });
  }

  /** Presses keys of a telephone. Resolves when they have been sent, or the call has ended. */
  press(keys: string): Promise<void> {
    if (this.#over) return Promise.resolve();
    this.tell({ op: 'press', keys });
    return new Promise((resolve) => this.#pressing.push(resolve));
  }

  end(): void {
    if (this.#over) return;
    this.tell({ op: 'end' });
    this.#commands.end();
    clearTimeout(this.#letGo);
    this.#letGo = setTimeout(() => this.#abort.abort(), CALL_TIMES.releaseMs);
  }

  /** Abandons the worker's side: the events end with an error. */
  protected lose(): void {
    this.#abort.abort(new ServiceError('engine_lost'));
  }

  protected tell(command: AnyCommand): void {
    if (this.#over) return;
    this.#commands.push(command);
    const { length, bytes } = this.#commands;
    if (length > MOST_WAITING || bytes > MOST_WAITING_BYTES) this.lose();
  }

  /** Starts the job at once, and not when its events are read. Resolves with its first event, or its end. Errors: those of the job. */
  protected start(): Promise<unknown> {
    return (this.#first ??= this.#reported.next());
  }

  async *#read(): AsyncGenerator<CallEvent, void> {
    try {
      const first = await this.#first;
      if (first && !first.done) yield first.value;
      yield* this.#reported;
    } finally {
      await this.#reported.return();
    }
  }

  async *#follow(): AsyncGenerator<CallEvent, void> {
    let whole = false;
    try {
      for await (const message of this.reports())
        for (const report of message as readonly (Report | Own)[]) {
          const event = this.#eventOf(report);
          if (event) yield event;
        }
      whole = true;
    } finally {
      this.#finish();
      const closed = this.closed();
      // On failure do not wait for `closed()`.
      if (whole) await closed;
    }
  }

  #eventOf(any: Report | Own): CallEvent | undefined {
    const report = any as Report;
    switch (report.on) {
      case 'recording':
        this.observer.recorded(this.options.sessionId, new Date(report.at), this.options.part ?? 1);
        return undefined;
      case 'frames':
        this.observer.counted?.(report);
        return undefined;
      case 'audio':
        return { kind: 'audio', samples: samplesOf(report.pcm) };
      case 'played':
        this.#note(report);
        return { kind: 'played', utterance: report.utterance, ms: report.ms, ended: report.ended };
      case 'speech':
        return speechOf(report);
      case 'shortPause':
        return { kind: 'shortPause', active: report.active };
      case 'data':
        return {
          kind: 'data',
          topic: report.topic,
          payload: report.payload,
          ...(report.tooLong && { tooLong: true }),
        };
      case 'pressed':
        this.#pressed();
        return undefined;
      case 'connected':
      case 'disconnected':
      case 'left':
        return { kind: report.on };
      default:
        this.take(any as Own);
        return undefined;
    }
  }

  #note({ utterance, ms, ended }: Extract<Report, { readonly on: 'played' }>): void {
    const given = this.#given.get(utterance);
    if (given) given.played = ms;
    if (ended) this.#given.delete(utterance);
    this.#wake();
  }

  #pressed(): void {
    for (const resolve of this.#pressing.splice(0)) resolve();
  }

  #wake(): void {
    for (const resolve of this.#room.splice(0)) resolve();
  }

  #finish(): void {
    this.#over = true;
    clearTimeout(this.#letGo);
    this.#commands.end();
    this.#wake();
    this.#pressed();
  }
}
