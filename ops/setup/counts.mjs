/**
 * How many assertions passed and failed, from tap's own counts. Invariant: a file that did not end well has at
 * least one failure, also where tap counted none (it was killed, ended early, or ran nothing at all).
 */
import fs from 'node:fs';
import { writeAtomically } from './stamps.mjs';

const NOTHING_RAN = 'no tests found';

/** Failures of a test file as a whole, apart from its assertions. */
function faultOf({ counts, results, options }, silent) {
  if (results?.bailout)
    return `bailed out: ${results.bailout === true ? 'no reason given' : results.bailout}`;
  const { signal, exitCode } = options;
  const end = signal ? `killed by ${signal}` : `ended with code ${exitCode ?? 'unknown'}`;
  if (silent) return `ran no test, ${end}`;
  return counts.fail === 0 ? end : undefined;
}

/** The counts of one file, from the tap subtest that ran it; `fault` says what they do not. */
export function countFile(subtest) {
  const { counts, results } = subtest;
  const plan = results?.plan;
  const skippedWhole = Boolean(plan?.skipAll) && plan.skipReason !== NOTHING_RAN;
  const silent = counts.pass + counts.fail + counts.skip + counts.todo === 0 && !skippedWhole;
  const skipped = counts.skip || Number(skippedWhole);
  if (results?.ok && !silent) return { passed: counts.pass, failed: counts.fail, skipped };
  const fault = faultOf(subtest, silent);
  return { passed: counts.pass, failed: Math.max(counts.fail, 1), skipped, fault };
}

export const sum = (all) =>
  all.reduce(
    (total, { passed, failed, skipped }) => ({
      passed: total.passed + passed,
      failed: total.failed + failed,
      skipped: total.skipped + skipped,
    }),
    { passed: 0, failed: 0, skipped: 0 },
  );

/** The last line of a run, which CI looks for. */
export const countLine = ({ passed, failed }) => `${passed} passed, ${failed} failed`;

export const writeCounts = (file, counts) => writeAtomically(file, `${JSON.stringify(counts)}\n`);

/** The counts that a run has written; a run that wrote none, or unreadable ones, has failed. */
export function readCounts(file) {
  try {
    const { passed, failed } = JSON.parse(fs.readFileSync(file, 'utf8'));
    if (Number.isInteger(passed) && Number.isInteger(failed)) return { passed, failed };
  } catch {
    // falls through
  }
  return { passed: 0, failed: 1 };
}
