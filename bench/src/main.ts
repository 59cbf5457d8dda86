#!/usr/bin/env node
/** The command of the suite. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { compareReports, ComparisonRefused, readReport } from './compare.js';
import { type Options, readOptions, USAGE, UsageError } from './options.js';
import { createProgress } from './progress.js';
import { formatHtml } from './report/html.js';
import { formatJunit } from './report/junit.js';
import { EXIT, exitCodeOf, type Report } from './report/report.js';
import { formatChanges, formatTable } from './report/table.js';
import { SCENARIOS } from './scenarios/index.js';
import type { Scenario } from './scenarios/scenario.js';
import { isCheckout } from './servers/checkout.js';
import { chooseScenarios, runSuite, strayNames } from './suite.js';

/** The folder above this package, where that is a built gateway. */
function checkoutHere(): string | undefined {
  const folder = fileURLToPath(new URL('../../../', import.meta.url));
  return isCheckout(folder) ? folder : undefined;
}

function withCheckout(options: Options): Options {
  const checkout = options.checkout ?? checkoutHere();
  if (options.url === undefined && checkout === undefined)
    throw new UsageError('there is neither --url nor --checkout');
  if (options.checkout !== undefined && !isCheckout(options.checkout))
    throw new UsageError(`no built gateway in ${options.checkout}`);
  return { ...options, checkout: checkout && path.resolve(checkout) };
}

function listed(): string {
  const kindsOf = ({ kinds = [] }: Scenario): string =>
    kinds.length === 0 ? '' : `\n${' '.repeat(17)}kinds: ${kinds.join(', ')}`;
  return SCENARIOS.map((each) => `${each.name.padEnd(16)} ${each.title}${kindsOf(each)}`).join('\n');
}

function chosenBy({ names, door }: Options): Scenario[] {
  const chosen = chooseScenarios(SCENARIOS, names);
  if (chosen.length === 0)
    throw new UsageError(`no scenario is called ${names.join(' or ')}; --list shows them`);
  if (door !== undefined && chosen.every(({ doors = [] }) => !doors.includes(door)))
    throw new UsageError(`no scenario of these has callers by the door ${door}`);
  const stray = strayNames(SCENARIOS, chosen, names);
  if (stray.length > 0)
    throw new UsageError(`no scenario, and no kind of one of these, is called ${stray.join(' or ')}`);
  return chosen;
}

function writeReports(report: Report, { json, junit, html }: Options): void {
  if (json !== undefined) writeFileSync(json, `${JSON.stringify(report, null, 1)}\n`);
  if (junit !== undefined) writeFileSync(junit, formatJunit(report));
  if (html !== undefined) writeFileSync(html, formatHtml(report));
}

/** Signals of a terminal or a supervisor: the run ends in order, together with everything it started. */
function onInterrupt(): AbortSignal {
  const interruption = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => interruption.abort());
  return interruption.signal;
}

async function run(options: Options): Promise<number> {
  const chosen = chosenBy(options);
  // Read first: nobody wants to learn in ten minutes that there is no such file.
  const before =
    options.compare === undefined ? undefined : readReport(readFileSync(options.compare, 'utf8'));
  const progress = createProgress();
  const report = await runSuite(chosen, withCheckout(options), progress.say, onInterrupt());
  progress.end();
  console.log(formatTable(report));
  writeReports(report, options);
  if (before !== undefined)
    console.log(`\nagainst ${before.at}\n${formatChanges(compareReports(before, report))}`);
  return exitCodeOf(report);
}

async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2));
  if (options.isHelp) console.log(USAGE);
  else if (options.isList) console.log(listed());
  else return run(options);
  return EXIT.met;
}

main().then(
  (code) => process.exit(code),
  (error: unknown) => {
    const isExpected = error instanceof UsageError || error instanceof ComparisonRefused;
    console.error(isExpected ? (error as Error).message : error);
    process.exit(EXIT.failed);
  },
);
