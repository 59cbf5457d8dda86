/** Agents as files: `agents pull|diff|push`, of one gateway and from it to another (docs/agents-as-files.md). */
import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import t from '../../fixtures/tap.js';
import { CHECKOUT } from '../../../contracts/places.js';
import { createKey } from '../../../storage/keys/keys.js';
import { randomIds } from '../../../contracts/ids.js';
import { exactly } from '../../fixtures/exactly.js';
import { type Json, type Platform, sharedPlatform, startPlatform } from '../../fixtures/platform/platform.js';

const RUN = fileURLToPath(new URL('ops/commands/run.mjs', CHECKOUT));
const SECRET = 'hunter2-hunter2-hunter2-hunter2-';
const KNOWLEDGE = '# Hours\n\nOpen: at "seven" — or #8, \ttabs, trailing  \n  indented\n- a: b\n';

interface Result {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

interface Io {
  out(line: string): void;
  err(line: string): void;
  ask?(): Promise<boolean>;
}

const { run } = (await import(new URL('ops/agents/run.mjs', CHECKOUT).href)) as {
  run(args: readonly string[], env: object, io: Io): Promise<number>;
};

/** The command in this process, as starting one for each takes most of the time. */
async function command(
  { gateway, key }: Platform,
  words: readonly string[],
  ask?: Io['ask'],
): Promise<Result> {
  const said = { out: '', err: '' };
  const to = (name: 'out' | 'err') => (line: string) => void (said[name] += `${line}\n`);
  const env = { AGENTS_URL: gateway.base, AGENTS_KEY: key };
  return { code: await run(words, env, { out: to('out'), err: to('err'), ...(ask && { ask }) }), ...said };
}

const agents = (platform: Platform, ...words: string[]): Promise<Result> => command(platform, words);

/** The program, in a process of its own. */
const started = ({ gateway, key }: Platform, ...words: string[]): Promise<Result> =>
  new Promise((resolve) => {
    const env = { ...process.env, AGENTS_URL: gateway.base, AGENTS_KEY: key };
    execFile(process.execPath, [RUN, 'agents', ...words], { env }, (error, out, err) =>
      resolve({ code: error ? Number(error.code) : 0, out, err }),
    );
  });

/** Two agents, one of which hands over to the other, with a tool, a source, a webhook and a suite of tests. */
async function fill({ call, agent, tool, source }: Platform): Promise<void> {
  const shop = await tool({
    name: 'Look up an order',
    url: 'https://shop.example.com/orders/{{order_id}}',
    arguments: [{ name: 'order_id', description: 'The number' }],
    headers: [
      { name: 'Authorization', kind: 'authorization_bearer', value: SECRET },
      { name: 'X-Shop', value: 'lamps' },
    ],
  });
  const hours = await source(KNOWLEDGE, 'hours.md');
  const other = await agent({ name: 'Night / desk', description: 'After hours' });
  const lamps = await agent({
    name: 'Lamp shop',
    config: {
      prompt: {
        system_prompt: 'You sell lamps.\nBe brief.\n\n  Never: lie.\n',
        first_message: 'Hello: "there"',
      },
      tools: {
        enabled: true,
        tool_ids: [shop],
        transfer_agents: [{ agent_id: other, description: 'At night' }],
      },
      knowledge_base: { enabled: true, knowledge_source_ids: [hours] },
      webhooks: { post_call: [{ url: 'https://hooks.example.com/a', secret: SECRET }] },
    },
  });
  await call('PATCH', `/v1/agent/agents/${lamps}`, {
    body: { public_enabled: true, allowed_origins: ['https://a.example'] },
  });
  const scenario = async (name: string): Promise<unknown> => {
    const user = { lines: ['When do you open?'] };
    const checks = [{ type: 'tool_called', tool: 'Look up an order' }];
    return (
      await call('POST', '/v1/agent/tests/scenarios', { body: { agent_id: lamps, name, user, checks } })
    ).body['scenario_id'];
  };
  const ids = [await scenario('Hours'), await scenario('Order')];
  const made = await call('POST', '/v1/agent/tests/suites', {
    body: { agent_id: lamps, name: 'All', scenario_ids: ids },
  });
  t.equal(made.status, 201, made.text);
}

const filesOf = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.yaml'))
    .toSorted();

const here = await sharedPlatform(t);
const there = await startPlatform(t);
await fill(here);
const folder = join(t.testdir(), 'agents');

t.test('pull writes a file for each, with names in place of ids, and no secrets', async (t) => {
  exactly(t, await started(here, 'pull', folder), { code: 0, err: '' });
  t.strictSame(filesOf(folder), [
    'agents/lamp-shop.yaml',
    'agents/night-desk.yaml',
    'knowledge/hours-md.yaml',
    'suites/lamp-shop/all.yaml',
    'tests/lamp-shop/hours.yaml',
    'tests/lamp-shop/order.yaml',
    'tools/look-up-an-order.yaml',
  ]);
  const texts = filesOf(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
  t.notMatch(texts.join('\n'), /hunter2|has_secret|_[0-9a-z]{24}/);
  const { config } = parse(texts[0] ?? '') as { config: Record<string, Json> };
  exactly(t, config['tools'], {
    tools: ['Look up an order'],
    transfer_agents: [{ agent: 'Night / desk', description: 'At night' }],
  });
  exactly(t, config['knowledge_base'], { knowledge_sources: ['hours.md'] });
  exactly(t, config['webhooks'], { post_call: [{ url: 'https://hooks.example.com/a' }] });
  t.match(texts[0], /system_prompt: \|\n +You sell lamps\.\n +Be brief\./, 'prompts are blocks');
});

t.test('what was pulled is the same; pulling again writes nothing', async (t) => {
  exactly(t, await agents(here, 'diff', folder), { code: 0, out: 'no difference\n' });
  exactly(t, await agents(here, 'push', folder, '--yes'), { code: 0, out: /^no difference\n$/ });
  exactly(t, await agents(here, 'pull', folder), { code: 0, out: 'nothing has changed\n' });
});

t.test('a changed voice is told by its title', async (t) => {
  const { body } = await here.call('GET', '/model?page_size=1');
  const [voice] = body['items'] as { readonly _id: string; readonly title: string }[];
  const file = join(folder, 'agents/lamp-shop.yaml');
  const before = readFileSync(file, 'utf8');
  writeFileSync(file, before.replace('voice_id: default', `voice_id: ${voice!._id}`));
  const { code, out } = await agents(here, 'diff', folder);
  writeFileSync(file, before);
  t.equal(code, 1);
  t.ok(
    out.includes(`config.voice.voice_id: "default" → "${voice!.title}" (${voice!._id})
`),
    out,
  );
});

t.test('another gateway gets all of it, once', async (t) => {
  const before = await agents(there, 'diff', folder);
  t.equal(before.code, 1);
  t.match(before.out, /^\+ tools: Look up an order\n\+ knowledge: hours\.md\n\+ agents: Lamp shop\n/);
  exactly(t, await started(there, 'push', folder), { code: 2, err: /without --yes/ });
  exactly(t, await command(there, ['push', folder], () => Promise.resolve(false)), {
    code: 0,
    out: before.out,
  });
  t.equal((await agents(there, 'diff', folder)).code, 1, 'and nothing was made');
  const pushed = await agents(there, 'push', folder, '--yes', '--publish', '--title', 'From files');
  t.equal(pushed.code, 0, pushed.err);
  t.match(pushed.out, /credential of the header Authorization is to be set/);
  t.match(
    pushed.out,
    /published Night \/ desk, version 1\npublished Lamp shop, version 1\n$/,
    'the one that is referred to first',
  );
  const again = await agents(there, 'push', folder, '--yes', '--publish');
  t.match(again.out, /^no difference\n/);
  t.notMatch(again.out, /published|done/, 'the second push changes nothing');
  const copy = join(t.testdir(), 'copy');
  t.equal((await agents(there, 'pull', copy)).code, 0);
  t.strictSame(filesOf(copy), filesOf(folder));
  for (const name of filesOf(folder))
    t.equal(readFileSync(join(copy, name), 'utf8'), readFileSync(join(folder, name), 'utf8'), name);
});

t.test('a change is told in words, and made; credentials stay', async (t) => {
  const file = join(folder, 'agents/lamp-shop.yaml');
  const text = readFileSync(file, 'utf8');
  writeFileSync(
    file,
    text
      .replace('Be brief.', 'Be very brief.')
      .replace('max_duration_seconds: 600', 'max_duration_seconds: 300'),
  );
  const tool = join(folder, 'tools/look-up-an-order.yaml');
  writeFileSync(tool, readFileSync(tool, 'utf8').replace('value: lamps', 'value: bulbs'));
  const { code, out } = await agents(here, 'diff', folder);
  t.equal(code, 1);
  t.match(out, 'config.prompt.system_prompt: line 2: "Be brief." → "Be very brief."');
  t.match(out, 'headers.1.value: "lamps" → "bulbs"');
  exactly(t, await agents(here, 'push', folder, '--yes'), { code: 0, out: /done\n$/ });
  exactly(t, await agents(here, 'diff', folder), { code: 0 });
  const { tools } = (await here.call('GET', '/v1/agent/tools')).body as { tools: Json[] };
  const { body } = await here.call('GET', `/v1/agent/tools/${String(tools[0]?.['tool_id'])}`);
  exactly(t, body['headers'], [{ has_secret: true }, { value: 'bulbs' }]);
});

t.test('a short file changes only what it says', async (t) => {
  writeFileSync(
    join(folder, 'agents/night-desk.yaml'),
    'name: Night / desk\nconfig: { prompt: { system_prompt: Good night. } }\n',
  );
  const { out } = await agents(here, 'diff', folder);
  t.match(out, /^~ agents: Night \/ desk\n {4}config\.prompt\.system_prompt: "" → "Good night\."\n$/);
});

t.test('what the files have not stays, unless it is pruned', async (t) => {
  rmSync(join(folder, 'suites'), { recursive: true });
  rmSync(join(folder, 'tests/lamp-shop/order.yaml'));
  t.match((await agents(there, 'diff', folder)).out, '(2 more at the gateway');
  const { out } = await agents(there, 'diff', folder, '--prune');
  t.match(out, /- suites: Lamp shop, All\n- tests: Lamp shop, Order\n$/);
  t.equal((await agents(there, 'push', folder, '--yes', '--prune')).code, 0);
  exactly(t, await agents(there, 'diff', folder, '--prune'), { code: 0, out: 'no difference\n' });
});

t.test('one agent with what it refers to', async (t) => {
  const one = join(t.testdir(), 'one');
  t.equal((await agents(here, 'pull', one, '--agent', 'Night / desk')).code, 0);
  t.strictSame(filesOf(one), ['agents/night-desk.yaml']);
  t.equal((await agents(here, 'pull', one, '--agent', 'Lamp shop')).code, 0);
  t.equal(filesOf(one).length, 7, 'and the files of others stay');
  exactly(t, await agents(here, 'pull', one, '--agent', 'Nobody'), { code: 2, err: /no agent “Nobody”/ });
});

t.test('what cannot be done is said, and nothing is done', async (t) => {
  const bad = t.testdir({ agents: { 'a.yaml': 'name: A\nconfig: { tools: { tools: [Missing] } }\n' } });
  exactly(t, await agents(here, 'push', bad, '--yes'), { code: 2, err: /refers to “Missing”/ });
  const broken = t.testdir({ agents: { 'a.yaml': 'name: [' } });
  exactly(t, await agents(here, 'diff', broken), { code: 2, err: /a\.yaml/ });
  const twice = t.testdir({ agents: { 'a.yaml': 'name: A\n', 'b.yaml': 'name: A\n' } });
  exactly(t, await agents(here, 'diff', twice), { code: 2, err: /both about agents\/A/ });
  exactly(t, await agents(here, 'diff', join(t.testdir(), 'none')), { code: 2, err: /no files of agents/ });
  exactly(t, await agents(here, 'steal', folder), { code: 2, err: /pull\|push\|diff/ });
  exactly(t, await agents({ ...here, key: 'wrong' }, 'pull', folder), { code: 2, err: /401/ });
  const { key } = await createKey(here.database.sql, randomIds, {
    workspaceId: here.workspaceId,
    name: 'reads',
    role: 'read',
  });
  t.equal(
    (await agents({ ...here, key }, 'pull', join(t.testdir(), 'read'))).code,
    0,
    'a key that reads pulls',
  );
  t.notOk(existsSync(join(bad, 'tools')));
  await here.agent({ name: 'Lamp shop' });
  exactly(t, await agents(here, 'pull', folder), { code: 2, err: /two agents are called “Lamp shop”/ });
});
