/**
 * Calls whose media runs in a worker (transport.md "Embedded mode"): the gateway's side. Signalling frames pass
 * through unread; speech waits here until the worker has played most of what it has.
 */
import { bytesOf, samplesOf } from '../../contracts/audio.js';
import { ServiceError } from '../../contracts/errors.js';
import type {
  Call,
  CallEvent,
  CallOptions,
  Calls,
  SignalConnect,
  SignalEnd,
  SignalLink,
  TranscriptText,
} from '../../contracts/ports/calls.js';
import type { JobRunner } from '../../contracts/ports/jobs.js';
import type { RecordingBegan } from '../../contracts/ports/recordings.js';
import { Pushed } from '../pushed.js';
import { CALL_JOB, type CallArgs, type Command, type Report } from '../wire.js';

/** What `play` is given, in Hz. */
const RATE = 24_000;
/** Speech that the worker holds ahead of the user's ear; more waits with its maker. */
const AHEAD_MS = 2000;
/** Commands that a worker which does not answer may leave behind, in number and in bytes of frames and speech. */
const MOST_WAITING = 4096;
const MOST_WAITING_BYTES = 8 * 1024 * 1024;
/** What a client's frames may take of that. */
const MOST_SIGNAL_BYTES = 2 * 1024 * 1024;
/** A worker that has not let go of a call by then is told to stop it. */
const LET_GO_MS = 5000;

function weightOf(command: Command): number {
  if (command.op === 'play') return command.pcm.length;
  return command.op === 'signal' ? command.frame.length : 0;
}

const milliseconds = (samples: number): number => (samples / RATE) * 1000;

class EmbeddedCall implements Call {
  readonly events: AsyncIterable<CallEvent>;
  readonly #commands = new Pushed(weightOf);
  readonly #abort = new AbortController();
  #stopWaiting = (): void => undefined;
  readonly #links = new Map<number, SignalLink>();
  #link = 0;
  /** Of each utterance that is not over: what was given and what was heard. */
  readonly #given = new Map<number, { ms: number; played: number }>();
  #room: (() => void)[] = [];
  #over = false;

  constructor(
    media: JobRunner,
    private readonly options: CallOptions,
    private readonly recorded: RecordingBegan,
    signal: AbortSignal,
  ) {
    const { sessionId, user, agent, record } = options;
    const args: CallArgs = { sessionId, user, agent, record };
    const run = { input: this.#commands, signal: AbortSignal.any([signal, this.#abort.signal]) };
    this.events = this.#follow(media.run(CALL_JOB, args, run));
  }

  connect({ version, query }: SignalConnect, link: SignalLink): SignalEnd {
    const number = ++this.#link;
    if (this.#over) link.close();
    else this.#links.set(number, link);
    const ready = this.#introduce(number, version, query.toString()).catch(() => link.close());
    return {
      receive: (frame) => void ready.then(() => this.#signal(number, frame)),
      closed: () => {
        this.#links.delete(number);
        void ready.then(() => this.#tell({ op: 'gone', link: number }));
      },
    };
  }

  /** Who sends faster than the worker reads loses the connection. */
  #signal(link: number, frame: Uint8Array | string): void {
    const waits = this.#commands.bytes + frame.length > MOST_SIGNAL_BYTES && this.#commands.length > 0;
    if (waits) this.#links.get(link)?.close();
    else if (this.#links.has(link)) this.#tell({ op: 'signal', link, frame });
  }

  async #introduce(link: number, version: 1 | 0, query: string): Promise<void> {
    const token = await this.options.rotatedToken();
    this.#tell({ op: 'connect', link, version, query, token });
  }

  async play(utterance: number, samples: Int16Array): Promise<void> {
    const given = this.#given.get(utterance) ?? { ms: 0, played: 0 };
    this.#given.set(utterance, given);
    given.ms += milliseconds(samples.length);
    this.#tell({ op: 'play', utterance, pcm: bytesOf(samples) });
    while (!this.#over && this.#given.get(utterance) === given && given.ms - given.played > AHEAD_MS)
      await new Promise<void>((resolve) => this.#room.push(resolve));
  }

  finish(utterance: number): void {
    this.#tell({ op: 'finish', utterance });
  }

  pause(): void {
    this.#tell({ op: 'pause' });
  }

  resume(): void {
    this.#tell({ op: 'resume' });
  }

  clear(): void {
    this.#given.clear();
    this.#wake();
    this.#tell({ op: 'clear' });
  }

  send(topic: string, payload: Uint8Array): void {
    this.#tell({ op: 'data', topic, payload });
  }

  show(text: TranscriptText): void {
    this.#tell({ op: 'show', ...text });
  }

  attributes(values: Readonly<Record<string, string>>): void {
    this.#tell({ op: 'attributes', values });
  }

  end(): void {
    if (this.#over) return;
    this.#tell({ op: 'end' });
    this.#commands.end();
    const timer = setTimeout(() => this.#abort.abort(), LET_GO_MS);
    this.#stopWaiting = () => clearTimeout(timer);
  }

  #tell(command: Command): void {
    if (this.#over) return;
    this.#commands.push(command);
    const { length, bytes } = this.#commands;
    if (length > MOST_WAITING || bytes > MOST_WAITING_BYTES)
      this.#abort.abort(new ServiceError('engine_lost'));
  }

  async *#follow(reports: AsyncIterable<unknown>): AsyncGenerator<CallEvent> {
    try {
      for await (const report of reports) {
        const event = this.#eventOf(report as Report);
        if (event) yield event;
      }
    } finally {
      this.#finish();
    }
  }

  #eventOf(report: Report): CallEvent | undefined {
    switch (report.on) {
      case 'signal':
        this.#links.get(report.link)?.send(report.frame);
        return undefined;
      case 'close':
        this.#links.get(report.link)?.close();
        return undefined;
      case 'recording':
        this.recorded(this.options.sessionId, new Date(report.at));
        return undefined;
      case 'audio':
        return { kind: 'audio', samples: samplesOf(report.pcm), at: report.at };
      case 'played':
        this.#note(report);
        return { kind: 'played', utterance: report.utterance, ms: report.ms, ended: report.ended };
      case 'speech':
        return { kind: 'speech', active: report.active, at: report.at };
      case 'data':
        return { kind: 'data', topic: report.topic, payload: report.payload };
      case 'connected':
      case 'disconnected':
      case 'left':
        return { kind: report.on };
    }
  }

  #note({ utterance, ms, ended }: Extract<Report, { readonly on: 'played' }>): void {
    const given = this.#given.get(utterance);
    if (given) given.played = ms;
    if (ended) this.#given.delete(utterance);
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#room.splice(0)) resolve();
  }

  #finish(): void {
    this.#over = true;
    this.#stopWaiting();
    this.#commands.end();
    this.#wake();
    for (const link of this.#links.values()) link.close();
    this.#links.clear();
  }
}

/**
 * `media`: the pool of media workers; a call stays on the worker that it began on. `recorded` hears of the calls that
 * are kept.
 */
export const createEmbeddedCalls = (media: JobRunner, recorded: RecordingBegan): Calls => ({
  open: (options, signal) => new EmbeddedCall(media, options, recorded, signal),
});
