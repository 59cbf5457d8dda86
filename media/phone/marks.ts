/**
 * How much of the agent's speech was heard, as the provider tells it. A provider plays what it is sent at its own pace, so
 * what has left says little: a mark goes behind each report of the playout, and the report is made once it comes back.
 *
 * Invariants: every utterance ends once; what was dropped counts as far as its last mark that came back, though a
 * provider sends the others back as well when it drops sound; a provider that sends none back is believed to play what it
 * is sent.
 */
import type { PlayedReport } from '../wire.js';

/** Beats of 20 ms that a mark may be on its way: the sound before it, and the network. */
const PATIENCE = 150;

interface Awaited {
  readonly mark: number;
  readonly reports: readonly PlayedReport[];
  /** The beat in which it was sent. */
  readonly since: number;
}

export class Marks {
  /** What has left since the last mark. */
  #left: PlayedReport[] = [];
  #awaited: Awaited[] = [];
  #mark = 0;
  #beat = 0;
  /** What was dropped is being told of. */
  #dropping = false;
  /** Nothing comes back from this provider. */
  #silent = false;
  /** Milliseconds of each utterance that were heard. */
  readonly #heard = new Map<number, number>();

  constructor(
    private readonly send: (mark: number) => void,
    private readonly report: (played: PlayedReport) => void,
    /** Beats after which a provider that gives no marks back has played what it was sent; undefined for others. */
    private readonly playedIn?: number,
  ) {}

  /** So much has left, or was taken out before it could. */
  left(played: PlayedReport): void {
    if (this.#dropping) this.#drop(played);
    else if (this.#silent) this.#confirm(played);
    else this.#left.push(played);
  }

  /** Every 20 ms, behind what was sent in them. `hasLeft`: none of it waits for more to leave with. */
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

  /** Everything before that mark was heard. One that nobody waits for says nothing. */
  came(mark: number): void {
    const place = this.#awaited.findIndex((awaited) => awaited.mark === mark);
    for (const { reports } of this.#awaited.splice(0, place + 1))
      reports.forEach((played) => this.#confirm(played));
  }

  /** The provider drops what it has; what the playout drops follows at once. */
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
