/** Service level objectives as they are written on the command line: `ttfa.p95<400ms`, `failed<1%`, joined by commas. */
import { failedIn, latenciesIn, type Phase, requestsIn } from './measure/phase.js';
import { samplesNeeded } from './histogram.js';

export type Objective =
  | { readonly text: string; readonly reading: string; readonly percentile: number; readonly mostMs: number }
  | { readonly text: string; readonly mostFailed: number };

export class ObjectiveError extends Error {
  override readonly name = 'ObjectiveError';
}

const LATENCY = /^([a-z][\w-]*)\.p(\d{1,2}(?:\.\d+)?)<=?(\d+(?:\.\d+)?)(ms|s)$/;
const FAILED = /^failed<=?(\d+(?:\.\d+)?)%$/;

function parseOne(text: string): Objective {
  const latency = LATENCY.exec(text);
  if (latency) {
    const [, reading = '', percentile, most, unit] = latency;
    return {
      text,
      reading,
      percentile: Number(percentile),
      mostMs: Number(most) * (unit === 's' ? 1000 : 1),
    };
  }
  const failed = FAILED.exec(text);
  if (failed) return { text, mostFailed: Number(failed[1]) / 100 };
  throw new ObjectiveError(`"${text}" is no objective; one is ttfa.p95<400ms or failed<1%`);
}

/** Throws ObjectiveError. */
export const parseObjectives = (text: string): Objective[] =>
  text.split(',').map((one) => parseOne(one.replace(/\s+/g, '')));

/** How many requests a measurement needs for all of them to be told. */
export const samplesFor = (objectives: readonly Objective[]): number =>
  Math.max(100, ...objectives.map((each) => ('percentile' in each ? samplesNeeded(each.percentile) : 0)));

/** A percentile that falls among failures, or that there are too few samples for, does not meet its objective. */
export function meets(phase: Phase, objective: Objective): boolean {
  if ('mostFailed' in objective) return failedIn(phase) <= objective.mostFailed * requestsIn(phase);
  const reading = latenciesIn(phase, objective.reading).percentile(objective.percentile);
  return 'value' in reading && reading.value <= objective.mostMs;
}
