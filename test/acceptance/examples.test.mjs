/**
 * Each program of examples/ as a user runs it, against a real gateway: in a copy of the folder, with the packages that it
 * asks for. Python's runs where the machine has its openai package. The engines are the exact, light ones: what is tried are
 * the programs.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { exactly } from '../../dist/test/fixtures/exactly.js';
import t from '../../dist/test/fixtures/tap.js';
import { client, makeAgent } from '../../dist/test/fixtures/platform/agents.js';
import { skipReason } from '../../dist/test/fixtures/external.js';
import { sharedGateway, startGateway, TEST_KEY } from '../../dist/test/fixtures/gateway.js';
import { said, startModel, toolSaid } from '../../dist/test/fixtures/chat/model.js';
import { until } from '../../dist/test/fixtures/until.js';
import { startBrowser } from './browser.mjs';
import { temporaryFolder } from '../../dist/test/fixtures/folders.js';

const ROOT = new URL('../../', import.meta.url);
const here = (path) => fileURLToPath(new URL(path, import.meta.url));

const model = await startModel();
const gateway = await startGateway({
  LLM_BASE_URL: model.url,
  LLM_MODEL: 'test',
  OUTBOUND_ALLOW: '127.0.0.1',
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

/** How a program ended, and what it printed. */
async function ended(child) {
  const chunks = [];
  let stderr = '';
  child.stdout.on('data', (chunk) => chunks.push(chunk));
  child.stderr.on('data', (chunk) => (stderr += chunk));
  const [code] = await once(child, 'close');
  return { code, stderr, stdout: Buffer.concat(chunks) };
}

/** The output of an example, once it has ended well. */
async function run(example, command, args, env) {
  const { code, stderr, stdout } = await ended(start(example, command, args, env));
  if (code !== 0) throw new Error(`${example} ended with ${code}: ${stderr}`);
  return stdout;
}

const node = (example, args, env) => run(example, process.execPath, args, env).then(String);

/** An example that goes on until it is killed: the address that it prints, and its whole output so far. */
async function served(t, example, command, args, env) {
  const child = start(example, command, args, { PORT: '0', ...env });
  t.teardown(() => child.kill());
  let printed = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (printed += chunk));
  const address = await until('the page is served', () => {
    if (child.exitCode !== null) throw new Error(`${example} ended with ${child.exitCode}: ${printed}`);
    return /http:\S+/.exec(printed)?.[0];
  });
  return { address, printed: () => printed };
}

const api = client(gateway.base);
const named = async (plural, name) =>
  (await api(`${plural}?search=${encodeURIComponent(name)}`)).body[plural].find((one) => one.name === name);

const words = (text) =>
  String(text)
    .toLowerCase()
    .match(/[a-z]+/g) ?? [];
const SPOKEN = words('The weather is nice today.');

/** A WAV file of what the text sounds like. */
async function speech(text) {
  const response = await fetch(`${gateway.base}/v1/tts`, {
    method: 'POST',
    headers: { ...gateway.authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ text, format: 'wav', sample_rate: 16_000 }),
  });
  return Buffer.from(await response.arrayBuffer());
}

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
  const printed = await node('speak-and-transcribe', ['openai.mjs']);
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
  await writeFile(join(folder, 'speech.wav'), await speech('The weather is nice today.'));
  const printed = await node('realtime-transcription', ['transcribe.mjs', join(folder, 'speech.wav')]);
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
  const printed = await node('agent-with-tool', ['agent.mjs', 'When is order 17 ready?']);
  t.match(printed, /tool: .*17/);
  t.match(printed, /agent: .*Order 17 is ready on Tuesday at nine\./);
});

t.test('support-line: answers from its text, books, and refuses a boat that is taken', async (t) => {
  const order = { boat: 'electric boat', day: 'Sunday', time: '10', name: 'Ada' };
  model.answer((messages) => {
    const result = toolSaid(messages);
    if (result) {
      const { booked, reason } = JSON.parse(result);
      return booked ? 'It is booked.' : `I am sorry. ${reason}.`;
    }
    if (/Please book/.test(said(messages))) return { calls: { Book_a_boat: order } };
    return 'Dogs are welcome in rowing boats.';
  });
  const printed = await node('support-line', [
    ...['support-line.mjs', 'May I bring my dogs?', 'Please book an electric boat.', 'Please book it again.'],
  ]);
  t.match(printed, /agent: .*Dogs are welcome in rowing boats\./);
  t.match(printed, /booking: {"booked":true,"number":1,"boat":"electric boat"/);
  t.match(printed, /agent: .*It is booked\./);
  t.match(printed, /agent: .*I am sorry\. The electric boat is taken on Sunday at 10\./);

  const { address } = await served(t, 'support-line', process.execPath, ['support-line.mjs']);
  t.match(await (await fetch(address)).text(), /<title>Call/);
  const { agent_id: agent } = await named('agents', 'Boat hire support');
  const found = await api(`agents/${agent}/knowledge/search`, { body: { query: 'May I bring my dogs?' } });
  t.match(
    found.body.passages[0]?.text,
    /Dogs are welcome in rowing boats/,
    'it is in what the model is given',
  );
  const session = await fetch(`${address}/session`, { method: 'POST' });
  t.equal(session.status, 201);
  t.equal((await api(`agents/${agent}/versions/2`)).status, 200, 'a second run changes the same agent');
  t.equal((await api('tools?search=Book+a+boat')).body.tools.length, 1);
});

t.test('receptionist: hands a call over', async (t) => {
  await node('receptionist', ['receptionist.mjs'], {
    ...{ DESK: '+493012345679', PHONE_NUMBER: '+493012345678' },
    CREDENTIALS: '{"auth_token": "a", "account_sid": "AC1"}',
  }).then((printed) => t.match(printed, /Enter this address at twilio.*\/v1\/phone\/twilio\/answer\//));
  const { agent_id: reception } = await named('agents', 'Reception');
  exactly(t, (await api(`agents/${reception}/config`)).body.conversation.transfer_destinations, [
    { label: 'The manager', phone_number: '+493012345679', mode: 'warm' },
  ]);
  const { body } = await api('phone-numbers');
  exactly(t, body.phone_numbers, [
    { phone_number: '+493012345678', agent_id: reception, places_calls: true },
  ]);

  const { agent_id: orders } = await named('agents', 'Orders');
  model.answer((messages) => {
    if (/You take orders/.test(messages[0].content)) return 'What is the number of the order?';
    return { calls: { transfer_to_agent: { agent_id: orders, note: 'wants to change an order' } } };
  });
  const printed = await node('receptionist', ['receptionist.mjs', 'I want to change my order.']);
  t.match(printed, /tool: transfer_to_agent/);
  t.match(printed, /now with: Orders/);
  t.match(printed, /agent: .*What is the number of the order\?/, 'a busy machine says something first');
});

t.test('batch-transcriber: what is there is not done again, what fails is told', async (t) => {
  const recordings = join(folder, 'recordings');
  await mkdir(recordings);
  for (const text of ['The first one.', 'The second one.'])
    await writeFile(join(recordings, `${words(text)[1]}.wav`), await speech(text));
  await writeFile(join(recordings, 'broken.mp3'), 'no audio');
  await writeFile(join(recordings, 'notes.md'), 'no recording');
  const transcribed = (format) =>
    ended(start('batch-transcriber', process.execPath, ['transcribe.mjs', recordings, format]));
  const first = await transcribed('txt');
  t.match(String(first.stdout), /^3 recordings, 3 to transcribe\n/);
  t.match(first.stderr, /^broken\.mp3: 400 /);
  t.equal(first.code, 1);
  t.strictSame(words(await readFile(join(recordings, 'first.txt'))), ['the', 'first', 'one']);
  t.strictSame(words(await readFile(join(recordings, 'second.txt'))), ['the', 'second', 'one']);
  t.match(String((await transcribed('txt')).stdout), /^3 recordings, 1 to transcribe\n$/);
  await transcribed('srt');
  t.match(await readFile(join(recordings, 'first.srt'), 'utf8'), /^1\n00:00:0\d,\d{3} --> /);
  t.strictSame(
    (await readdir(recordings)).filter((name) => name.endsWith('.part')),
    [],
  );
});

t.test('python-backend: sessions, and events that are signed', { skip: skipReason('python3') }, async (t) => {
  const { address, printed } = await served(t, 'python-backend', 'python3', ['backend.py']);
  t.match(await (await fetch(address)).text(), /<title>Call/);
  t.equal((await fetch(`${address}/sdk/index.js`)).status, 200);
  t.equal((await fetch(`${address}/sdk/..%2f..%2fdata`)).status, 404);
  const made = await fetch(`${address}/session`, { method: 'POST' });
  t.equal(made.status, 201);
  const { session_id: session } = await made.json();
  exactly(t, (await api(`sessions/${session}`)).body, {
    end_user_id: 'visitor-1',
    metadata: { page: 'example' },
  });

  const { agent_id: agent } = await named('agents', 'Bakery behind Python');
  const { url } = (await api(`agents/${agent}/config`)).body.webhooks.post_call[0];
  exactly(t, (await api(`agents/${agent}/webhooks/test`, { body: { url } })).body, {
    ok: true,
    status_code: 204,
  });
  await until('the event is printed', () => /event: call\.ended/.test(printed()));
  const headers = { 'x-svc-webhook-signature': `t=${Math.floor(Date.now() / 1000)},v1=00` };
  const forged = await fetch(url, { method: 'POST', headers, body: '{"event_id":"evt_1"}' });
  t.equal(forged.status, 401);
});

t.test('web-call', { skip: skipReason('chromium') }, async (t) => {
  model.answer(() => 'We open at nine.');
  const agent = await makeAgent(api, {
    config: { prompt: { first_message_mode: 'fixed', first_message: 'Hello, this is the bakery.' } },
  });
  const { address } = await served(t, 'web-call', process.execPath, ['server.mjs'], { AGENT: agent });
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

t.test('web-call without AGENT: an agent is made', async (t) => {
  const { address } = await served(t, 'web-call', process.execPath, ['server.mjs']);
  t.equal((await fetch(`${address}/session`, { method: 'POST' })).status, 201);
  t.match((await named('agents', 'Bakery')).publication_state, /^live$/);
});

t.test('widget', { skip: skipReason('chromium') }, async (t) => {
  model.answer(() => 'We open at nine.');
  const { address } = await served(t, 'widget', process.execPath, ['server.mjs']);
  const browser = await startBrowser(gateway, { before: 5, text: 'When do you open?', after: 30 });
  t.teardown(() => browser.stop());
  const { page, complaints } = await browser.open(address, 'Bakery');
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  const button = (name) => page.getByRole('button', { name, exact: true });
  await button('Talk to us').click();
  await button('Start call').click();
  await page.getByText('You will talk to a computer.').waitFor();
  await button('Agree and start').click();
  await page.getByText('The bakery: Hello, this is the bakery.').waitFor();
  await page.getByText('The bakery: We open at nine.').waitFor();
  await button('End call').click();
  await page.getByText('You have ended the call.').waitFor();
  t.strictSame(complaints, []);
});

t.test('dictation', { skip: skipReason('chromium') }, async (t) => {
  const { address } = await served(t, 'dictation', process.execPath, ['server.mjs']);
  const browser = await startBrowser(gateway, { before: 3, text: 'Dear Ada, thank you.', after: 30 });
  t.teardown(() => browser.stop());
  const { page, complaints } = await browser.open(address);
  await page.click('#start');
  await page.waitForFunction(() => /Dear Ada, thank you\./.test(document.querySelector('#text').value));
  await page.click('#finish');
  await page.waitForFunction(() => document.querySelector('#state').textContent === 'off');
  t.ok(await page.locator('#start').isEnabled());
  t.strictSame(complaints, []);
});

/** What is missing → what a program says, and ends with. */
t.test('what is missing is told in a line', async (t) => {
  const says = async (example, args, env, line) => {
    const { code, stderr } = await ended(start(example, process.execPath, args, env));
    t.equal(stderr.trim(), line);
    t.equal(code, 1);
  };
  const script = ['realtime-transcription', ['transcribe.mjs', 'none.wav']];
  await says(
    ...script,
    { KEY: '' },
    'Set KEY to an API key. A gateway prints its first one, and keeps it in data/api-key.',
  );
  await says(
    ...script,
    { KEY: 'another' },
    `The gateway at ${gateway.base} does not know this key: set KEY to one of its own.`,
  );
  await says(
    ...script,
    { GATEWAY: 'http://127.0.0.1:9' },
    'No gateway answers at http://127.0.0.1:9. Run npm start at the top of the repository, or set GATEWAY.',
  );
  const { base } = await sharedGateway(t, 'tones');
  await says(
    ...['agent-with-tool', ['agent.mjs'], { GATEWAY: base }],
    'The gateway may not call this machine. Start it with OUTBOUND_ALLOW=127.0.0.1 npm start',
  );
  await says(
    ...['widget', ['server.mjs'], { GATEWAY: 'http://127.0.0.1:9' }],
    'No gateway answers at http://127.0.0.1:9. Run npm start at the top of the repository, or set GATEWAY.',
  );
  await rm(join(folder, 'examples', 'node_modules'), { recursive: true });
  await rm(join(folder, 'node_modules'));
  await says(...script, {}, 'The package ws is missing: run npm install in the folder examples.');
  await rm(join(folder, 'client'));
  const sdk = 'import("../gateway.mjs").then(({ load }) => load("../client/dist/index.js"))';
  await says(
    ...['support-line', ['-e', sdk], {}],
    '../client/dist/index.js is missing: npm start at the top of the repository builds it.',
  );
});
