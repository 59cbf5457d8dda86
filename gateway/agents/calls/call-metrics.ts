/** Metrics of the calls of this process on `/metrics`: how many there are, how they ended, how well agents were heard. */
import type { CallObserver, FrameCounts } from '../../../contracts/ports/calls/calls.js';
import type { EndedReason } from '../../../contracts/ports/sessions/sessions.js';
import { LATENCY_PARTS, type Turn } from '../../../contracts/sessions/turns.js';
import type { Metrics } from '../../server/system/metrics.js';

type Counts = Record<string, number>;

const rowsBy = (label: string, counts: Counts) => () =>
  Object.entries(counts).map(([name, value]) => ({ labels: { [label]: name }, value }));

type Observe = ReturnType<Metrics['histogram']>;

interface Observers {
  readonly latency: Observe;
  readonly part: Observe;
  readonly bargeIn: Observe;
}

const NOTHING: Observe = () => undefined;
const UNOBSERVED: Observers = { latency: NOTHING, part: NOTHING, bargeIn: NOTHING };

export class CallMetrics implements CallObserver {
  #now = 0;
  readonly #ends: Counts = {};
  readonly #frames = { sent: 0, late: 0, lost: 0 };
  readonly #interruptions: Counts = {};
  #falseInterruptions = 0;
  readonly #drafts = { used: 0, dropped: 0 };
  #observe: Observers = UNOBSERVED;

  /** `heard`: live counts of the requests to the end-of-turn model, by result. */
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

  /** A call that had started has ended. */
  ended(reason: EndedReason): void {
    this.#now -= 1;
    this.#ends[reason] = (this.#ends[reason] ?? 0) + 1;
  }

  /** A turn has ended. Only answers to the user have a latency: nobody waits for what the agent says unasked. */
  turn({ cause, playedMs, parts, interrupted, resumed, drafted, draftsDiscarded }: Turn): void {
    this.#drafts.used += drafted ? 1 : 0;
    this.#drafts.dropped += draftsDiscarded;
    if (playedMs !== null && (cause === 'turn' || cause === 'typed')) {
      this.#observe.latency(playedMs / 1000);
      for (const part of LATENCY_PARTS) this.#observe.part((parts?.[part] ?? 0) / 1000, { part });
    }
    this.#falseInterruptions += resumed + (cause === 'continue' ? 1 : 0);
    if (!interrupted) return;
    this.#interruptions[interrupted.by] = (this.#interruptions[interrupted.by] ?? 0) + 1;
    if (interrupted.silenceMs !== null) this.#observe.bargeIn(interrupted.silenceMs / 1000);
  }

  addTo(metrics: Metrics): void {
    const latency = metrics.histogram(
      'turn_seconds',
      'Time from the end of a user’s turn to the first audio of its answer',
    );
    this.#observe = {
      latency(seconds) {
        latency(seconds);
        metrics.history.turn(seconds);
      },
      part: metrics.histogram('turn_part_seconds', 'The parts of that time, which add up to it', ['part']),
      bargeIn: metrics.histogram(
        'barge_in_seconds',
        'Time from the voice that interrupts an agent to its silence',
      ),
    };
    const causes = 'Answers that were broken off, by cause';
    metrics.counter('interruptions', causes, rowsBy('by', this.#interruptions), ['by']);
    const mistaken = 'Times that an agent paused for a sound that was no interruption, and went on';
    metrics.counter('false_interruptions', mistaken, () => this.#falseInterruptions);
    const drafts = 'Drafts of answers that agents asked the model for, by what came of them: used, dropped';
    metrics.counter('drafts', drafts, rowsBy('outcome', this.#drafts), ['outcome']);
    metrics.gauge('calls', 'Calls in progress whose user has connected', () => this.#now);
    metrics.counter('calls_ended', 'Calls that have ended, by reason', rowsBy('reason', this.#ends), [
      'reason',
    ]);
    const help = 'Audio frames of 20 ms of agents, in calls that have ended: sent, of them late; lost';
    metrics.counter('call_frames', help, rowsBy('kind', this.#frames), ['kind']);
    const answers = 'Requests to the end-of-turn model, by result';
    metrics.counter('turn_model_answers', answers, rowsBy('result', this.heard), ['result']);
  }
}
