/**
 * Verifying post-call events: the SDK's `verifyWebhook`, and the code on docs/webhooks.md, which is taken from the page and run. Go's is
 * compiled in the long form.
 */
import { spawnSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import t from '../../dist/test/fixtures/tap.js';
import { verifyWebhook } from '../../client/dist/index.js';
import { externalTool, skipReason } from '../../dist/test/fixtures/external.js';
import { shortOrLong } from '../../dist/test/fixtures/long.js';

const SECRET = 'a sécret';
const BODY = '{"event":"call.ended","event_id":"evt_1","session":{"agent_name":"Bäckerei 🥐"}}';

const signed = (body, secret, seconds) =>
  createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex');
const headerOf = (seconds = Math.floor(Date.now() / 1000), secret = SECRET, body = BODY) =>
  `t=${seconds},v1=${signed(body, secret, seconds)}`;
const now = () => Math.floor(Date.now() / 1000);

/** Name → body, header, secret: those that are refused, and those that are taken, now. */
const refused = () => ({
  'another body': [BODY.replace('evt_1', 'evt_2'), headerOf(), SECRET],
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
  'as it is sent': [BODY, headerOf(), SECRET],
  'with elements that are not known': [BODY, `${headerOf()},v2=00`, SECRET],
  'some minutes old': [BODY, headerOf(now() - 200), SECRET],
});

const page = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8');
const codeIn = (language) => new RegExp(`\`\`\`${language}\n([^]*?)\n\`\`\``).exec(page)[1];
const folder = mkdtempSync(join(process.env.TEST_FOLDER || tmpdir(), 'webhooks-'));
t.teardown(() => rmSync(folder, { recursive: true, force: true }));
const written = (name, text) => {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
};

t.test('the SDK takes what the gateway has signed, and nothing else', async (t) => {
  for (const [name, [body, signature, secret]] of Object.entries(taken())) {
    t.match(await verifyWebhook({ body, signature, secret }), { event_id: 'evt_1' }, name);
    t.match(
      await verifyWebhook({ body: Buffer.from(body), signature, secret: ['new', secret] }),
      { event_id: 'evt_1' },
      name,
    );
  }
  const codes = {};
  for (const [name, [body, signature, secret]] of Object.entries(refused()))
    codes[name] = await verifyWebhook({ body, signature, secret }).then(
      () => 'taken',
      (error) => `${error.name} ${error.code}`,
    );
  t.strictSame(codes, {
    'another body': 'WebhookError signature_wrong',
    'another secret': 'WebhookError signature_wrong',
    'a time that was changed': 'WebhookError signature_wrong',
    'an old request': 'WebhookError too_old',
    'a request from the future': 'WebhookError too_old',
    'half a signature': 'WebhookError signature_missing',
    'no signature': 'WebhookError signature_missing',
    'another scheme': 'WebhookError signature_missing',
    'no time': 'WebhookError signature_missing',
  });
  const text = 'no event';
  await t.rejects(verifyWebhook({ body: text, signature: headerOf(now(), SECRET, text), secret: SECRET }), {
    code: /^not_an_event$/,
  });
  const then = 1_700_000_000;
  const old = { body: BODY, signature: headerOf(then), secret: SECRET };
  t.match(await verifyWebhook({ ...old, now: then * 1000 + 5000, toleranceSeconds: 5 }), {
    event_id: 'evt_1',
  });
  await t.rejects(verifyWebhook({ ...old, now: then * 1000 + 5001, toleranceSeconds: 5 }), {
    code: /^too_old$/,
  });
});

t.test('the page’s code in JavaScript does', async (t) => {
  const { verify } = await import(pathToFileURL(written('verify.mjs', codeIn('js'))).href);
  for (const [name, [body, header, secret]] of Object.entries(taken()))
    t.match(verify(Buffer.from(body), header, secret), { event_id: 'evt_1' }, name);
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

t.test('the page’s code in Python does', { skip: skipReason('python3') }, async (t) => {
  const program = `${codeIn('python')}

import sys
def takes(case):
    try:
        return verify(case[0].encode(), case[1], case[2])["event_id"] == "evt_1"
    except ValueError:
        return False
print(json.dumps([takes(case) for case in json.load(sys.stdin)]))
`;
  const path = written('verify.py', program);
  t.strictSame(
    verdicts(externalTool('python3'), [path], { env: { ...process.env, PYTHONIOENCODING: 'utf-8' } }),
    EXPECTED,
  );
});

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
if (shortOrLong(false, true)) t.test('the page’s code in Go does', { skip: skipReason('go') }, inGo);
