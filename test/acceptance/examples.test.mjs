/**
 * Each program of examples/ as a user runs it, against a real gateway: in a copy of the folder, with the packages that it
 * asks for. Python's runs where the machine has its openai package. The engines are the exact, light ones: what is tried are
 * the programs.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from '../../dist/test/fixtures/tap.js';
import { client, makeAgent } from '../../dist/test/fixtures/agents.js';
import { skipReason } from '../../dist/test/fixtures/external.js';
import { startGateway, TEST_KEY } from '../../dist/test/fixtures/gateway.js';
import { startModel, toolSaid } from '../../dist/test/fixtures/model.js';
import { until } from '../../dist/test/fixtures/until.js';
import { startBrowser } from './browser.mjs';
import { temporaryFolder } from '../../dist/test/fixtures/folders.js';

const TOOL_PORT = '18090';
const ROOT = new URL('../../', import.meta.url);
const here = (path) => fileURLToPath(new URL(path, import.meta.url));

const model = await startModel();
const gateway = await startGateway({
  LLM_BASE_URL: model.url,
  LLM_MODEL: 'test',
  OUTBOUND_ALLOW: `127.0.0.1:${TOOL_PORT}`,
});
const folder = temporaryFolder();
t.teardown(async () => {
  await gateway.stop();
  await model.stop();
  await rm(folder, { recursive: true, force: true });
});

/** A package of examples/package.json, and the folder of it that the acceptance tests have. */
const PACKAGES = {
  '@elevenlabs/elevenlabs-js': '@elevenlabs/elevenlabs-js',
  '@livekit/rtc-node': 'rtc-node-1',
  openai: 'openai',
  ws: 'ws',
};

async function copyExamples() {
  await cp(fileURLToPath(new URL('examples', ROOT)), join(folder, 'examples'), { recursive: true });
  for (const name of ['client', 'node_modules'])
    await symlink(fileURLToPath(new URL(name, ROOT)), join(folder, name));
  for (const [name, from] of Object.entries(PACKAGES)) {
    const place = join(folder, 'examples', 'node_modules', name);
    await mkdir(dirname(place), { recursive: true });
    await symlink(here(`node_modules/${from}`), place);
  }
}
await copyExamples();

const start = (example, command, args, env = {}) =>
  spawn(command, args, {
    cwd: join(folder, 'examples', example),
    env: { ...process.env, GATEWAY: gateway.base, KEY: TEST_KEY, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });

/** The output of an example, once it has ended well. */
async function run(example, command, args, env) {
  const child = start(example, command, args, env);
  const chunks = [];
  let stderr = '';
  child.stdout.on('data', (chunk) => chunks.push(chunk));
  child.stderr.on('data', (chunk) => (stderr += chunk));
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`${example} ended with ${code}: ${stderr}`);
  return Buffer.concat(chunks);
}

const words = (text) =>
  String(text)
    .toLowerCase()
    .match(/[a-z]+/g) ?? [];
const SPOKEN = words('The weather is nice today.');

t.test('package.json asks for what the test has', async (t) => {
  const manifest = JSON.parse(await readFile(new URL('examples/package.json', ROOT), 'utf8'));
  for (const [name, version] of Object.entries(manifest.dependencies)) {
    const { version: present } = JSON.parse(
      await readFile(here(`node_modules/${PACKAGES[name]}/package.json`), 'utf8'),
    );
    t.equal(present, version, name);
  }
});

t.test('speak-and-transcribe: curl', { skip: skipReason('bash', 'curl') }, async (t) => {
  t.strictSame(words(await run('speak-and-transcribe', 'bash', ['curl.sh'])), SPOKEN);
});

t.test('speak-and-transcribe: openai for JavaScript', async (t) => {
  const printed = String(await run('speak-and-transcribe', process.execPath, ['openai.mjs']));
  const [transcript, ...timed] = printed.trim().split('\n');
  t.strictSame(words(transcript), SPOKEN);
  t.equal(timed.length, SPOKEN.length, 'a line a word');
});

const hasPython = spawnSync('python3', ['-c', 'import openai']).status === 0;
t.test(
  'speak-and-transcribe: openai for Python',
  { skip: !hasPython && 'no openai package for python3 here' },
  async (t) => {
    t.strictSame(words(await run('speak-and-transcribe', 'python3', ['openai_sdk.py'])), SPOKEN);
  },
);

t.test('realtime-transcription', async (t) => {
  const response = await fetch(`${gateway.base}/v1/tts`, {
    method: 'POST',
    headers: { ...gateway.authorization, 'content-type': 'application/json' },
    body: JSON.stringify({
      text: 'The weather is nice today.',
      format: 'wav',
      sample_rate: 16_000,
    }),
  });
  await writeFile(join(folder, 'speech.wav'), Buffer.from(await response.arrayBuffer()));
  const printed = String(
    await run('realtime-transcription', process.execPath, ['transcribe.mjs', join(folder, 'speech.wav')]),
  );
  t.strictSame(words(printed.trim().split('\n').at(-1)), SPOKEN);
});

t.test('elevenlabs-streaming', async (t) => {
  const mp3 = await run('elevenlabs-streaming', process.execPath, ['stream.mjs', 'A short sentence.']);
  t.ok(mp3.length > 4000, `${mp3.length} bytes`);
  t.equal(mp3[0], 0xff, 'MP3 frames');
});

t.test('agent-with-tool', async (t) => {
  model.answer((messages) => {
    const found = toolSaid(messages);
    if (found) return `Order 17 is ${JSON.parse(found).order}.`;
    return { calls: { Look_up_an_order: { order_id: '17' } } };
  });
  const printed = String(
    await run('agent-with-tool', process.execPath, ['agent.mjs', 'When is order 17 ready?'], { TOOL_PORT }),
  );
  t.match(printed, /tool: .*17/);
  t.match(printed, /agent: Order 17 is ready on Tuesday at nine\./);
});

t.test('web-call', { skip: skipReason('chromium') }, async (t) => {
  model.answer(() => 'We open at nine.');
  const agent = await makeAgent(client(gateway.base), {
    config: { prompt: { first_message_mode: 'fixed', first_message: 'Hello, this is the bakery.' } },
  });
  const server = start('web-call', process.execPath, ['server.mjs'], { AGENT: agent, PORT: '0' });
  t.teardown(() => server.kill());
  let printed = '';
  server.stdout.on('data', (chunk) => (printed += chunk));
  const address = await until('the page is served', () => /http:\S+/.exec(printed)?.[0]);
  const browser = await startBrowser(gateway, { before: 5, text: 'When do you open?', after: 30 });
  t.teardown(() => browser.stop());
  const { page, complaints } = await browser.open(address);
  await page.click('#call');
  await page.waitForFunction(() => /agent: Hello, this is the bakery\./.test(document.body.innerText));
  await page.waitForFunction(() => /agent: We open at nine\./.test(document.body.innerText));
  await page.click('#hang-up');
  await page.waitForFunction(() => /over: user_hangup/.test(document.body.innerText));
  t.strictSame(complaints, []);

  await page.route('**/session', (route) => route.fulfill({ status: 503, body: 'not now' }));
  await page.click('#call');
  await page.waitForFunction(() => /503: not now/.test(document.querySelector('#state').textContent));
  await page.waitForFunction(() => !document.querySelector('#call').disabled);
  t.ok(await page.locator('#hang-up').isDisabled(), 'a call that could not begin leaves nothing to hang up');
});
