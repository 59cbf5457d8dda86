/**
 * The npm package, installed as people install it: by an ordinary user with an empty home and an empty cache, on each version of Node. It
 * speaks, hears and holds a call; so it does on the data of the commit before, and where somebody else has installed it. All of it is
 * fetched anew, which takes minutes: the short form of these tests is package.test.ts.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import t from '../../fixtures/tap.js';
import { letGo } from '../../fixtures/calls/caller.js';
import { shownBy, Talks } from '../../fixtures/conversation/conversation.js';
import { exactly } from '../../fixtures/exactly.js';
import { folderOf } from '../../fixtures/folders.js';
import { EMBEDDED_POSTGRES, TEST_KEY } from '../../fixtures/gateway.js';
import { builtAt, hasCommit, ROOT, startCheckout } from '../../fixtures/ops/checkouts.js';
import {
  giveToUser,
  installed,
  type InstallOptions,
  packed,
  type Started,
} from '../../fixtures/ops/installed-package.js';
import { shortOrLong } from '../../fixtures/long.js';
import { startModel } from '../../fixtures/chat/model.js';
import { until } from '../../fixtures/until.js';

t.setTimeout(3_600_000);
t.teardown(letGo);

const ONLY_LONG = shortOrLong<string | false>('npm run test:long installs it, which takes minutes', false);
const WORDS = 'Your appointment is confirmed for Tuesday.';
const HEARD = /appointment is confirmed/i;
const SETTINGS = {
  ...{ HOST: '127.0.0.1', PORT: '0', MEDIA_UDP_PORT: '0', MEDIA_HOST: '127.0.0.1' },
  ...{ DRAIN_ANNOUNCE_SECONDS: '0', API_KEY: TEST_KEY },
};
const AUTHORIZATION = { authorization: `Bearer ${TEST_KEY}` };

/** What npm would make of `overrides`, and a package that reports installations. */
const UNWANTED = ['werift', 'rxjs', '@scarf/scarf', 'esbuild'];

/** Other versions of Node, out of npm (test/acceptance/package.json). */
const nodeOf = (version: string): string =>
  join(ROOT, `test/acceptance/node_modules/node-${version}-${process.platform}-${process.arch}/bin/node`);
const VERSIONS: Readonly<Record<string, string>> = {
  [process.versions.node.split('.')[0] ?? '']: process.execPath,
  22: nodeOf('22'),
  24: nodeOf('24'),
};

async function post(base: string, path: string, body: string | FormData, type?: string): Promise<Response> {
  const headers = { ...AUTHORIZATION, ...(type !== undefined && { 'content-type': type }) };
  const response = await fetch(base + path, { method: 'POST', body, headers });
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response;
}

/** It speaks, and understands itself. */
async function speaksAndHears(t: Test, { base }: Started): Promise<void> {
  const spoken = await post(base, '/v1/tts', JSON.stringify({ text: WORDS }), 'application/json');
  const form = new FormData();
  form.set('audio', new Blob([await spoken.arrayBuffer()]), 'speech.mp3');
  const { text } = (await (await post(base, '/v1/asr', form)).json()) as { text: string };
  t.match(text, HEARD);
}

/** A caller talks with an agent, whose model is the test's. */
async function holdsACall(started: Started, model: Awaited<ReturnType<typeof startModel>>): Promise<void> {
  const gateway = { ...started, authorization: AUTHORIZATION } as unknown as ConstructorParameters<
    typeof Talks
  >[0];
  const talks = new Talks(gateway, model);
  const meeting = await talks.meet({
    prompt: { first_message_mode: 'fixed', first_message: 'Hello there.' },
  });
  await meeting.caller.untilHeard(0);
  model.answer(() => 'Then we shall see you on Tuesday.');
  await talks.tell(meeting, WORDS, { heard: /appointment|confirmed|tuesday/i });
  await until('it is answered', () => shownBy(meeting.caller, 'agent').some((text) => /see you/.test(text)));
  meeting.caller.hangUp();
}

/** The words at the beginning of the lines that a start greets with. */
const labelsOf = (stdout: string): string[] =>
  [...stdout.matchAll(/^ {2}(\w+) {2,}/gm)].map(([, word = '']) => word);

const modulesIn = (folder: string): string[] =>
  readdirSync(join(folder, 'node_modules'), { recursive: true, encoding: 'utf8' });

async function tryOut(t: Test, tarball: string, options: InstallOptions): Promise<void> {
  const model = await startModel();
  t.teardown(() => model.stop());
  const { run, start, home, folder } = await installed(t, tarball, options);
  exactly(t, await run('--version'), { code: 0, out: /^\d+\.\d+\.\d+\n$/ });
  const first = await start({ ...SETTINGS, LLM_BASE_URL: model.url });
  t.strictSame(labelsOf(first.stdout()), ['open', 'address', 'key', 'calls', 'memory', 'try']);
  await speaksAndHears(t, first);
  await holdsACall(first, model);
  const keys = await run('keys', 'list');
  exactly(t, keys, { code: 0, out: /full/ }, keys.err);
  // Its own ports may be taken on this machine; settings are read in the working folder.
  writeFileSync(join(home, '.env'), 'PORT=0\nMEDIA_UDP_PORT=0\n');
  const doctor = await run('doctor', '--json');
  t.equal(doctor.code, 0, doctor.out + doctor.err);
  t.equal(await first.stop(), 0);
  const second = await start(SETTINGS);
  t.notMatch(second.stderr(), /^setup:/m, 'nothing is left to be set up');
  t.equal(await second.stop(), 0);
  t.ok(existsSync(join(home, '.local/share/speech-gateway/data/postgres')));
  t.ok(existsSync(join(home, '.local/share/speech-gateway/models/moonshine')));
  const modules = modulesIn(folder);
  t.strictSame(
    UNWANTED.filter((name) => modules.includes(name)),
    [],
  );
}

const tarball = ONLY_LONG === false ? await packed(t) : '';
const skipOf = (node: string): string | false =>
  ONLY_LONG || (existsSync(node) ? false : `npm has no such Node for ${process.platform}-${process.arch}`);

for (const [version, node] of Object.entries(VERSIONS))
  t.test(`on Node ${version}, from an empty home`, { skip: skipOf(node) }, (t) =>
    tryOut(t, tarball, { node }),
  );

const notRoot = process.geteuid?.() === 0 ? false : 'only root can install what this user may not write to';

t.test(
  'installed by somebody else, in a folder that its user may not write to',
  { skip: ONLY_LONG || notRoot },
  (t) => tryOut(t, tarball, { byOthers: true }),
);

/** The commit before, if history has it. */
const BEFORE = 'HEAD~1';

/** Starts the checkout of that commit on a data folder, makes an agent there, and stops it. */
async function useCheckout(t: Test, dataDir: string): Promise<void> {
  const gateway = await startCheckout(t, builtAt(t, BEFORE), {
    ...EMBEDDED_POSTGRES,
    ...SETTINGS,
    DATA_DIR: dataDir,
  });
  const body = JSON.stringify({ name: 'From the checkout' });
  const headers = { ...AUTHORIZATION, 'content-type': 'application/json' };
  const made = await fetch(`${gateway.base}/v1/agent/agents`, { method: 'POST', headers, body });
  t.equal(made.status, 201, await made.text());
  await gateway.stop();
}

const NO_COMMIT = !hasCommit(BEFORE) && 'the history here has no commit before this one';

t.test(
  'it goes on with the data of a checkout of the commit before',
  { skip: ONLY_LONG || NO_COMMIT },
  async (t) => {
    const dataDir = join(folderOf(t), 'data');
    mkdirSync(dataDir);
    await useCheckout(t, dataDir);
    const { start, home } = await installed(t, tarball);
    giveToUser(dataDir);
    const started = await start({ ...SETTINGS, DATA_DIR: dataDir });
    const listed = await fetch(`${started.base}/v1/agent/agents`, { headers: AUTHORIZATION });
    t.match(await listed.text(), /From the checkout/);
    await speaksAndHears(t, started);
    t.equal(await started.stop(), 0);
    t.notOk(existsSync(join(home, '.local/share/speech-gateway/data')), 'DATA_DIR moves it');
    t.ok(readFileSync(join(dataDir, 'secrets-key')));
  },
);
