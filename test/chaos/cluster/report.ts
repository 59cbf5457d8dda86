/** What a disturbance came to for each kind of client: pure functions of the recording. */
import { countsOf } from '../checks.js';
import type { CallRecord, Failure } from '../record.js';

/** One disturbance: from its beginning until the next one begins. Milliseconds since the start of the run. */
export interface Span {
  readonly name: string;
  readonly planned: boolean;
  readonly from: number;
  /** When as many gateways as wanted were ready again. */
  readonly ready: number;
  readonly to: number;
  /** Answers meanwhile, by client. */
  readonly served: Readonly<Record<string, number>>;
  /** Why it could not be made. */
  readonly broken?: string;
}

export interface Seen {
  readonly calls: readonly CallRecord[];
  readonly failures: readonly Failure[];
  readonly refusedTokens: readonly number[];
}

export interface Figures {
  readonly calls: number;
  readonly lost: number;
  readonly returns: number;
  /** Seconds: the slowest return to a call, and the longest time between two answers. */
  readonly slowestReturn: number;
  readonly longestGap: number;
  /** Seconds from the loss of a call until the agent was heard again, of each return after which it was; ascending. */
  readonly heard: readonly number[];
  /** Times that a new token was refused. */
  readonly refused: number;
  /** What clients were told, by client: `{ 'kept-alive': { 503: 2 } }`. */
  readonly failures: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Seconds until all gateways were ready, and until the last client saw an error. */
  readonly podsWell: number;
  readonly clientsWell: number;
}

const seconds = (ms: number): number => Math.round(ms / 100) / 10;
const most = (all: readonly number[]): number => Math.max(0, ...all);

/** The least of these ascending numbers that so large a share does not exceed; 0 of none. */
export const quantile = (ascending: readonly number[], share: number): number =>
  ascending[Math.ceil(ascending.length * share) - 1] ?? 0;

/** The name of a client, without the id of what it asked for. */
const clientOf = ({ what }: Failure): string =>
  what.replace(/^request sessions\/.*/, 'reading a session').replace(/^POST (sessions|agents)$/, 'making $1');

/** When a call began to fail. */
const brokenAt = ({ returns, to }: CallRecord): number => returns.at(-1)?.at ?? to;
/** One that goes on has no reason yet. A user who hung up has lost nothing, even if no gateway heard it. */
const isLost = ({ hungUp, reason, returns }: CallRecord): boolean =>
  !hungUp && (reason !== null || returns.at(-1)?.back === null);
const endOf = ({ reason, to }: CallRecord): number => (reason === null ? Infinity : to);

const ascending = (all: readonly number[]): readonly number[] => [...all].sort((one, other) => one - other);

const isWithin = ({ from, to }: Span, at: number): boolean => at >= from && at < to;

function failuresIn(span: Span, failures: readonly Failure[]): Figures['failures'] {
  const found = failures.filter(({ at }) => isWithin(span, at));
  const clients = [...new Set(found.map(clientOf))].sort();
  return Object.fromEntries(
    clients.map((name) => [
      name,
      Object.fromEntries(
        countsOf(found.filter((each) => clientOf(each) === name).map(({ told }) => String(told))),
      ),
    ]),
  );
}

export function figuresOf(span: Span, { calls, failures, refusedTokens }: Seen): Figures {
  const during = calls.filter((call) => call.from < span.to && endOf(call) >= span.from);
  const returns = during.flatMap((call) => call.returns).filter(({ at }) => isWithin(span, at));
  const errors = failures.filter(({ at }) => isWithin(span, at)).map(({ at }) => at - span.from);
  return {
    calls: during.length,
    lost: during.filter((call) => isLost(call) && isWithin(span, brokenAt(call))).length,
    returns: returns.length,
    slowestReturn: seconds(most(returns.flatMap(({ at, back }) => (back === null ? [] : [back - at])))),
    longestGap: seconds(most(during.map(({ gap }) => gap))),
    heard: ascending(returns.flatMap(({ at, heard }) => (heard === undefined ? [] : [seconds(heard - at)]))),
    refused: refusedTokens.filter((at) => isWithin(span, at)).length,
    failures: failuresIn(span, failures),
    podsWell: seconds(span.ready - span.from),
    clientsWell: seconds(most(errors)),
  };
}

/** What breaks a promise. `kept`: the client whose connection stays open. */
export function brokenIn({ planned, broken }: Span, { lost, failures }: Figures, kept: string): string[] {
  return [
    ...(broken === undefined ? [] : [broken]),
    ...(planned && lost > 0 ? [`${lost} calls were lost`] : []),
    ...(planned && failures[kept] ? [`kept-alive clients were told ${JSON.stringify(failures[kept])}`] : []),
  ];
}

export const lineOf = ({ name, served }: Span, figures: Figures): string => {
  const { calls, lost, returns, slowestReturn, longestGap, heard, refused, failures, podsWell, clientsWell } =
    figures;
  return [
    `${name}: ${lost} of ${calls} calls lost, ${returns} returns (slowest ${slowestReturn} s)`,
    `heard again ${heard.length} times, p95 ${quantile(heard, 0.95)} s, at most ${most(heard)} s`,
    `${longestGap} s between two answers at most, ${refused} new tokens refused`,
    `ready after ${podsWell} s, last error after ${clientsWell} s`,
    `served ${JSON.stringify(served)}, failures ${JSON.stringify(failures)}`,
  ].join('; ');
};

const added = (all: readonly Readonly<Record<string, number>>[]): Record<string, number> => {
  const sums: Record<string, number> = {};
  for (const one of all)
    for (const [name, count] of Object.entries(one)) sums[name] = (sums[name] ?? 0) + count;
  return sums;
};

/** The same disturbance several times, as one. A call that two of them saw counts twice. */
export function sumOf(all: readonly Figures[]): Figures {
  const clients = [...new Set(all.flatMap(({ failures }) => Object.keys(failures)))].sort();
  const sum = (of: (one: Figures) => number): number => all.reduce((total, one) => total + of(one), 0);
  const worst = (of: (one: Figures) => number): number => most(all.map(of));
  return {
    ...{ calls: sum((one) => one.calls), lost: sum((one) => one.lost), returns: sum((one) => one.returns) },
    ...{ slowestReturn: worst((one) => one.slowestReturn), longestGap: worst((one) => one.longestGap) },
    ...{ heard: ascending(all.flatMap(({ heard }) => heard)), refused: sum((one) => one.refused) },
    failures: Object.fromEntries(
      clients.map((name) => [name, added(all.map(({ failures }) => failures[name] ?? {}))]),
    ),
    ...{ podsWell: worst((one) => one.podsWell), clientsWell: worst((one) => one.clientsWell) },
  };
}

/** What clients were served in all. */
export const servedIn = (spans: readonly Span[]): Record<string, number> =>
  added(spans.map(({ served }) => served));
