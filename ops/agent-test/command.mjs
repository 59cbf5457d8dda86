/**
 * `npm run agent-test -- --url … --key … --agent …`: plays the tests of an agent on any gateway, and exits by the verdict
 * (docs/agent-tests.md). It needs Node alone: no packages, no build, so that a CI job has it with a clone.
 */
import '../setup/node-version.mjs';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Gateway, NoVerdict } from './gateway.mjs';
import { commandLine } from '../commands/words.mjs';
import { endLine, isOver, junit, resultLines, startLine } from './report.mjs';

const OPTIONS = {
  url: { type: 'string' },
  key: { type: 'string' },
  agent: { type: 'string' },
  suite: { type: 'string' },
  scenario: { type: 'string', multiple: true },
  version: { type: 'string', default: 'draft' },
  junit: { type: 'string' },
  json: { type: 'boolean', default: false },
  timeout: { type: 'string', default: '1800' },
  help: { type: 'boolean', default: false },
};

const USAGE = `${commandLine('agent-test', '--url URL --agent ID [options]')}

  --url URL          the gateway, as http://localhost:8080 (or AGENT_TEST_URL)
  --key KEY          a key of the role sessions or full (better: AGENT_TEST_KEY)
  --agent ID         the agent
  --suite NAME       one suite, by its name or id; else all scenarios of the agent
  --scenario ID      single scenarios; may be repeated
  --version V        draft (the default), live, or the number of a version
  --junit FILE       writes the results as JUnit's XML
  --json             prints the run as JSON instead of lines
  --timeout SECONDS  cancels a run that takes longer (1800)

Exits with 0 where all passed, 1 where something failed, 2 where it could not be found out.`;

const EXIT = { passed: 0, failed: 1 };
const NO_VERDICT = 2;
const POLL_MS = 500;

function readOptions() {
  try {
    const { values } = parseArgs({ options: OPTIONS });
    const url = values.url ?? process.env.AGENT_TEST_URL;
    const key = values.key ?? process.env.AGENT_TEST_KEY;
    const missing = Object.entries({ url, key, agent: values.agent }).find(([, value]) => !value);
    if (missing && !values.help) throw new NoVerdict(`--${missing[0]} is missing\n\n${USAGE}`);
    if (!(Number(values.timeout) > 0)) throw new NoVerdict('--timeout wants seconds');
    return { ...values, url, key };
  } catch (error) {
    throw error instanceof NoVerdict ? error : new NoVerdict(error.message);
  }
}

async function start(gateway, { agent, suite, scenario, version }) {
  if (suite && scenario) throw new NoVerdict('--suite and --scenario exclude each other');
  return gateway.call('POST', 'tests/runs', {
    agent_id: agent,
    version,
    ...(suite && { suite_id: await gateway.suiteId(agent, suite) }),
    ...(scenario && { scenario_ids: scenario }),
  });
}

/** Prints each result as it arrives; resolves with the run once it is over. */
async function follow(gateway, { run_id: id }, { timeout }, tell) {
  const told = new Set();
  const until = Date.now() + timeout * 1000;
  for (;;) {
    const run = await gateway.call('GET', `tests/runs/${id}`);
    for (const result of run.results.filter((each) => isOver(each) && !told.has(each.scenario_id))) {
      told.add(result.scenario_id);
      for (const line of resultLines(result)) tell(line);
    }
    if (isOver(run)) return run;
    if (Date.now() > until) {
      await gateway.call('POST', `tests/runs/${id}/cancel`);
      throw new NoVerdict(`the run took longer than ${timeout} s and was cancelled`);
    }
    await pause(POLL_MS);
  }
}

/** Stopping the command cancels the run. */
function cancelOnSignal(gateway, { run_id: id }) {
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.once(signal, () => {
      void gateway
        .call('POST', `tests/runs/${id}/cancel`)
        .catch(() => undefined)
        .finally(() => process.exit(NO_VERDICT));
    });
}

async function main() {
  const options = readOptions();
  if (options.help) {
    console.log(USAGE);
    return 0;
  }
  const tell = (line) => (options.json ? console.error(line) : console.log(line));
  if (options.junit) fs.mkdirSync(path.dirname(options.junit), { recursive: true });
  const gateway = new Gateway(options.url, options.key);
  const started = await start(gateway, options);
  cancelOnSignal(gateway, started);
  tell(startLine(started));
  const run = await follow(gateway, started, options, tell);
  tell(endLine(run));
  if (options.json) console.log(JSON.stringify(run, null, 2));
  if (options.junit) fs.writeFileSync(options.junit, junit(run));
  return EXIT[run.status] ?? NO_VERDICT;
}

try {
  process.exitCode = await main();
} catch (error) {
  console.error(`agent-test: ${error instanceof NoVerdict ? error.message : (error.stack ?? error)}`);
  process.exitCode = NO_VERDICT;
}
