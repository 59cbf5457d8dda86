/**
 * Decides from a connection's frames that the process behind it is frozen: it answers a ping each second, and `silenceMs`
 * without a frame are too many; `announcedMs` while it does long work that it announced (processes/child/announce.ts).
 * Pure: times are arguments.
 *
 * Only time counts in which the process could have answered and this one listened. Between two looks pass at most two of
 * their intervals, so that a watcher which slept, or a machine which was suspended, finds nobody frozen. Time that the
 * process, or a thread of it, waited for a processor or a disk does not count either, up to `announcedMs` in all: healthy
 * processes wait long on a machine with too much to do. An announcement by a process that is stopped (SIGSTOP) is void.
 */
import type { ProcessState } from '../process-table.js';

export interface SilenceTimes {
  /** Interval of pings. */
  readonly everyMs: number;
  /** Silence of a frozen process. */
  readonly silenceMs: number;
  /** Silence of a process that is frozen in work that it announced, or for which there is always another reason. */
  readonly announcedMs: number;
}

/** Of every child: it is lost, and replaced, 5.0 to 5.5 s after its last sign of life. */
export const CHILD_SILENCE: SilenceTimes = { everyMs: 1000, silenceMs: 5000, announcedMs: 60_000 };

/** Looks in each interval of pings. */
const LOOKS = 4;
/** Pings without an answer after which work goes to others first. */
const DOUBTFUL_PINGS = 2;

/** Two watchers of one process see it freeze up to so many pings apart. */
const APART_PINGS = 1.5;

export const lookEveryMs = ({ everyMs }: SilenceTimes): number => everyMs / LOOKS;

/** What is known at a look. */
export interface SilenceCheck {
  /** Monotonic time. */
  readonly now: number;
  /** Grows with each sign of life. */
  readonly heard: number;
  /** Whether it has announced long work. */
  readonly announced: boolean;
  /** How it rests now; asked only of a silent process. */
  rest(): ProcessState | undefined;
}

export class SilenceWatch {
  readonly #times: SilenceTimes;
  #looked: number | undefined;
  #heard = -1;
  /** Silence in all, and the part of it that counts. */
  #silentMs = 0;
  #countedMs = 0;
  #waitedMs: number | undefined;
  /** How much of the silence that counts is too much, at the last look. */
  #patienceMs: number;

  constructor(times: SilenceTimes) {
    this.#times = times;
    this.#patienceMs = times.silenceMs;
  }

  /** Whether it leaves pings unanswered, for whatever reason. */
  get isDoubtful(): boolean {
    return this.#silentMs > DOUBTFUL_PINGS * this.#times.everyMs;
  }

  /** Whether another watcher may take it for frozen by now. */
  get isNearlyFrozen(): boolean {
    const { everyMs, announcedMs } = this.#times;
    const apartMs = APART_PINGS * everyMs;
    return this.#countedMs >= this.#patienceMs - apartMs || this.#silentMs >= announcedMs - apartMs;
  }

  /** Looks once per `lookEveryMs`; true if the process is frozen. */
  look({ now, heard, announced, rest }: SilenceCheck): boolean {
    const elapsed = this.#elapsed(now);
    if (heard !== this.#heard) return this.#alive(heard);
    this.#silentMs += elapsed;
    const { silenceMs, announcedMs, everyMs } = this.#times;
    const resting = this.#silentMs >= everyMs ? rest() : undefined;
    this.#countedMs += Math.max(0, elapsed - this.#excused(elapsed, resting));
    this.#patienceMs = announced && resting?.state !== 'stopped' ? announcedMs : silenceMs;
    return this.#countedMs >= this.#patienceMs || this.#silentMs >= announcedMs;
  }

  #elapsed(now: number): number {
    const elapsed = now - (this.#looked ?? now);
    this.#looked = now;
    return Math.min(elapsed, 2 * lookEveryMs(this.#times));
  }

  #alive(heard: number): false {
    this.#heard = heard;
    this.#silentMs = 0;
    this.#countedMs = 0;
    this.#waitedMs = undefined;
    return false;
  }

  /** How long of the time since the last look it waited for a disk or a processor. */
  #excused(elapsed: number, resting: ProcessState | undefined): number {
    if (resting === undefined) return 0;
    // Less than before if a thread has ended.
    const waited = Math.max(0, resting.waitedMs - (this.#waitedMs ?? resting.waitedMs));
    this.#waitedMs = resting.waitedMs;
    return resting.state === 'disk' ? elapsed : waited;
  }
}
