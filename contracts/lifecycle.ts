/**
 * A lifecycle whose state is kept in a database row, as a table: what each report does in each state. It is pure. Several
 * processes may report at the same time, so the row decides: SQL writes a state only over one of its predecessors
 * (`before`), and the process whose statement has changed the row performs the effects. docs/statecharts.md has a diagram of
 * each (ops/setup/statecharts.mjs), and test/unit/contracts/lifecycles.test.ts every pair of state and report.
 */

/** What a report does in a state. */
export interface Step<State extends string, Effect extends string> {
  /** Undefined: the state stays, and only the effects follow. */
  readonly to: State | undefined;
  readonly effects: readonly Effect[];
}

/** Pairs that are missing are ignored on purpose: a late, repeated or reordered report changes nothing. The first state is the initial one. */
export type Lifecycle<State extends string, Report extends string, Effect extends string = never> = Readonly<
  Record<State, Readonly<Partial<Record<Report, Step<State, Effect>>>>>
>;

export const to = <State extends string, Effect extends string = never>(
  state: State,
  ...effects: readonly Effect[]
): Step<State, Effect> => ({ to: state, effects });

export const stay = <Effect extends string>(...effects: readonly Effect[]): Step<never, Effect> => ({
  to: undefined,
  effects,
});

export const statesOf = <State extends string>(
  lifecycle: Readonly<Record<State, object>>,
): readonly State[] => Object.keys(lifecycle) as State[];

/** The states in which the report does something. */
export const answering = <State extends string, Report extends string>(
  report: Report,
  ...lifecycles: readonly Lifecycle<State, Report, string>[]
): readonly State[] =>
  distinct(
    lifecycles.flatMap((lifecycle) => statesOf(lifecycle).filter((state) => lifecycle[state][report])),
  );

/** The states from which one step leads to this one: its allowed predecessors, for SQL. */
export const before = <State extends string>(
  target: State,
  ...lifecycles: readonly Lifecycle<State, string, string>[]
): readonly State[] =>
  distinct(
    lifecycles.flatMap((lifecycle) =>
      statesOf(lifecycle).filter((state) => stepsOf(lifecycle[state]).some((step) => step.to === target)),
    ),
  );

/** The one state to which a report leads. Errors: there is none, or there are several. */
export function target<State extends string, Report extends string>(
  lifecycle: Lifecycle<State, Report, string>,
  report: Report,
): State {
  const targets = statesOf(lifecycle).map((state) => lifecycle[state][report]?.to);
  const [state, ...others] = distinct(targets.filter((each) => each !== undefined));
  if (state === undefined || others.length > 0) throw new Error(`${report} leads to no state, or to several`);
  return state;
}

type Steps = Readonly<Partial<Record<string, Step<string, string>>>>;

const stepsOf = (steps: Steps): readonly Step<string, string>[] =>
  Object.values(steps).filter((step) => step !== undefined);

const distinct = <Value>(values: readonly Value[]): readonly Value[] => [...new Set(values)];
