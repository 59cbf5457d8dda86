/**
 * Verifying post-call events that a gateway has delivered: by the SDK's `verifyWebhook`, and by the code on docs/webhooks.md, which is
 * taken from the page and run. Python's and Go's are run in the long form.
 */
import { spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { exactly, rejectsExactly } from '../../dist/test/fixtures/exactly.js';
import t from '../../dist/test/fixtures/tap.js';
import { verifyWebhook } from '../../client/dist/index.js';
import { client, makeAgent } from '../../dist/test/fixtures/platform/agents.js';
import { externalTool, skipReason } from '../../dist/test/fixtures/external.js';
import { shortOrLong } from '../../dist/test/fixtures/long.js';
import { sharedPlatform } from '../../dist/test/fixtures/platform/platform.js';
import { startReceiver } from '../../dist/test/fixtures/platform/receiver.js';
import { until } from '../../dist/test/fixtures/until.js';

const SECRET = 'a sécret';

const { gateway, database, key } = await sharedPlatform(t, 'speech');

/** What a receiver got of a session that has ended, and of a webhook's test. */
async function delivered() {
  const call = client(gateway.base, key);
  const { url, seen } = await startReceiver(t);
  const config = { webhooks: { post_call: { url, secret: SECRET } } };
  const agent = await makeAgent(call, { name: 'Bäckerei 🥐', config });
  const { session_id: session } = (await call('sessions', { body: { agent_id: agent } })).body;
  await database.sql`update sessions set status = 'active', started_at = now() where id = ${session}`;
  await call(`sessions/${session}/end`, { method: 'POST' });
  await until('both events are there', () => seen.length === 2);
  await call(`agents/${agent}/webhooks/test`, { body: { url } });
  return seen.map(({ body, headers }) => ({ body, header: headers['x-svc-webhook-signature'] }));
}
const DELIVERED = await delivered();
const [{ body: BODY }] = DELIVERED;
const { event_id: EVENT_ID } = JSON.parse(BODY);

const signed = (body, secret, seconds) =>
  createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
const headerOf = (seconds = Math.floor(Date.now() / 1000), secret = SECRET, body = BODY) =>
  `t=${seconds},v1=${signed(body, secret, seconds)}`;
const now = () => Math.floor(Date.now() / 1000);

/** Name → body, header, secret: those that are refused, and those that are taken, now. */
const refused = () => ({
  'another body': [BODY.replace(EVENT_ID, 'evt_2'), headerOf(), SECRET],
  'one event under the signature of another': [BODY, DELIVERED[1].header, SECRET],
  'another secret': [BODY, headerOf(), 'another'],
  'a time that was changed': [BODY, headerOf(now() - 10).replace(/t=\d+/, `t=${now()}`), SECRET],
  'an old request': [BODY, headerOf(now() - 400), SECRET],
  'a request from the future': [BODY, headerOf(now() + 400), SECRET],
  'half a signature': [BODY, headerOf().slice(0, -2), SECRET],
  'no signature': [BODY, '', SECRET],
  'another scheme': [BODY, headerOf().replace('v1=', 'v2='), SECRET],
  'no time': [BODY, headerOf().replace(/t=\d+/, 't='), SECRET],
});
const taken = () => ({
  'call.ended as it came': [DELIVERED[0].body, DELIVERED[0].header, SECRET],
  'call.analyzed as it came': [DELIVERED[1].body, DELIVERED[1].header, SECRET],
  'a test as it came': [DELIVERED[2].body, DELIVERED[2].header, SECRET],
  'with elements that are not known': [BODY, `${headerOf()},v2=00`, SECRET],
  'some minutes old': [BODY, headerOf(now() - 200), SECRET],
});

/** Why each of those is refused. */
const CODES = {
  'another body': 'signature_wrong',
  'one event under the signature of another': 'signature_wrong',
  'another secret': 'signature_wrong',
  'a time that was changed': 'signature_wrong',
  'an old request': 'too_old',
  'a request from the future': 'too_old',
  'half a signature': 'signature_missing',
  'no signature': 'signature_missing',
  'another scheme': 'signature_missing',
  'no time': 'signature_missing',
};
const mapped = (object, change) =>
  Object.fromEntries(Object.entries(object).map(([key, value]) => [key, change(value)]));

const page = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8');
const codeIn = (language) => new RegExp(`\`\`\`${language}\n([^]*?)\n\`\`\``).exec(page)[1];
const folder = mkdtempSync(join(process.env.TEST_FOLDER || tmpdir(), 'webhooks-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
const written = (name, text) => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

t.test('this test signs as the gateway does, and so may make old requests', async (t) => {
  for (const { body, header } of DELIVERED)
    t.equal(headerOf(Number(/^t=(\d+)/.exec(header)[1]), SECRET, body), header);
});

t.test('the SDK takes what the gateway has signed, and nothing else', async (t) => {
  for (const [name, [body, signature, secret]] of Object.entries(taken())) {
    const event = JSON.parse(body);
    t.strictSame(await verifyWebhook({ body, signature, secret }), event, name);
    const bytes = Buffer.from(body);
    t.strictSame(await verifyWebhook({ body: bytes, signature, secret: ['new', secret] }), event, name);
  }
  const codes = {};
  for (const [name, [body, signature, secret]] of Object.entries(refused()))
    codes[name] = await verifyWebhook({ body, signature, secret }).then(
      () => 'taken',
      (error) => `${error.name} ${error.code}`,
    );
  t.strictSame(
    codes,
    mapped(CODES, (code) => `WebhookError ${code}`),
  );
  const text = 'no event';
  await rejectsExactly(
    t,
    verifyWebhook({ body: text, signature: headerOf(now(), SECRET, text), secret: SECRET }),
    {
      code: /^not_an_event$/,
    },
  );
  const then = 1_700_000_000;
  const old = { body: BODY, signature: headerOf(then), secret: SECRET };
  exactly(t, await verifyWebhook({ ...old, now: then * 1000 + 5000, toleranceSeconds: 5 }), {
    event_id: EVENT_ID,
  });
  await rejectsExactly(t, verifyWebhook({ ...old, now: then * 1000 + 5001, toleranceSeconds: 5 }), {
    code: /^too_old$/,
  });
});

t.test('the page’s code in JavaScript does', async (t) => {
  const { verify } = await import(pathToFileURL(written('verify.mjs', codeIn('js'))).href);
  for (const [name, [body, header, secret]] of Object.entries(taken()))
    t.strictSame(verify(Buffer.from(body), header, secret), JSON.parse(body), name);
  for (const [name, given] of Object.entries(refused())) t.throws(() => verify(...given), name);
  t.throws(() => verify(BODY, undefined, SECRET));
});

/** Whether the program took each of the cases, which it is given as JSON on its standard input. */
function verdicts(command, args, more = {}) {
  const input = JSON.stringify([...Object.values(taken()), ...Object.values(refused())]);
  const { stdout, stderr } = spawnSync(command, args, { input, encoding: 'utf8', cwd: folder, ...more });
  return stdout.trim() === '' ? stderr : JSON.parse(stdout);
}
const EXPECTED = [...Object.keys(taken()).map(() => true), ...Object.keys(refused()).map(() => false)];

/** A program that says of each case whether `verify`, which is defined before, takes it. */
const judging = (definition) => `${definition}

import json, sys
def takes(case):
    try:
        return verify(case[0].encode(), case[1], case[2]) == json.loads(case[0])
    except ValueError:
        return False
print(json.dumps([takes(case) for case in json.load(sys.stdin)]))
`;
const PYTHON = { env: { ...process.env, PYTHONIOENCODING: 'utf-8', PYTHONDONTWRITEBYTECODE: '1' } };
const inPython = (program) => verdicts(externalTool('python3'), [written('program.py', program)], PYTHON);

const inPagesPython = async (t) => t.strictSame(inPython(judging(codeIn('python'))), EXPECTED);

/** What it is made of needs nothing but the standard library; the whole package is tried in client-python.test.mjs. */
const inPackage = async (t) => {
  const folderOfIt = fileURLToPath(new URL('../../client/python/speech_gateway_client', import.meta.url));
  const imports = `import sys\nsys.path.insert(0, ${JSON.stringify(folderOfIt)})\nfrom webhooks import WebhookError, verify_webhook as verify`;
  t.strictSame(inPython(judging(imports)), EXPECTED);
  const codes = inPython(`${imports}
import json
cases = json.load(sys.stdin)
def code(case):
    try:
        verify(case[0].encode(), case[1], ["new", case[2]])
    except WebhookError as error:
        return error.code
print(json.dumps([code(case) for case in cases]))
`);
  t.strictSame(codes, [...Object.keys(taken()).map(() => null), ...Object.values(CODES)]);
};

const inGo = async (t) => {
  const code = codeIn('go')
    .replace('package webhook', 'package main')
    .replace('import (', 'import (\n\t"encoding/json"\n\t"os"');
  const program = `${code}

func main() {
	var cases [][3]string
	if err := json.NewDecoder(os.Stdin).Decode(&cases); err != nil {
		panic(err)
	}
	taken := []bool{}
	for _, one := range cases {
		taken = append(taken, Verify([]byte(one[0]), one[1], one[2]) == nil)
	}
	_ = json.NewEncoder(os.Stdout).Encode(taken)
}
`;
  const path = written('verify.go', program);
  const env = { ...process.env, GOCACHE: join(folder, 'cache'), GOTOOLCHAIN: 'local' };
  const built = join(folder, 'verify');
  const { status, stderr } = spawnSync(externalTool('go'), ['build', '-o', built, path], {
    env,
    encoding: 'utf8',
  });
  t.equal(status, 0, stderr);
  t.strictSame(verdicts(built, []), EXPECTED);
};
if (shortOrLong(false, true)) {
  t.test('the page’s code in Python does', { skip: skipReason('python3') }, inPagesPython);
  t.test('the Python package does, with the codes of the SDK', { skip: skipReason('python3') }, inPackage);
  t.test('the page’s code in Go does', { skip: skipReason('go') }, inGo);
}
