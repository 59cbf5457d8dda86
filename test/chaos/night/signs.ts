/** What an incident promises (ops/monitoring/incidents.mjs), looked for in a recording. */
import type { Incident } from '../../fixtures/ops/monitoring.js';
import { beganAfter, endedAfter, type Judged, type Sign, SIGNS, type Times } from './judge.js';
import { alertOf, truthOf } from './promtool.js';
import type { HealthBody, Recorder, Second } from './recorder.js';

const MS = 1000;
/** Seconds by which what a scrape finds may be later than its beginning. */
const SLOW_SCRAPE = 1;

const escaped = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');

/** `…` in a line stands for anything. */
export const patternOf = (line: string): RegExp => new RegExp(`^${line.split('…').map(escaped).join('.*')}`);

interface PartEntry {
  readonly part: string;
  readonly name: string;
  readonly status: string;
}

/**
 * Whether `/health` says it, in the words of the table: `no answer`, `status: draining`, `checks.storage`, `parts.model`, or of one of several
 * `parts.model.fallback`. Undefined body: there was no answer.
 */
export function saysHealth(words: string, body: HealthBody | undefined): boolean {
  if (words === 'no answer') return body === undefined;
  if (!body) return false;
  const [, place, name = '', which] = /^(status|parts|checks)(?:: |\.)(\w+)(?:\.(.+))?$/.exec(words) ?? [];
  if (place === 'status') return body['status'] === name;
  if (place === 'checks') return (body['checks'] as Record<string, boolean> | undefined)?.[name] === false;
  const parts = (body['parts'] ?? []) as readonly PartEntry[];
  return parts.some(
    (each) => each.part === name && each.status === 'failing' && (which ?? each.name) === each.name,
  );
}

/** The incident of that one of several parts of a kind alone. */
export const ofOne = (incident: Incident, name: string): Incident => ({
  ...incident,
  log: incident.log.replace('(…)', `(${name})`),
  back: incident.back.replace('(…)', `(${name})`),
  metric: incident.metric.replace('"}', `", name="${name}"}`),
  alert: incident.alert === '' ? '' : alertOf(incident.alert, name),
  health: incident.health === '' ? '' : `${incident.health}.${name}`,
});

/** What is promised of an incident: what its row leaves out is not. */
export const promisedBy = (incident: Incident): readonly Sign[] =>
  SIGNS.filter((sign) => incident[sign] !== '');

/** A figure over a window of time, and an alert, end when that has passed; their tests are in ops/monitoring. */
const endingIn = ({ metric, back, health }: Incident): readonly Sign[] => [
  ...(back === '' ? [] : (['log'] as const)),
  ...(metric === '' || /\[\d/.test(metric) ? [] : (['metric'] as const)),
  ...(health === '' ? [] : (['health'] as const)),
];

/** What was awaited of the signs that did not come, in the words of the table: a line for each. */
export function awaited(incident: Incident, { promised, ending, told, over }: Judged): readonly string[] {
  const absent = promised.filter((sign) => told[sign] === undefined);
  const isNotBack = told.log !== undefined && ending.includes('log') && over.log === undefined;
  return [
    ...absent.map((sign) => `awaited (${sign}): ${incident[sign]}`),
    ...(isNotBack ? [`awaited (log): ${incident.back}`] : []),
  ];
}

/** Moments of a fault, in seconds of the recording. */
export interface Moments {
  /** The recording is looked at from here on. */
  readonly from: number;
  readonly made: number;
  /** Absent: not mended yet. */
  readonly mended?: number;
}

const secondsIn = (seconds: readonly (Second | undefined)[], words: string): readonly number[] =>
  seconds.flatMap((second, at) => (second && saysHealth(words, second.health) ? [at] : []));

function linesOf(
  { log, back }: Incident,
  recorder: Recorder,
  { made, mended }: Moments,
): { told: Times; over: Times } {
  const after = (line: string, second: number): Times => {
    const found = recorder.line(patternOf(line), recorder.timeOf(second));
    return found ? { log: Math.max(0, (found.time - recorder.timeOf(second)) / MS) } : {};
  };
  return {
    told: log === '' ? {} : after(log, made),
    over: back === '' || mended === undefined ? {} : after(back, mended),
  };
}

/** What was seen until now of an incident. */
export async function judged(incident: Incident, recorder: Recorder, moments: Moments): Promise<Judged> {
  const { from, made, mended } = moments;
  const seconds = recorder.since(from);
  const { alert, metric, health } = incident;
  const truth = await truthOf(
    seconds.map((second) => second?.scrape),
    alert === '' ? [] : [alert],
    metric === '' ? [] : [metric],
  );
  const at: Readonly<Record<Exclude<Sign, 'log'>, readonly number[]>> = {
    metric: truth.get(metric) ?? [],
    alert: truth.get(alert) ?? [],
    health: health === '' ? [] : secondsIn(seconds, health),
  };
  const promised = promisedBy(incident);
  const told: Partial<Record<Sign, number>> = {};
  const over: Partial<Record<Sign, number>> = {};
  for (const [sign, true_] of Object.entries(at) as [Exclude<Sign, 'log'>, readonly number[]][]) {
    const began = beganAfter({ at: true_, from: made - from, to: seconds.length });
    if (began !== undefined) told[sign] = began;
    const ended =
      mended === undefined ? undefined : endedAfter({ at: true_, from: mended - from, to: seconds.length });
    if (ended !== undefined) over[sign] = ended;
  }
  const lines = linesOf(incident, recorder, moments);
  return {
    promised,
    ending: endingIn(incident),
    early: promised.filter(
      (sign) => sign !== 'log' && at[sign].some((second) => second < made - from - SLOW_SCRAPE),
    ),
    told: { ...told, ...lines.told },
    over: { ...over, ...lines.over },
  };
}
