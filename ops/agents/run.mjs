/**
 * The commands `agents pull`, `diff` and `push` (docs/agents-as-files.md). `io`: `out` and `err` take a line, `ask` answers whether a
 * person agrees, and is absent where nobody can be asked.
 */
import { parseArgs } from 'node:util';
import { Gateway, NoVerdict } from '../agent-test/gateway.mjs';
import { commandLine } from '../commands/words.mjs';
import { linesOf, planOf, voicesIn } from './difference.mjs';
import { readFolder, writeFolder } from './files.mjs';
import { namedIn, only } from './chosen.mjs';
import { Workspace } from './remote.mjs';

const OPTIONS = {
  url: { type: 'string' },
  key: { type: 'string' },
  agent: { type: 'string', multiple: true },
  yes: { type: 'boolean', default: false },
  prune: { type: 'boolean', default: false },
  publish: { type: 'boolean', default: false },
  title: { type: 'string', default: '' },
  help: { type: 'boolean', default: false },
};

const USAGE = `${commandLine('agents', 'pull|push|diff DIR [options]')}

  pull DIR        writes the workspace's agents, tools, knowledge and tests into DIR, without credentials
  diff DIR        says what a push would change; exits with 1 if that is something
  push DIR        says it, asks, and does it: drafts only, unless --publish

  --url URL       the gateway, as http://localhost:8080 (or AGENTS_URL)
  --key KEY       a key of the role full; for pull and diff, read does as well (better: AGENTS_KEY)
  --agent NAME    pull: only this agent, and what it refers to; may be repeated
  --yes           push: does not ask
  --prune         push, diff: also deletes what DIR has not
  --publish       push: publishes the agents in DIR whose draft differs from what is live
  --title TEXT    push: the title of these versions

Exits with 0 where all is done or the same, 1 where diff finds something, 2 where it could not be done.`;

const FOUND = 1;
const FAILED = 2;

function readOptions(args, env) {
  try {
    const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true });
    const [name = '', folder = '', ...more] = positionals;
    const url = values.url ?? env.AGENTS_URL;
    const key = values.key ?? env.AGENTS_KEY;
    if (values.help) return { help: true };
    if (!Object.hasOwn(COMMANDS, name) || folder === '' || more.length > 0) throw new NoVerdict(USAGE);
    const missing = Object.entries({ url, key }).find(([, value]) => !value);
    if (missing) throw new NoVerdict(`--${missing[0]} is missing\n\n${USAGE}`);
    return { ...values, name, folder, url, key };
  } catch (error) {
    throw error instanceof NoVerdict ? error : new NoVerdict(`${error.message}\n\n${USAGE}`);
  }
}

async function pull({ folder, agent }, workspace, { out }) {
  const items = agent ? only(workspace.items, agent) : workspace.items;
  const lines = writeFolder(folder, items, { keepOthers: agent !== undefined });
  for (const line of lines.length > 0 ? lines : ['nothing has changed']) out(line);
  return 0;
}

/** What would be done; what is only at the gateway stays there, and is told, unless `prune`. */
function wantedPlan({ folder, prune }, workspace) {
  const files = readFolder(folder);
  if (files.size === 0) throw new NoVerdict(`there are no files of agents in ${folder}`);
  workspace.checkReferences(files);
  const whole = planOf(files, workspace.items);
  const plan = whole.filter(({ kind }) => prune || kind !== 'remove');
  const stays = whole.length - plan.length;
  return { files, plan, stays };
}

async function tellPlan({ plan, stays }, workspace, { out }) {
  const titles = await workspace.voiceTitles(voicesIn(plan));
  for (const line of plan.length > 0 ? linesOf(plan, titles) : ['no difference']) out(line);
  if (stays > 0) out(`(${stays} more at the gateway that the files have not; --prune deletes them)`);
}

async function diff(options, workspace, io) {
  const wanted = wantedPlan(options, workspace);
  await tellPlan(wanted, workspace, io);
  return wanted.plan.length > 0 ? FOUND : 0;
}

function agreed({ yes }, { ask }) {
  if (yes) return true;
  if (!ask) throw new NoVerdict('nothing is changed without --yes, as nobody can be asked');
  return ask();
}

/** Agents are made before any is configured, since they may refer to each other. */
async function apply(plan, workspace) {
  const of = (kind) => plan.filter((each) => each.kind === kind).map(({ item }) => item);
  const isAgent = ({ noun }) => noun === 'agents';
  const isFirst = ({ noun }) => noun === 'tools' || noun === 'knowledge';
  const [created, changed] = [of('create'), of('change')];
  for (const item of [...created.filter(isFirst), ...created.filter(isAgent)]) await workspace.create(item);
  for (const item of [
    ...created.filter(isAgent),
    ...changed.filter((each) => isFirst(each) || isAgent(each)),
  ])
    await workspace.change(item);
  for (const noun of ['tests', 'suites']) {
    for (const item of created.filter((each) => each.noun === noun)) await workspace.create(item);
    for (const item of changed.filter((each) => each.noun === noun)) await workspace.change(item);
  }
  for (const item of of('remove')) await workspace.remove(item);
}

async function tellMissing(files, workspace, { out }) {
  for (const item of files.values())
    for (const header of await workspace.missingSecrets(item))
      out(`! tools: ${item.name}: the credential of the header ${header} is to be set at the gateway`);
}

/** Those that others hand calls over to come first: who refers to an agent that is not published is warned. */
const byReferences = (files) => {
  const count = ({ value }) => namedIn(value).filter(([noun]) => noun === 'agents').length;
  return [...files.values()]
    .filter(({ noun }) => noun === 'agents')
    .sort((one, other) => count(one) - count(other));
};

async function publishAll(files, { title }, workspace, { out }) {
  for (const item of byReferences(files)) {
    const version = await workspace.publish(item, title);
    if (version) out(`published ${item.name}, version ${version.version_number}`);
    for (const warning of version?.warnings ?? []) out(`! ${item.name}: ${warning}`);
  }
}

async function push(options, workspace, io) {
  const wanted = wantedPlan(options, workspace);
  await tellPlan(wanted, workspace, io);
  if (wanted.plan.length > 0) {
    if (!(await agreed(options, io))) return 0;
    await apply(wanted.plan, workspace);
    io.out('done');
  }
  await tellMissing(wanted.files, workspace, io);
  if (options.publish) await publishAll(wanted.files, options, workspace, io);
  return 0;
}

const COMMANDS = { pull, push, diff };

/** The exit code. `args`: the words behind the command's name. */
export async function run(args, env, io) {
  try {
    const options = readOptions(args, env);
    if (options.help) {
      io.out(USAGE);
      return 0;
    }
    const workspace = await new Workspace(new Gateway(options.url, options.key)).read();
    return await COMMANDS[options.name](options, workspace, io);
  } catch (error) {
    io.err(`agents: ${error instanceof NoVerdict ? error.message : (error.stack ?? error)}`);
    return FAILED;
  }
}
