/**
 * How many assertions passed and failed, from tap's own counts. Invariant: a file that did not end well has at
 * least one failure, also where tap counted none (it was killed, ended early, or ran nothing at all).
 */
import fs from 'node:fs';
import { writeAtomically } from './stamps.mjs';

/** tap's reasons for a plan of no tests, where the file gives none. */
const NOTHING_RAN = new Set(['', 'no tests found']);

/** Failures of a test file as a whole, apart from its assertions. */
function faultOf({ counts, results, end }, silent) {
  if (results?.bailout)
    return `bailed out: ${results.bailout === true ? 'no reason given' : results.bailout}`;
  if (!end && !results) return 'did not run to its end';
  const how = end?.signal ? `killed by ${end.signal}` : `ended with code ${end?.code ?? 0}`;
  if (silent) return `ran no test, ${how}`;
  return counts.fail === 0 ? how : undefined;
}

/** The counts of one file, from what its process said of it (test-process.mjs); `fault` says what they do not. */
export function countFile(account) {
  const { counts, results, end } = account;
  const plan = results?.plan;
  const skippedWhole = Boolean(plan?.skipAll) && !NOTHING_RAN.has(plan.skipReason);
  const silent = counts.pass + counts.fail + counts.skip + counts.todo === 0 && !skippedWhole;
  const skipped = counts.skip || Number(skippedWhole);
  const endedWell = !end || (end.code === 0 && !end.signal);
  if (results?.ok && endedWell && !silent) return { passed: counts.pass, failed: 0, skipped };
  const fault = faultOf(account, silent);
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
