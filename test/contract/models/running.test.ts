/**
 * Models that are added to a running gateway and taken away from it: it speaks with them without a restart, in all of its processes, and what
 * runs when one is taken away goes on to its end.
 */
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Test } from 'tap';
import t from '../../fixtures/tap.js';
import { smallVoiceEntry } from '../../fixtures/engines/small-voice.js';
import { writeWhisper } from '../../fixtures/engines/small-recognisers.js';
import { addDenoiser, smallDenoiser } from '../../fixtures/engines/small-denoiser.js';
import { exactly } from '../../fixtures/exactly.js';
import { freePort } from '../../fixtures/free-port.js';
import { type Gateway, startGateway } from '../../fixtures/gateway.js';
import { commandFile, start } from '../../fixtures/models/catalogue.js';
import { ownModelsFolder, shelf } from '../../fixtures/models/running.js';
import { until } from '../../fixtures/until.js';

t.setTimeout(400_000);

const SENTENCE = 'Hello. Thank you for calling.';

const voicesOf = async ({
  base,
  authorization,
}: Gateway): Promise<readonly { _id: string; title: string }[]> => {
  const answer = await fetch(`${base}/model?page_size=100`, { headers: authorization });
  return ((await answer.json()) as { items: { _id: string; title: string }[] }).items;
};

const voiceOf = async (gateway: Gateway, title: string): Promise<string | undefined> =>
  (await voicesOf(gateway)).find((voice) => voice.title === title)?._id;

const speak = ({ base, authorization }: Gateway, text: string, voice: string): Promise<Response> =>
  fetch(`${base}/v1/tts`, {
    method: 'POST',
    headers: { ...authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ text, reference_id: voice, format: 'wav' }),
  });

/** Runs the command `models` with the settings of the gateway. */
async function models(t: Test, env: Readonly<Record<string, string>>, ...words: readonly string[]) {
  const before = { ...process.env };
  Object.assign(process.env, env);
  const { ended } = start(t, [commandFile('command.mjs'), ...words]);
  process.env = before;
  const { code, out, err } = await ended;
  t.equal(code, 0, err);
  return out;
}

/** The roles of the children that the gateway uses. */
async function rolesOf({ base, authorization }: Gateway): Promise<readonly string[]> {
  const metrics = await (await fetch(`${base}/metrics`, { headers: authorization })).text();
  return [...metrics.matchAll(/^gateway_child_connected\{role="([^"]+)"/gm)].map(([, role = '']) => role);
}

t.test('a voice that is added speaks, and one that is taken away ends what it says', async (t) => {
  const { modelsDir, env } = await shelf(t, (base) => [
    smallVoiceEntry('small', base),
    smallVoiceEntry('other', base),
  ]);
  const gateway = await startGateway({ ...env, TTS_ENGINES: '', LOG_LEVEL: 'info' });
  t.teardown(() => gateway.stop());
  t.equal(await voiceOf(gateway, 'small'), undefined);
  t.match(await models(t, env, 'add', 'small'), /A gateway that runs takes it up within seconds\./);
  const voice = await until('its voice is listed', () => voiceOf(gateway, 'small'));
  const spoken = await speak(gateway, SENTENCE, voice);
  t.equal(spoken.status, 200);
  t.ok((await spoken.arrayBuffer()).byteLength > 5 * 4000 * 2, 'each of its words');
  t.ok((await rolesOf(gateway)).includes('sherpa-tts'));

  await models(t, env, 'add', 'other');
  const other = await until('a second one is listed', () => voiceOf(gateway, 'other'));
  t.equal((await speak(gateway, SENTENCE, other)).status, 200);

  const long = await speak(gateway, 'Thank you for calling. '.repeat(400), voice);
  const reader = long.body!.getReader();
  let bytes = (await reader.read()).value!.length;
  t.match(await models(t, env, 'remove', 'small'), /removed, and its files go when running gateways/);
  await until('its voice is gone', async () => (await voiceOf(gateway, 'small')) === undefined);
  t.equal((await speak(gateway, SENTENCE, voice)).status, 400, 'no new work');
  t.equal((await speak(gateway, SENTENCE, other)).status, 200, 'the other one goes on');
  t.ok(existsSync(join(modelsDir, 'catalogue/small/model.onnx')), 'its files are still read');
  for (let read = await reader.read(); !read.done; read = await reader.read()) bytes += read.value.length;
  t.ok(bytes > 400 * 4 * 4000 * 2, 'what it said when it was taken away is said to the end');
  await until('its files are gone', () => !existsSync(join(modelsDir, 'catalogue/small')));

  exactly(t, await (await fetch(`${gateway.base}/health`)).json(), { status: 'ok' });
});

t.test('recognisers, ends of turns and noise reduction come and go alike', async (t) => {
  const modelsDir = ownModelsFolder(t);
  const gateway = await startGateway({ MODELS_DIR: modelsDir, TTS_ENGINES: 'tone', STT_ENGINES: '' });
  t.teardown(() => gateway.stop());
  const ear = join(modelsDir, 'catalogue/ear');
  /** What comes of French: 400 where nobody hears it. */
  const hear = async (): Promise<number> => {
    const form = new FormData();
    const speech = await speak(gateway, 'Hello', 'alloy');
    form.append('audio', new Blob([await speech.arrayBuffer()]), 'speech.wav');
    form.append('language', 'fr');
    const init = { method: 'POST', headers: gateway.authorization, body: form };
    const answer = await fetch(`${gateway.base}/v1/asr`, init);
    await answer.arrayBuffer();
    return answer.status;
  };
  t.equal(await hear(), 400, 'nobody hears French');
  mkdirSync(ear, { recursive: true });
  writeWhisper(ear);
  writeFileSync(join(ear, '.model.json'), JSON.stringify({ task: 'stt', added: '2026', languages: ['fr'] }));
  await until('French is heard', async () => (await hear()) === 200);
  addDenoiser(modelsDir, smallDenoiser(1));
  await until('noise is reduced', async () => (await rolesOf(gateway)).includes('denoise'));
  rmSync(join(modelsDir, 'catalogue'), { recursive: true });
  await until('nobody hears French any more', async () => (await hear()) === 400);
  await until(
    'their children have ended',
    async () => !(await rolesOf(gateway)).some((role) => role === 'denoise' || role === 'sherpa-stt'),
  );
});

t.test('all gateway processes of a machine take it up, and one that is started later', async (t) => {
  const { env } = await shelf(t);
  const gateway = await startGateway({
    ...{ ...env, TTS_ENGINES: '', WORKERS: '2', LOG_LEVEL: 'info' },
    PORT: String(await freePort()),
  });
  t.teardown(() => gateway.stop());
  await models(t, env, 'add', 'small');
  const isThere = async (): Promise<boolean> => {
    // Connections go to one process or the other.
    const found = await Promise.all(Array.from({ length: 12 }, () => voiceOf(gateway, 'small')));
    return found.every((voice) => voice !== undefined);
  };
  await until('all of them list it', isThere);
  const workers = [...gateway.stderr().matchAll(/"role":"gateway","index":\d+,"pid":(\d+)/g)];
  t.ok(workers.length >= 2, 'their process numbers are in the log');
  process.kill(Number(workers[0]![1]), 'SIGKILL');
  await until('one of them was started again', () =>
    /worker (exited|was killed), starting it again/.test(gateway.stderr()),
  );
  await until('all of them list it still', isThere);
  t.equal((await speak(gateway, SENTENCE, (await voiceOf(gateway, 'small'))!)).status, 200);
});

t.test('a model that cannot be used changes nothing, and the log says why', async (t) => {
  const modelsDir = ownModelsFolder(t);
  const gateway = await startGateway({ MODELS_DIR: modelsDir, TTS_ENGINES: '' });
  t.teardown(() => gateway.stop());
  const broken = join(modelsDir, 'catalogue/broken');
  mkdirSync(broken, { recursive: true });
  writeFileSync(join(broken, 'model.onnx'), 'no model');
  writeFileSync(join(broken, '.model.json'), JSON.stringify({ task: 'tts', added: '2026' }));
  await until('it is told', () => /holds no speaking model that is known/.test(gateway.stderr()));
  const voice = (await voicesOf(gateway))[0]!;
  t.equal((await speak(gateway, 'Hello', voice._id)).status, 200);
});
