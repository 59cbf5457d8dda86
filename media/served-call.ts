/**
 * The worker's side of calls over any carrier, one job per call. Joins the user's audio, VAD, playout and
 * recording; the job ends when the gateway ends the call or disconnects, or the carrier loses it.
 *
 * Invariants: reports are in order, and bounded if the user decides their amount; a closed call
 * leaves nothing running.
 */
import { join } from 'node:path';
import { pieceOf } from '../contracts/ports/accounts/memory.js';
import type { Clock } from '../contracts/clock.js';
import type { JobContext, JobValue } from '../contracts/ports/jobs.js';
import type { FrameCounts, TranscriptText } from '../contracts/ports/calls/calls.js';
import { VadWindows, type VoiceDetector } from './vad-windows.js';
import type { Beat, Pacer } from './pacer.js';
import { Playout } from './playout.js';
import { AsyncQueue } from './async-queue.js';
import { Recorder } from './recorder.js';
import type { CallArgs, CallCommand, PlayedReport, Report } from './wire.js';

/** Most bytes of a user's messages that wait for the gateway; more are dropped. */
const MOST_DATA_BYTES = 1024 * 1024;

export interface ServedParts {
  readonly pacer: Pacer;
  readonly clock: Clock;
  /** The Opus encoder's complexity, 0 to 10. */
  readonly complexity: number;
  /** The folder of recordings, with one folder per session. */
  readonly recordings: string;
  /** Makes the detector of one call. */
  detector(): VoiceDetector;
}

/** The call, as its carrier sees it. */
export interface CallHost<OwnReport> {
  /** A report about the user: `connected` and `disconnected` alternate. Nothing is reported once the call is closed. */
  report(report: Report | OwnReport): void;
  /** The user's audio, 16 kHz, without gaps. `watched`: audio of the same length for voice detection, if different. */
  samples(samples: Int16Array, watched?: Int16Array): void;
  /** Whether voice is heard, of the user or in the background. */
  isVoiced(): boolean;
  /** The recorder, once recording has started. */
  recorder(): Recorder | undefined;
  /** The agent's voice, in frames. */
  readonly playout: Playout;
  /** Bytes of the user's messages that wait for the gateway. */
  waitingBytes(): number;
  /** The carrier has lost the call. */
  over(): void;
  /** An error that ends the call. */
  failed(error: unknown): void;
}

/** Connects one call to its user. */
export interface Carrier<OwnCommand> {
  /**
   * Called every 20 ms, whether the user is connected or not; `passed`: beats since the last call, more than 1 if some
   * were skipped. True if a frame of the agent was sent.
   */
  beat(connected: boolean, passed: number): boolean;
  message(topic: string, payload: Uint8Array): void;
  show(text: TranscriptText): void;
  attributes(values: Readonly<Record<string, string>>): void;
  /** Discards speech that has left the playout but was not heard yet, if the carrier buffers any. */
  clearAudio?(): void;
  /** This much of an utterance has left the playout; a carrier that knows when it is heard reports it then. */
  played?(played: PlayedReport): void;
  /** Takes a command that only this kind of carrier has. */
  take(command: OwnCommand): void;
  /** Disconnects from the user. Called once. */
  close(): void;
}

type Handlers = {
  readonly [Op in CallCommand['op']]: (command: Extract<CallCommand, { readonly op: Op }>) => void;
};

/** Bytes of a report that passes on what the user has sent. */
const bytesSent = (report: object): number =>
  'payload' in report && report.payload instanceof Uint8Array ? pieceOf(report.payload.length) : 0;

export class ServedCall<
  OwnCommand extends { readonly op: string },
  OwnReport extends { readonly on: string },
> {
  readonly reports = new AsyncQueue<Report | OwnReport>(bytesSent);
  readonly #carrier: Carrier<OwnCommand>;
  readonly #windows: VadWindows;
  readonly #playout: Playout;
  readonly #leavePacer: () => void;
  #recorder: Recorder | undefined;
  #connected = false;
  #closed = false;
  #lost = false;
  #failure: unknown;
  readonly #frames = { sent: 0, late: 0, lost: 0 } satisfies FrameCounts;

  constructor(
    private readonly args: CallArgs,
    private readonly parts: ServedParts,
    carry: (call: CallHost<OwnReport>) => Carrier<OwnCommand>,
  ) {
    this.#playout = new Playout((utterance, ms, ended) => {
      const played = { on: 'played', utterance, ms, ended } as const;
      if (this.#carrier.played) this.#carrier.played(played);
      else this.reports.push(played);
    });
    this.#windows = new VadWindows(
      parts.detector(),
      (report) => this.reports.push(report),
      () => !this.#playout.isBusy,
    );
    this.#carrier = carry({
      report: (report) => this.#note(report),
      samples: (...heard) => this.#receive(...heard),
      isVoiced: () => this.#windows.isVoiced,
      recorder: () => this.#recorder,
      playout: this.#playout,
      waitingBytes: () => this.reports.bytes,
      over: () => {
        this.#lost = true;
        this.close();
      },
      failed: (error) => this.#fail(error),
    });
    this.#leavePacer = parts.pacer.join(
      (beat) => this.#beat(beat),
      (error) => this.#fail(error),
    );
  }

  /** Whether the carrier has lost the call: commands may still come, and are ignored. */
  get lost(): boolean {
    return this.#lost;
  }

  /** The error that ended it, if any. */
  get failure(): unknown {
    return this.#failure;
  }

  /** Runs in callbacks of native libraries, where an uncaught error ends the worker. */
  #receive(samples: Int16Array, watched?: Int16Array): void {
    try {
      if (!this.#closed) this.#windows.push(samples, watched);
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    this.close();
  }

  #note(report: Report | OwnReport): void {
    if (report.on === 'connected') this.#begin();
    if (report.on === 'disconnected') this.#connected = false;
    if (report.on !== 'data' || this.reports.bytes < MOST_DATA_BYTES) this.reports.push(report);
  }

  #begin(): void {
    this.#connected = true;
    const { sessionId, record, part } = this.args;
    if (!record || this.#recorder) return;
    this.#recorder = new Recorder(join(this.parts.recordings, sessionId), part ?? 1, (role, reason) =>
      console.error(`the recording of a call's ${role} ends early: ${reason}`),
    );
    this.reports.push({ on: 'recording', at: Date.now() });
  }

  #beat({ late, skipped }: Beat): void {
    this.#recorder?.beat();
    if (!this.#carrier.beat(this.#connected, 1 + skipped)) return;
    this.#frames.sent += 1;
    if (late) this.#frames.late += 1;
    this.#frames.lost += skipped;
  }

  take(command: CallCommand | OwnCommand): void {
    if (this.#closed) return;
    if (!Object.hasOwn(this.#commands, command.op)) return this.#carrier.take(command as OwnCommand);
    const common = command as CallCommand;
    (this.#commands[common.op] as (command: CallCommand) => void)(common);
  }

  readonly #commands: Handlers = {
    play: ({ utterance, pcm }) => this.#playout.play(utterance, pcm),
    finish: ({ utterance }) => this.#playout.finish(utterance),
    pause: () => this.#playout.pause(),
    resume: () => this.#playout.resume(),
    clear: () => {
      this.#carrier.clearAudio?.();
      this.#playout.clear();
    },
    data: ({ topic, payload }) => this.#carrier.message(topic, payload),
    show: (command) => this.#carrier.show(command),
    attributes: ({ values }) => this.#carrier.attributes(values),
    end: () => this.close(),
  };

  /** Idempotent. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#leavePacer();
    this.#carrier.close();
    this.#windows.stop();
    this.reports.push({ on: 'frames', ...this.#frames });
    this.reports.end();
  }

  /** Resolves when the recording of a closed call is written. */
  async kept(): Promise<void> {
    await this.#recorder?.finish();
  }
}

/** Passes the commands to the call; their end ends it. */
async function follow<C extends { readonly op: string }, R extends { readonly on: string }>(
  commands: AsyncIterable<JobValue>,
  call: ServedCall<C, R>,
): Promise<void> {
  try {
    for await (const command of commands) call.take(command as C);
  } finally {
    call.close();
  }
}

/**
 * The job of a call: yields its reports, until it is closed and its recording is written. Those of one beat are one message, and so are
 * those that came while the last one was sent: messages between processes cost more than what is in them.
 */
export async function* serve<C extends { readonly op: string }, R extends { readonly on: string }>(
  call: ServedCall<C, R>,
  commands: AsyncIterable<JobValue>,
  { signal }: JobContext,
): AsyncGenerator<readonly (Report | R)[]> {
  const stop = (): void => call.close();
  signal.addEventListener('abort', stop, { once: true });
  const following = follow(commands, call);
  following.catch(() => undefined);
  try {
    for await (const report of call.reports) yield [report, ...call.reports.rest()];
    if (call.failure !== undefined) throw call.failure as Error;
    if (!call.lost) await following;
  } finally {
    signal.removeEventListener('abort', stop);
    call.close();
    await call.kept();
  }
}
