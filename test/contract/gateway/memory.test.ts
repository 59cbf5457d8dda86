/**
 * What many large requests do to a gateway with the least memory budget (docs/operate/memory.md), on both stacks: bodies go to
 * disk, places are taken before bodies, and everything is given back.
 */
import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Test } from 'tap';
import t from '../../fixtures/tap.js';
import { startGateway, type Gateway } from '../../fixtures/gateway.js';
import { stacks } from '../../fixtures/edge/edge.js';
import { wavFile } from '../../fixtures/codecs/audio.js';
import { gauge } from '../../fixtures/native/live.js';
import { shortOrLong } from '../../fixtures/long.js';
import { until } from '../../fixtures/until.js';

const MIB = 1024 * 1024;
const BUDGET = 64 * MIB;
const PLACES = 50;
/** Bytes that each stalled upload sends. */
const SENT = shortOrLong(1, 10) * MIB;
const UPLOADS = 36;
const DECLARED = 130 * MIB;
/** A lawful file, at its limit in the long form. */
const LAWFUL = shortOrLong(8, 99) * MIB;

const FORM_START =
  '--BB\r\nContent-Disposition: form-data; name="audio"; filename="a.wav"\r\nContent-Type: audio/wav\r\n\r\n';

/** Where each dialect transcribes and speaks, and its key header. */
const ROUTES = ['/v1/asr', '/v1/audio/transcriptions', '/v1/tts', '/v1/audio/speech', '/v1/chat/completions'];

/** A client that declares a long body, sends some of it, and then nothing. */
class StalledUpload {
  readonly socket: Socket;
  reply = '';

  constructor({ base, authorization }: Gateway, path: string, bytes: number) {
    const { hostname, port } = new URL(base);
    this.socket = connect({ host: hostname, port: Number(port) });
    this.socket.setEncoding('latin1').on('data', (text: string) => (this.reply += text));
    this.socket.on('error', () => undefined);
    this.socket.write(
      `POST ${path} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: ${authorization.authorization}\r\n` +
        `Content-Type: multipart/form-data; boundary=BB\r\nContent-Length: ${DECLARED}\r\n\r\n${FORM_START}`,
    );
    if (bytes > 0) this.socket.write(Buffer.alloc(bytes, 1));
  }

  get status(): string | undefined {
    return /^HTTP\/1\.1 (\d+)/.exec(this.reply)?.[1];
  }
}

const spooled = ({ dataDir }: Gateway): readonly string[] => readdirSync(join(dataDir, 'spool'));

/** Bytes of all kinds that are charged. */
async function charged({ base }: Gateway): Promise<number> {
  const metrics = await (await fetch(`${base}/metrics`)).text();
  const readings = [...metrics.matchAll(/^gateway_memory_charged_bytes\{[^}]*\} (\d+)/gm)];
  if (readings.length === 0) throw new Error('no figures of memory');
  return readings.reduce((sum, [, bytes]) => sum + Number(bytes), 0);
}

async function speaks({ base, authorization }: Gateway): Promise<number> {
  const response = await fetch(`${base}/v1/tts`, {
    method: 'POST',
    headers: { ...authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ text: 'Still here.' }),
  });
  await response.arrayBuffer();
  return response.status;
}

async function stallsOfMany(t: Test, gateway: Gateway): Promise<void> {
  const uploads = Array.from({ length: UPLOADS }, () => new StalledUpload(gateway, '/v1/asr', SENT));
  await until(
    'all have arrived on disk',
    async () => (await gauge(gateway, 'spool_bytes')) >= UPLOADS * (SENT - MIB / 2),
  );
  await until('hardly anything is in memory', async () => (await charged(gateway)) < BUDGET / 4);
  t.equal(await speaks(gateway), 200, 'others are served');
  const more = Array.from({ length: PLACES - UPLOADS }, () => new StalledUpload(gateway, '/v1/asr', 0));
  await until('all places are taken', async () => (await gauge(gateway, 'speech_jobs_running')) === PLACES);
  for (const route of ROUTES) {
    const refused = new StalledUpload(gateway, route, 0);
    t.equal(await until(`${route} answers`, () => refused.status), '429', route);
    refused.socket.destroy();
  }
  for (const { socket } of [...uploads, ...more]) socket.destroy();
  await until('the places are free', async () => (await gauge(gateway, 'speech_jobs_running')) === 0);
  await until('the disk is free', () => spooled(gateway).length === 0);
  await until('the memory is free', async () => (await charged(gateway)) < MIB);
}

async function refusesAtOnce(t: Test, gateway: Gateway): Promise<void> {
  const upload = new StalledUpload(gateway, '/v1/asr', 4 * MIB);
  await until('it is on disk', async () => (await gauge(gateway, 'spool_bytes')) > 3 * MIB);
  upload.socket.write(`\r\n--BB\r\nContent-Disposition: form-data; name="x"\r\n\r\n${'x'.repeat(1.5 * MIB)}`);
  upload.socket.write('\r\n--BB\r\n');
  t.equal(await until('it is refused', () => upload.status), '413', upload.reply);
  await until('its bytes are gone while it sends on', () => spooled(gateway).length === 0);
  await until('so is what they landed in', async () => (await charged(gateway)) < MIB);
  upload.socket.destroy();
}

async function takesLawful(t: Test, { base, authorization }: Gateway): Promise<void> {
  const audio = Buffer.from(wavFile({ rate: 16_000, data: new Uint8Array(LAWFUL) }));
  const base64 = audio.subarray(0, Math.min(audio.length, 99 * MIB)).toString('base64');
  const form = new FormData();
  form.set('audio', new Blob([audio]), 'a.wav');
  const headers = { ...authorization };
  const sent = await fetch(`${base}/v1/asr`, { method: 'POST', headers, body: form });
  t.equal(sent.status, 200, await sent.text());
  const body = JSON.stringify({ model: 'transcribe-1', input_audio: { data: base64, format: 'wav' } });
  const json = await fetch(`${base}/v1/audio/transcriptions`, {
    method: 'POST',
    headers: { ...headers, 'content-type': 'application/json' },
    body,
  });
  t.equal(json.status, 200, await json.text());
}

for (const stack of stacks((line) => t.comment(line))) {
  await t.test(`a memory budget of 64 MiB on ${stack}`, async (t) => {
    const gateway = await startGateway({ HTTP_STACK: stack, MEMORY_BUDGET_MB: '64' });
    t.teardown(() => gateway.stop());
    t.equal(await gauge(gateway, 'memory_budget_bytes'), BUDGET);
    await t.test('36 stalled uploads are on disk, and the 51st gets 429 before its body', (t) =>
      stallsOfMany(t, gateway),
    );
    await t.test('a refused upload is gone at once', (t) => refusesAtOnce(t, gateway));
    await t.test('a lawful request at its limit is taken', (t) => takesLawful(t, gateway));
  });
}
