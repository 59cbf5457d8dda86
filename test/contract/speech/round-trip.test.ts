/** The main job on real input: posted text is returned as speech, and that speech, posted, is returned as its words. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { CHECKOUT } from '../../../contracts/places.js';
import t from '../../fixtures/tap.js';
import { wordErrors, wordsOf } from '../../fixtures/engines/listening.js';
import { externalTool, skipReason } from '../../fixtures/external.js';
import { sharedGateway } from '../../fixtures/gateway.js';
import { shortOrLong } from '../../fixtures/long.js';

const SENTENCES = JSON.parse(
  readFileSync(new URL('test/fixtures/engines/sentences.json', CHECKOUT), 'utf8'),
) as string[];
const COUNT = shortOrLong(8, 20);

const gateway = await sharedGateway(t, 'speech');

async function spoken(text: string, how: object = {}): Promise<Buffer<ArrayBuffer>> {
  const response = await fetch(`${gateway.base}/v1/tts`, {
    method: 'POST',
    headers: { ...gateway.authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ text, ...how }),
  });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return Buffer.from(await response.arrayBuffer());
}

async function heard(audio: Buffer<ArrayBuffer>): Promise<string> {
  const form = new FormData();
  form.set('audio', new Blob([audio]), 'hello.mp3');
  const response = await fetch(`${gateway.base}/v1/asr`, {
    method: 'POST',
    headers: gateway.authorization,
    body: form,
  });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return ((await response.json()) as { text: string }).text;
}

t.test('sentences by the default voice come back with at most 10 % of their words wrong', async (t) => {
  let errors = 0;
  let words = 0;
  for (const sentence of SENTENCES.slice(0, COUNT)) {
    const text = await heard(await spoken(sentence));
    const wrong = wordErrors(sentence, text);
    if (wrong > 0) t.comment(`${wrong}: ${sentence} / ${text}`);
    errors += wrong;
    words += wordsOf(sentence).length;
  }
  t.ok(SENTENCES.length >= COUNT);
  t.ok(errors / words <= 0.1, `${errors} of ${words} words`);
});

t.test("README's first sentence comes back as it was said, by every container and latency", async (t) => {
  const sentence = SENTENCES[0] ?? '';
  const asked = [{ format: 'mp3', latency: 'low' }, { format: 'wav' }, { format: 'opus' }];
  for (const how of asked) {
    const text = await heard(await spoken(sentence, how));
    t.same(wordsOf(text), wordsOf(sentence), `${JSON.stringify(how)}: ${text}`);
  }
});

t.test('an independent ffmpeg decodes the mp3', { skip: skipReason('ffmpeg') }, async (t) => {
  const audio = await spoken(SENTENCES[0] ?? '');
  const args = ['-v', 'error', '-f', 'mp3', '-i', 'pipe:0', '-f', 's16le', '-ac', '1', 'pipe:1'];
  const { stdout, stderr, status } = spawnSync(externalTool('ffmpeg') ?? '', args, {
    input: audio,
    maxBuffer: 64 * 1024 * 1024,
  });
  t.equal(status, 0);
  t.equal(stderr.toString(), '');
  const seconds = stdout.length / 2 / 44_100;
  t.ok(seconds > 2 && seconds < 8, `${seconds} s of a sentence that takes about four`);
});
