/**
 * How much of the agent's speech was heard, by the provider's marks. A provider plays audio at its own pace, so having
 * sent it says little: a mark follows each report of the playout, and the report is passed on once the mark returns.
 *
 * Invariants: every utterance ends once; dropped speech counts up to its last mark that returned before, although a
 * provider returns the other marks as well when it drops audio; a provider that returns no marks is assumed to play
 * everything that it is sent.
 */
import type { PlayedReport } from '../wire.js';

/** Longest wait for a mark in beats of 20 ms: the audio before it, and the network. */
const PATIENCE = 150;

interface Awaited {
  readonly mark: number;
  readonly reports: readonly PlayedReport[];
  /** The beat in which it was sent. */
  readonly since: number;
}

export class Marks {
  /** Reports since the last mark. */
  #left: PlayedReport[] = [];
  #awaited: Awaited[] = [];
  #mark = 0;
  #beat = 0;
  /** Whether reports of this beat are of dropped speech. */
  #dropping = false;
  /** Whether this provider returns no marks. */
  #silent = false;
  /** Milliseconds of each utterance that were heard. */
  readonly #heard = new Map<number, number>();

  constructor(
    private readonly send: (mark: number) => void,
    private readonly report: (played: PlayedReport) => void,
    /** Beats after which a provider without marks has played audio that was sent; undefined for providers with marks. */
    private readonly playedIn?: number,
  ) {}

  /** Takes a report of the playout: speech that was sent, or cleared before it could be. */
  left(played: PlayedReport): void {
    if (this.#dropping) this.#drop(played);
    else if (this.#silent) this.#confirm(played);
    else this.#left.push(played);
  }

  /** Called every 20 ms, after the frames of the beat were sent. `hasLeft`: none of them waits to fill a piece. */
  beat(hasLeft = true): void {
    this.#beat += 1;
    this.#dropping = false;
    if (hasLeft) this.#ask();
    const [oldest] = this.#awaited;
    if (!oldest || this.#beat - oldest.since < (this.playedIn ?? PATIENCE)) return;
    if (this.playedIn !== undefined) return this.came(oldest.mark);
    this.#silent = true;
    for (const { reports } of this.#awaited.splice(0)) reports.forEach((played) => this.#confirm(played));
  }

  #ask(): void {
    if (this.#left.length === 0) return;
    this.#mark += 1;
    this.#awaited.push({ mark: this.#mark, reports: this.#left, since: this.#beat });
    this.#left = [];
    this.send(this.#mark);
  }

  /** Everything before that mark was heard. An unexpected mark is ignored. */
  came(mark: number): void {
    const place = this.#awaited.findIndex((awaited) => awaited.mark === mark);
    for (const { reports } of this.#awaited.splice(0, place + 1))
      reports.forEach((played) => this.#confirm(played));
  }

  /** The provider drops its audio; the playout's reports of its own drop follow at once. */
  dropped(): void {
    this.#dropping = true;
    const lost = [...this.#awaited.splice(0).flatMap(({ reports }) => reports), ...this.#left.splice(0)];
    for (const played of lost) if (played.ended) this.#drop(played);
  }

  #drop(played: PlayedReport): void {
    this.#confirm({ ...played, ms: this.#heard.get(played.utterance) ?? 0 });
  }

  #confirm(played: PlayedReport): void {
    if (played.ended) this.#heard.delete(played.utterance);
    else this.#heard.set(played.utterance, played.ms);
    this.report(played);
  }
}
