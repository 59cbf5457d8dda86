/** Recorded human speech: rates, cuts, checks, and what reports say of it. */
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import t from 'tap';
import { resampled } from '../src/audio/resample.js';
import { wavOf } from '../src/audio/wav.js';
import { readOptions } from '../src/options.js';
import { formatHtml } from '../src/report/html.js';
import { measureRecorded } from '../src/scenarios/conversation/conversation-recorded.js';
import { COLLECTIONS, type Collection } from '../src/scenarios/conversation/recorded-clips.js';
import { clipsOf } from '../src/scenarios/conversation/recorded-speech.js';
import type { Scenario } from '../src/scenarios/scenario.js';
import { startModel } from '../src/servers/model.js';
import { runSuite } from '../src/suite.js';
import { reportOf } from './fixtures/reports.js';

const tone = (count: number, hertz: number, rate: number, amplitude = 8000): Int16Array =>
  Int16Array.from({ length: count }, (_, at) =>
    Math.round(amplitude * Math.sin((2 * Math.PI * hertz * at) / rate)),
  );

const rms = (samples: Int16Array): number =>
  Math.sqrt(samples.reduce((sum, sample) => sum + sample ** 2, 0) / samples.length);

/** Without the ends, where half of the neighbours are missing. */
const middle = (samples: Int16Array): Int16Array => samples.subarray(100, -100);

t.test('at another rate a tone is the same tone, and what that rate cannot hold is gone', async (t) => {
  for (const [from, to] of [
    [16_000, 24_000],
    [44_100, 24_000],
    [8000, 24_000],
  ] as const) {
    const heard = resampled(tone(from / 4, 1000, from), from, to);
    t.equal(heard.length, to / 4);
    const wanted = tone(to / 4, 1000, to);
    const off = middle(heard.map((sample, at) => sample - wanted[at]!));
    t.ok(rms(off) < 8000 / 1000, `${from} to ${to}: off by ${rms(off)}`);
  }
  t.ok(rms(middle(resampled(tone(11_025, 15_000, 44_100), 44_100, 24_000))) < 8, 'nothing is folded down');
  const same = tone(10, 1000, 24_000);
  t.equal(resampled(same, 24_000, 24_000), same);
});

/** A second at 16 kHz, half of it a tone, in a file of its own. */
function recording(folder: string): Omit<Collection, 'place'> {
  const pcm = Buffer.concat([Buffer.alloc(8000), Buffer.from(tone(12_000, 400, 16_000, 20_000).buffer)]);
  const bytes = wavOf(pcm, 16_000);
  mkdirSync(path.join(folder, 'said'));
  writeFileSync(path.join(folder, 'said', 'a.wav'), bytes);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const clip = { file: 'said/a.wav', from: 4000, to: 12_000, text: 'Hello.' };
  return {
    ...{ name: 'mine', speech: 'a tone', licence: 'none', package: 'nothing 1.0' },
    ...{ files: { 'said/a.wav': sha256 }, sentences: [clip], background: [clip] },
  };
}

const samplesOf = (pcm: Uint8Array): Int16Array =>
  new Int16Array(pcm.buffer, pcm.byteOffset, pcm.byteLength >> 1);

t.test(
  'a clip is what lies between its samples, as loud as all speech, or 15 dB quieter behind',
  async (t) => {
    const folder = t.testdir();
    const { sentence = [], others = [] } = await clipsOf(recording(folder), folder);
    t.equal(sentence.length, 1);
    t.hasStrict(sentence, [{ text: 'Hello.', origin: 'recorded', source: 'nothing 1.0' }]);
    const said = samplesOf(sentence[0]!.pcm);
    t.equal(said.length, 12_000, 'half a second at 24 kHz');
    t.ok(Math.abs(rms(middle(said)) - 3000) < 60, `${rms(said)}`);
    const behind = 20 * Math.log10(rms(samplesOf(others[0]!.pcm)) / rms(said));
    t.ok(Math.abs(behind + 15) < 0.1, `${behind} dB`);
  },
);

t.test('a file that is another recording, or is not there, is refused', async (t) => {
  const folder = t.testdir();
  const mine = recording(folder);
  writeFileSync(path.join(folder, 'said', 'a.wav'), wavOf(Buffer.alloc(32_000), 16_000));
  await t.rejects(clipsOf(mine, folder), /a\.wav is another recording/);
  await t.rejects(clipsOf(mine, path.join(folder, 'nowhere')), /ENOENT/);
});

t.test('each clip is of a file that is checked, and short enough to be said', async (t) => {
  for (const { name, files, sentences, background } of COLLECTIONS)
    for (const { file, from, to, text } of [...sentences, ...background]) {
      const seconds = (to - from) / 16_000;
      t.match(files[file], /^[0-9a-f]{64}$/, name);
      t.ok(seconds > 1 && seconds < 15, `${text}: ${seconds} s`);
    }
});

const scenarioOf = (run: Scenario['run']): Scenario => ({
  ...{ name: 'calls', title: 'Calls', parameters: { full: {}, quick: {} } },
  run,
});

t.test('without its package a collection has one figure, which says why', async (t) => {
  const missing: Collection = { ...recording(t.testdir()), place: { system: '/nowhere' } };
  const parts = { sentences: [], background: [] };
  const chosen = scenarioOf((context) =>
    measureRecorded(
      context,
      [],
      { prefix: 'calls', calls: 1, rounds: 1 },
      { collections: [missing], parts },
      {},
    ),
  );
  const options = readOptions(['--url', 'http://127.0.0.1:1']);
  const { figures, scenarios } = await runSuite([chosen], options, () => undefined);
  t.match(figures, [
    { name: 'calls.recorded.mine.cut_offs', value: null, n: 0, why: /^there is no nothing 1\.0, .*: ENOENT/ },
  ]);
  t.equal(figures.length, 1);
  t.notOk(scenarios[0]?.error);
});

t.test('a report marks each clip once as recorded or synthetic', async (t) => {
  const clip = { name: 'sentence', text: 'He & she.', origin: 'recorded', source: 'nothing 1.0' } as const;
  const made = {
    name: 'stop',
    text: 'Stop.',
    origin: 'synthetic',
    source: 'the server’s own voice',
  } as const;
  const chosen = scenarioOf(async (context) => {
    context.noteClips(clip, made);
    context.noteClips(made);
  });
  const options = readOptions(['--url', 'http://127.0.0.1:1']);
  const report = await runSuite([chosen], options, () => undefined);
  t.strictSame(report.scenarios[0]?.clips, [clip, made]);
  const html = formatHtml(report);
  t.match(html, 'clips: 1 synthetic, 1 recorded');
  t.match(html, '<td>recorded</td><td>He &amp; she.</td>');
  t.notMatch(formatHtml(reportOf([])), 'clips:', 'a report from before has none');
});

t.test('the model talks for long only where words are to be counted, not of a country', async (t) => {
  const model = await startModel();
  t.teardown(() => model.stop());
  const answerTo = async (content: string): Promise<string> => {
    const body = JSON.stringify({ messages: [{ role: 'user', content }] });
    return (await fetch(`${model.url}/chat/completions`, { method: 'POST', body })).text();
  };
  const short = await answerTo('Ask what you can do for your country.');
  t.match(short, 'nine');
  t.notMatch(short, 'number');
  for (const said of ['Please count all the words.', 'Found all the word.', 'Count all the worlds.'])
    t.match(await answerTo(said), 'number');
});
