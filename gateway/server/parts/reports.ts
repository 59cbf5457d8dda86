/** What `/health` says of the operator's parts, from the reports of all gateway processes of the machine. */
import type { PartOutcome } from '../../../contracts/ports/parts.js';
import type { PartReport } from './part-state.js';
import { mendedBy, sentenceOf } from './sentences.js';

/** One part in `/health`. */
export interface PartEntry {
  readonly part: string;
  readonly name: string;
  /** `unknown`: it was not asked yet. */
  readonly status: PartReport['status'];
  /** ISO 8601: since when that is so. */
  readonly since: string;
  /** The kind of the last failure, and when it was. */
  readonly last_error: PartOutcome | null;
  readonly last_error_at: string | null;
  /** For those who may know the machine; the last two only while it fails. */
  readonly address?: string;
  readonly setting?: string;
  readonly message?: string;
}

const keyOf = ({ part: { kind, name, address = '' } }: PartReport): string =>
  [kind, name, address].join('\n');

/** Failing is worse than working, and both say more than nothing. */
const WEIGHT: Readonly<Record<PartReport['status'], number>> = { failing: 2, ok: 1, unknown: 0 };

const later = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || other === undefined ? (one ?? other) : Math.max(one, other);

/** The worse of two reports of one part; the same of both has the earlier beginning, and the later error. */
function worse(one: PartReport, other: PartReport): PartReport {
  const [first, second] = WEIGHT[other.status] > WEIGHT[one.status] ? [other, one] : [one, other];
  const last = (second.failedAt ?? -Infinity) > (first.failedAt ?? -Infinity) ? second : first;
  const since = first.status === second.status ? Math.min(first.since, second.since) : first.since;
  const times = { failedAt: last.failedAt, workedAt: later(one.workedAt, other.workedAt) };
  return { ...first, since, error: last.error, ...times };
}

/** One report for each part, in the order of the first process. */
export function mergedReports(processes: readonly (readonly PartReport[])[]): readonly PartReport[] {
  const merged = new Map<string, PartReport>();
  for (const report of processes.flat()) {
    const known = merged.get(keyOf(report));
    merged.set(keyOf(report), known ? worse(known, report) : report);
  }
  return [...merged.values()];
}

const iso = (at: number): string => new Date(at).toISOString();

/** `isDetailed`: whether addresses and settings are told. */
export function entryOf(
  { part, status, since, error, failedAt }: PartReport,
  isDetailed: boolean,
): PartEntry {
  const entry = {
    part: part.kind,
    name: part.name,
    status,
    since: iso(since),
    last_error: error?.outcome ?? null,
    last_error_at: failedAt === undefined ? null : iso(failedAt),
  };
  if (!isDetailed) return entry;
  const setting = error && mendedBy(part, error);
  return {
    ...entry,
    ...(part.address !== undefined && { address: part.address }),
    ...(status === 'failing' && setting !== undefined && { setting }),
    ...(status === 'failing' && error && { message: sentenceOf(part, error) }),
  };
}
