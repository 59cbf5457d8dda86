/**
 * The real `turns` child, and smart-turn in it. No npm package has the model: its tests run if TURN_TEST_MODEL names a
 * folder made by `npm run models -- add smart-turn-v3`.
 */
import t from '../../fixtures/tap.js';
import { bytesOf, RECOGNITION_RATE } from '../../../contracts/audio.js';
import type { TtsEngine } from '../../../contracts/ports/speech/tts.js';
import { createFlite } from '../../../engines/backends/flite/index.js';
import { speakAll } from '../../fixtures/engine-conformance.js';
import { joined, silence } from '../../fixtures/engines/listening.js';
import { startedTurnModel } from '../../fixtures/engines/turn-model.js';
import { until } from '../../fixtures/until.js';

const FOREVER = new AbortController().signal;

t.test('a child whose model cannot be loaded lives, and says that nothing is known', async (t) => {
  const { model, workers, warnings } = await startedTurnModel(t, t.testdir());
  const [pid] = workers.pids();
  model.prepare();
  await until('it has failed', () => model.answers.failed === 1);
  t.equal(await model.probability([new Uint8Array(3200)], 'ws', FOREVER), undefined);
  t.equal(warnings.length, 1);
  t.same(workers.pids(), [pid]);
});

const folder = process.env['TURN_TEST_MODEL'];
const skip = folder ? false : 'TURN_TEST_MODEL names no model folder';

/** Speech of the first `words` words of a sentence, or of all, and the silence after which their end is noticed. */
async function said(voice: TtsEngine, text: string, words?: number): Promise<Uint8Array> {
  const request = { text, voice: voice.voices[0]?.name ?? '', language: 'en', speed: 1, timing: true };
  const speech = await speakAll(voice, request);
  const seconds = words === undefined ? Infinity : (speech.words[words - 1]?.end ?? 0);
  return bytesOf(joined(speech.samples.subarray(0, seconds * RECOGNITION_RATE), silence(0.25)));
}

t.test('smart-turn distinguishes a sentence that has ended from one that continues', { skip }, async (t) => {
  const { model } = await startedTurnModel(t, folder!);
  const voice = await createFlite();
  const heard = (audio: Uint8Array) => until('it is known', () => model.probability([audio], 'ws', FOREVER));
  const ended = await heard(await said(voice, 'What time is it?'));
  const text = 'I would like to go to the station tomorrow morning.';
  const goesOn = await heard(await said(voice, text, 'I would like to go'.split(' ').length));
  t.ok(ended > 0.5, `it ends: ${ended}`);
  t.ok(goesOn < 0.5, `it goes on: ${goesOn}`);
});
