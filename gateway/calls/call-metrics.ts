/** What `/metrics` tells of the calls of this process: how many there are, how they ended, how well agents were heard. */
import type { CallObserver, FrameCounts } from '../../contracts/ports/calls.js';
import type { EndedReason } from '../../contracts/ports/sessions.js';
import type { Metrics } from '../server/metrics.js';

type Counts = Record<string, number>;

const rowsBy = (label: string, counts: Counts) => () =>
  Object.entries(counts).map(([name, value]) => ({ labels: { [label]: name }, value }));

export class CallMetrics implements CallObserver {
  #now = 0;
  readonly #ends: Counts = {};
  readonly #frames = { sent: 0, late: 0, lost: 0 };

  /** `heard`: how often the model of ends of turns was asked, by what came of it; it counts on. */
  constructor(
    readonly recorded: CallObserver['recorded'],
    private readonly heard: Counts = {},
  ) {}

  readonly counted = ({ sent, late, lost }: FrameCounts): void => {
    this.#frames.sent += sent;
    this.#frames.late += late;
    this.#frames.lost += lost;
  };

  /** A user is connected for the first time. */
  started(): void {
    this.#now += 1;
  }

  /** A call that has started is over. */
  ended(reason: EndedReason): void {
    this.#now -= 1;
    this.#ends[reason] = (this.#ends[reason] ?? 0) + 1;
  }

  addTo(metrics: Metrics): void {
    metrics.gauge('calls', 'Calls that go on: their user has been connected', () => this.#now);
    metrics.counter('calls_ended', 'Calls that have ended, by reason', rowsBy('reason', this.#ends), [
      'reason',
    ]);
    const help = 'Audio frames of 20 ms of agents, in calls that have ended: sent, of them late; lost';
    metrics.counter('call_frames', help, rowsBy('kind', this.#frames), ['kind']);
    const answers = 'Times that the model of ends of turns was asked, by what came of it';
    metrics.counter('turn_model_answers', answers, rowsBy('result', this.heard), ['result']);
  }
}
