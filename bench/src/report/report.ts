/** The result of a run: written as JSON, and the source of all other reports. */
import type { Figure } from '../figures.js';
import type { Machine } from '../measure/machine.js';

export const VERSION = 1;

export interface Line {
  readonly name: string;
  readonly points: readonly (readonly [x: number, y: number])[];
}

export interface Axis {
  readonly label: string;
  readonly log?: boolean;
}

export interface Chart {
  readonly title: string;
  /** `percentiles`: x is 1 / (1 - q), labelled by percentile. */
  readonly kind: 'percentiles' | 'time' | 'curve';
  readonly x: Axis;
  readonly y: Axis;
  readonly lines: readonly Line[];
  /** A horizontal line, such as an objective. */
  readonly limit?: number;
}

/** Whether a person was recorded, or a program made the sound. */
export type Origin = 'recorded' | 'synthetic';

/** One clip that callers said. */
export interface ClipReport {
  /** Its name in the scenario's steps. */
  readonly name: string;
  readonly text: string;
  readonly origin: Origin;
  /** The package that ships the recording, or what made the sound. */
  readonly source: string;
}

/** What no list of figures shows: rows of words, the first of which names its row. */
export interface Table {
  readonly title: string;
  readonly head: readonly string[];
  readonly rows: readonly (readonly string[])[];
  /** Too long for a terminal: in the files only. */
  readonly isLong?: boolean;
}

export interface ScenarioReport {
  readonly name: string;
  readonly title: string;
  /** Everything that the figures depend on; a comparison wants them to be equal. */
  readonly parameters: unknown;
  readonly seconds: number;
  readonly figures: readonly Figure[];
  /** How many requests failed, by server and reason. */
  readonly failures: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly charts: readonly Chart[];
  /** The clips of calls; none if nothing was said. */
  readonly clips?: readonly ClipReport[];
  readonly tables?: readonly Table[];
  /** What a reader has to know of the measurement, a sentence each. */
  readonly remarks?: readonly string[];
  /** Why the scenario could not run. */
  readonly error?: string;
  /** Why it was left out. */
  readonly skipped?: string;
}

export interface Report {
  readonly version: typeof VERSION;
  /** ISO 8601. */
  readonly at: string;
  readonly machine: Machine;
  /** The arguments that change what is measured. */
  readonly run: Readonly<Record<string, unknown>>;
  /** All figures of all scenarios. */
  readonly figures: readonly Figure[];
  readonly scenarios: readonly ScenarioReport[];
}

/** 0: all that was held against a target met it. */
export const EXIT = { met: 0, missed: 1, failed: 2, unreliable: 3 } as const;

/** A target that was missed where the measurement cannot be relied upon is another code than one that was missed. */
export function exitCodeOf({ scenarios, figures }: Pick<Report, 'scenarios' | 'figures'>): number {
  if (scenarios.some(({ error }) => error !== undefined)) return EXIT.failed;
  const missed = figures.filter(({ met }) => met === false);
  if (missed.some(({ reliable }) => reliable)) return EXIT.missed;
  const unknown = figures.some(({ target, met }) => target !== null && met === null);
  return missed.length > 0 || unknown ? EXIT.unreliable : EXIT.met;
}
