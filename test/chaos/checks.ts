/** The rules that a chaos run must keep: pure functions of the recording that return a line for each violation. */
import { CLOSE } from '../../contracts/close-codes.js';
import type { CallRecord, Failure, Fault, Recorded } from './record.js';

type Check = (recorded: Recorded) => readonly string[];

export const countsOf = (names: readonly string[]): ReadonlyMap<string, number> => {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
};

const writes: Check = ({ writes, kept }) => {
  const counts = countsOf(kept);
  return writes.flatMap(({ name, acknowledged }) => {
    const times = counts.get(name) ?? 0;
    if (times > 1) return [`${name} was written ${times} times`];
    return acknowledged && times === 0 ? [`${name} was acknowledged and is lost`] : [];
  });
};

const deliveries: Check = ({ promised, received }) => {
  const bodies = new Map(promised.map(({ id, body }) => [id, body]));
  const arrived = new Set(received.map(({ id }) => id));
  return [
    ...promised.filter(({ id }) => !arrived.has(id)).map(({ id }) => `${id} was never delivered`),
    ...received.filter(({ id }) => !bodies.has(id)).map(({ id }) => `${id} was delivered and never promised`),
    ...received
      .filter(({ id, body }) => bodies.has(id) && bodies.get(id) !== body)
      .map(({ id }) => `${id} was delivered with another body`),
  ];
};

/** Effects of a fault may show this much later: time-outs, the sweep of calls whose client did not return. */
const AFTER_MS = 75_000;
/** Whether clients may notice the fault; a drain they must not. */
const isHard = ({ kind }: Fault): boolean => kind !== 'drain';

const during = (faults: readonly Fault[], from: number, to: number): readonly Fault[] =>
  faults.filter((fault) => fault.from <= to && fault.to + AFTER_MS >= from);

const callProblem = (faults: readonly Fault[], call: CallRecord): string | undefined => {
  const hard = during(faults, call.from, call.to).some(isHard);
  if (call.reason === null) return 'has not ended';
  if (call.silent) return 'was not answered to its end';
  const broken = call.returns.find(({ why }) => why === 'gone');
  if (broken && !hard) return `was gone at ${broken.at} by no fault`;
  if (call.reason === 'hangup') return undefined;
  if (call.hungUp && !hard) return `was hung up, and ended as ${call.reason}`;
  if (call.reason === 'error' || call.reason === 'transport_lost')
    return hard ? undefined : 'failed without a fault';
  return `ended as ${call.reason}, which nobody did`;
};

const calls: Check = ({ faults, calls }) =>
  calls.flatMap((call) => {
    const problem = callProblem(faults, call);
    return problem === undefined ? [] : [`call ${call.session} ${problem}`];
  });

const STATUSES = new Set<number | string>([429, 502, 503]);
const CODES = new Set<number | string>(Object.values(CLOSE).map(({ code }) => code));
/** Errors of a client whose connection or server vanished. */
const ABRUPT = new Set<number | string>([1006, 'ECONNRESET', 'stalled']);

const failureProblem = (faults: readonly Fault[], { at, told }: Failure): string | undefined => {
  const hard = during(faults, at, at).some(isHard);
  if (told === 502) return hard ? undefined : 'though nothing was broken';
  if (STATUSES.has(told) || CODES.has(told)) return undefined;
  if (ABRUPT.has(told)) return hard ? undefined : 'though nothing was broken';
  return 'which no client is to see';
};

const failures: Check = ({ faults, failures }) =>
  failures.flatMap((failure) => {
    const problem = failureProblem(faults, failure);
    return problem === undefined ? [] : [`${failure.what} at ${failure.at}: ${failure.told}, ${problem}`];
  });

const items: Check = ({ doubledItems }) => doubledItems.map((item) => `${item} is in its record twice`);

const left: Check = ({ left }) => left.map((what) => `left behind: ${what}`);

/** The rules, by name. */
export const CHECKS = { writes, deliveries, calls, failures, items, left } as const;

/** All violations. */
export const violations = (recorded: Recorded): readonly string[] =>
  Object.entries(CHECKS).flatMap(([rule, check]) => check(recorded).map((line) => `${rule}: ${line}`));
