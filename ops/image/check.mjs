/**
 * `node ops/image/check.mjs`: the image as an operator meets it. Builds it, stores and loads it (what a registry does to it), starts
 * it on a read-only root without capabilities, speaks, hears what was spoken, makes a call (call.mjs), stops; again as any user of the
 * group 0; then with too little memory, where it must say so, and must not claim to be ready while it hears nothing. Asks from inside
 * of the container, so it needs no port.
 *   ENGINE=podman   another engine than docker
 *   IMAGE=NAME      an image that is built already
 */
import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { inRoot, ROOT } from '../setup/paths.mjs';

const { ENGINE = 'docker', IMAGE = '' } = process.env;
const NAME = 'speech-gateway-check';
const READY_SECONDS = 120;
const SPOKEN = 'The quick brown fox jumps over the lazy dog.';
/** Most words of it are heard again. */
const HEARD = ['quick', 'brown', 'fox', 'lazy', 'dog'];

/** Seconds of the agent's voice in a call: a greeting, and an answer without a language model. */
const LEAST_HEARD = 2;

/** As whom it is started, and what each limit of memory promises. A user of a number that no image knows is OpenShift's. */
const STARTS = [
  { memory: '768m', works: true },
  { memory: '768m', user: '12345:0', works: true },
  { memory: '512m', works: false },
  { memory: '384m', works: false },
];

// Podman's monitor leaves a file `oom` in the folder that it was started in.
const OPTIONS = { cwd: os.tmpdir(), encoding: 'utf8', maxBuffer: 1e8 };
const engine = (...args) => execFileSync(ENGINE, args, OPTIONS);
const quietly = (...args) => spawnSync(ENGINE, args, OPTIONS);
const say = (text) => console.log(`image: ${text}`);

/** Runs `code`, the body of an async function, in the container. Returns what it returns. */
function inside(code) {
  const program = `(async () => { ${code} })().then((value) => process.stdout.write(JSON.stringify(value ?? null)))`;
  return JSON.parse(engine('exec', NAME, 'node', '--eval', program));
}

const ASK = `
  const key = require('fs').readFileSync('/data/api-key', 'utf8').trim();
  const post = (route, body, type) => fetch('http://127.0.0.1:8080' + route, {
    method: 'POST', body, headers: { authorization: 'Bearer ' + key, ...(type && { 'content-type': type }) } });`;

/** Speaks and hears; returns the words, or the status of the request that failed. */
const talk = () =>
  inside(`${ASK}
    const spoken = await post('/v1/tts', JSON.stringify({ text: ${JSON.stringify(SPOKEN)}, format: 'wav' }), 'application/json');
    if (!spoken.ok) return { failed: 'speech', status: spoken.status };
    const form = new FormData();
    form.set('audio', new Blob([await spoken.arrayBuffer()]), 'audio.wav');
    const heard = await post('/v1/asr', form);
    return heard.ok ? { text: (await heard.json()).text } : { failed: 'transcription', status: heard.status };`);

const health = () =>
  inside(`const answer = await fetch('http://127.0.0.1:8080/health').catch(() => undefined);
    return answer ? answer.status : 0;`);

const isRunning = () => engine('inspect', '--format', '{{.State.Status}}', NAME).trim() === 'running';

function start(image, { memory, user }) {
  quietly('rm', '--force', '--volumes', NAME);
  const limits = ['--memory', memory, '--read-only', '--tmpfs', '/tmp', '--cap-drop', 'ALL', '--init'];
  const as = user ? ['--user', user] : [];
  engine('run', '--detach', '--name', NAME, ...limits, ...as, '--env', 'LOG_FORMAT=json', image);
}

/** A call from a second container on the network of the first, whose memory is its own. */
function call(image) {
  const key = engine('exec', NAME, 'cat', '/data/api-key').trim();
  const beside = ['--rm', '--interactive', '--network', `container:${NAME}`];
  const input = fs.readFileSync(inRoot('ops', 'image', 'call.mjs'));
  const program = ['node', '--input-type=module', '-', key];
  const options = { input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'inherit'] };
  return JSON.parse(execFileSync(ENGINE, ['run', ...beside, image, ...program], options));
}

/** Seconds until it is ready; undefined: it ended, or took too long. */
async function ready() {
  const from = Date.now();
  while (isRunning() && Date.now() - from < READY_SECONDS * 1000) {
    try {
      if (health() === 200) return (Date.now() - from) / 1000;
    } catch {
      // The container has just ended, or its engine is not done with it.
    }
    await pause(500);
  }
  return undefined;
}

const lines = () => {
  const { stdout, stderr } = quietly('logs', NAME);
  return stdout + stderr;
};

function stop() {
  const from = Date.now();
  engine('stop', '--time', '60', NAME);
  const code = engine('inspect', '--format', '{{.State.ExitCode}}', NAME).trim();
  return { code, seconds: (Date.now() - from) / 1000 };
}

function expect(is, what) {
  if (!is) throw new Error(`${what}\n${lines().split('\n').slice(-15).join('\n')}`);
}

/** A call was heard, understood, answered and recorded. */
function checkCall({ heard, reason, items }, memory) {
  const understood = items.some(({ role, content }) => role === 'user' && /saturday/i.test(content));
  const told = JSON.stringify({ heard, reason, items });
  expect(
    heard.seconds > LEAST_HEARD && understood && reason === 'hangup',
    `${memory}: the call came to ${told}`,
  );
}

/** It works: ready, spoken, heard, called, stopped. */
async function works({ memory, user = '1000:0' }, image) {
  const seconds = await ready();
  expect(seconds !== undefined, `${memory}: it is not ready`);
  const said = talk();
  const words = HEARD.filter((word) => said.text?.toLowerCase().includes(word));
  expect(words.length >= 3, `${memory}: it heard ${JSON.stringify(said)}`);
  const authorities = inside(
    `return require('fs').readFileSync('/etc/ssl/certs/ca-certificates.crt', 'utf8').split('BEGIN').length - 1`,
  );
  expect(authorities > 50, `${memory}: it trusts ${authorities} authorities`);
  checkCall(call(image), memory);
  expect(!lines().includes('uWS.HttpResponse'), `${memory}: a write outside of a cork`);
  const { code, seconds: took } = stop();
  expect(code === '0', `${memory}: it ended with ${code}`);
  const times = `ready after ${seconds.toFixed(1)} s, stopped in ${took.toFixed(1)} s`;
  say(`${memory} as ${user}: ${times}, heard "${said.text}", called`);
}

/** Too little memory: it says so; and either it works all the same, or it ends, or it is not ready. */
async function isHonest({ memory }) {
  const seconds = await ready();
  expect(lines().includes('MiB of memory'), `${memory}: no warning`);
  if (seconds === undefined) return say(`${memory}: warned, and did not get ready`);
  let said;
  for (let tries = 0; tries < 6 && said?.text === undefined; tries += 1) {
    if (!isRunning()) return say(`${memory}: warned, and ended`);
    said = talk();
  }
  const status = health();
  expect(
    said.text !== undefined || status !== 200,
    `${memory}: ready, and hears nothing (${JSON.stringify(said)})`,
  );
  say(`${memory}: warned; ${JSON.stringify(said)}, health ${status}`);
}

/** The image as it comes out of storage: times of files are then whole seconds. */
function stored(image) {
  const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'image-')), 'image.tar');
  try {
    engine('save', '--output', file, image);
    say(`${(fs.statSync(file).size / 1e6).toFixed(0)} MB as an archive`);
    engine('rmi', '--force', image);
    engine('load', '--input', file);
  } finally {
    fs.rmSync(path.dirname(file), { recursive: true });
  }
}

try {
  const image = IMAGE || NAME;
  if (!IMAGE) execFileSync(ENGINE, ['build', '--tag', image, ROOT], { stdio: 'inherit' });
  stored(image);
  for (const each of STARTS) {
    start(image, each);
    await (each.works ? works(each, image) : isHonest(each));
  }
  say('all is well');
} catch (error) {
  console.error(`image: ${error.message}`);
  process.exitCode = 1;
} finally {
  quietly('rm', '--force', '--volumes', NAME);
}
