/** Figures of calls as the gateway sends them (docs/contract/platform.md 6.17), and the ranges that the view offers. */
import { ask } from '../../api.js';

export interface Figures {
  readonly calls: number;
  readonly completed: number;
  readonly failed: number;
  readonly success: number | null;
  readonly failures: readonly { readonly reason: string; readonly calls: number }[];
  readonly not_joined: number;
  readonly answers: number;
  readonly failed_answers: number;
  readonly latency: { readonly p50_ms: number | null; readonly p90_ms: number | null };
  readonly tool_calls: number;
  readonly failed_tool_calls: number;
  readonly words_user: number;
  readonly words_agent: number;
  readonly minutes: number;
  readonly costs?: readonly { readonly currency: string; readonly amount: number }[];
}

export interface Stats {
  readonly step: string;
  readonly total: Figures;
  readonly points: readonly (Figures & { readonly at: string })[];
}

/** The steps of the ranges, which the gateway's own spans belong to. */
export const RANGES = { hours: 'hour', days: 'day', weeks: 'week' } as const;
export type Range = keyof typeof RANGES;

export const isRange = (name: string | null): name is Range => name !== null && Object.hasOwn(RANGES, name);

export interface Wanted {
  readonly range: Range;
  readonly agent: string;
  readonly version: string;
  readonly kind: string;
}

export function readStats({ range, agent, version, kind }: Wanted, signal: AbortSignal): Promise<Stats> {
  const asked = new URLSearchParams({ step: RANGES[range] });
  for (const [name, value] of Object.entries({ agent_id: agent, version, kind }))
    if (value) asked.set(name, value);
  return ask<Stats>(`v1/agent/stats?${asked.toString()}`, { signal });
}

const DAY = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });
const HOUR = new Intl.DateTimeFormat(undefined, {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
});

/** Days and weeks are those of UTC, as the gateway counts them; hours are shown as the clock on the wall has them. */
export const momentName = (at: string, range: Range): string =>
  range === 'hours' ? HOUR.format(new Date(at)) : DAY.format(new Date(at));
