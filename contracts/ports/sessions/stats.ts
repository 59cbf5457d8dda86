/** Figures of ended calls over time, for their workspace. */
import type { EndedReason } from './sessions.js';
import type { Step } from '../../time/steps.js';
import type { CallGroup, CallKind } from '../../sessions/call-figures.js';

/** Lengths of the spans that figures are given for. */
export const STATS_STEPS = ['hour', 'day', 'week'] as const satisfies readonly Step[];

export interface StatsFilter {
  /** The beginning of a step. */
  readonly from: Date;
  /** Excluded. */
  readonly to: Date;
  readonly step: Step;
  readonly agentId?: string;
  /** 0: previews of drafts. */
  readonly version?: number;
  /** Absent: all but `dashboard`. */
  readonly kind?: CallKind;
}

export interface CallStats {
  /** Sums of the calls that ended then, by step, reason and currency, oldest first. */
  groups(workspaceId: string, filter: StatsFilter): Promise<readonly CallGroup[]>;
}

/** Sums over some ended calls. A call is a session in which somebody was connected. */
export interface CallFigures {
  readonly calls: number;
  readonly completed: number;
  /** Calls that failed, by reason, the most frequent first. */
  readonly failures: readonly { readonly reason: EndedReason; readonly calls: number }[];
  /** Sessions that ended before anybody was connected. */
  readonly notJoined: number;
  readonly answers: number;
  readonly failedAnswers: number;
  /** From the end of a user's turn to the agent's voice, in ms; null if there was none. */
  readonly p50Ms: number | null;
  readonly p90Ms: number | null;
  readonly tools: number;
  readonly failedTools: number;
  readonly wordsUser: number;
  readonly wordsAgent: number;
  readonly callMs: number;
  /** One for each currency; none without prices. */
  readonly costs: readonly { readonly currency: string; readonly amount: number }[];
}

export interface StatsReport {
  readonly total: CallFigures;
  /** One for each step from `from` to `to`, oldest first, also without calls. */
  readonly points: readonly (CallFigures & { readonly at: Date })[];
}

/** The same, summed up for people and charts. */
export interface StatsReports {
  read(workspaceId: string, filter: StatsFilter): Promise<StatsReport>;
}
