/**
 * The times of characters compared with the audio, with the default engines (docs/contract/protocol-b.md 2): the words of
 * each sentence against the gateway's own transcription of the same audio.
 */
import { readFileSync } from 'node:fs';
import type { Test } from 'tap';
import { CHECKOUT } from '../../../contracts/places.js';
import t from '../../fixtures/tap.js';
import { wordsOf } from '../../fixtures/engines/listening.js';
import { sharedGateway } from '../../fixtures/gateway.js';
import { shortOrLong } from '../../fixtures/long.js';
import {
  audioOf,
  isMonotonic,
  linesIn,
  ProtocolB,
  timesOf,
  type Word,
  wordsIn,
} from '../../fixtures/protocol-b/rest.js';

const COUNT = shortOrLong(4, 10);
const SENTENCES = (
  JSON.parse(readFileSync(new URL('test/fixtures/engines/sentences.json', CHECKOUT), 'utf8')) as string[]
).slice(0, COUNT);

const WAV_HEADER_BYTES = 44;
const BYTES_PER_SECOND = 24_000 * 2;
const MOST_END_OFF_SECONDS = 0.1;
const MOST_MEDIAN_OFF_SECONDS = 0.2;

const gateway = await sharedGateway(t, 'speech');
const api = new ProtocolB(gateway);

async function spoken(t: Test, text: string) {
  const query = { output_format: 'wav_24000' };
  const response = await api.speak('default/stream/with-timestamps', { text }, query);
  const lines = linesIn(t, await response.text());
  return { audio: audioOf(lines), times: timesOf(lines) };
}

async function heardIn(audio: Uint8Array): Promise<readonly Word[]> {
  const form = new FormData();
  form.set('model_id', 'scribe_v1');
  form.set('file', new Blob([audio]));
  const { words } = (await (await api.transcribe(form)).json()) as { words: (Word & { type: string })[] };
  return words.filter(({ type }) => type === 'word');
}

const bare = ({ text }: Word): string => wordsOf(text).join(' ');

/** Differences between the starts of words in both lists, in order; a misheard word is skipped. */
function startsOff(told: readonly Word[], heard: readonly Word[]): number[] {
  let at = 0;
  return told.flatMap((word) => {
    const found = heard.findIndex(
      (other, index) => index >= at && index < at + 3 && bare(other) === bare(word),
    );
    if (found < 0) return [];
    at = found + 1;
    return [Math.abs((heard[found]?.start ?? 0) - word.start)];
  });
}

const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Infinity;

t.test('sentences: all text, never back, to the end of the audio, words where they are heard', async (t) => {
  const off: number[] = [];
  let words = 0;
  for (const sentence of SENTENCES) {
    const { audio, times } = await spoken(t, sentence);
    t.equal(times.characters.join(''), sentence);
    t.ok(isMonotonic(times));
    const seconds = (audio.length - WAV_HEADER_BYTES) / BYTES_PER_SECOND;
    const end = times.character_end_times_seconds.at(-1) ?? 0;
    t.ok(Math.abs(end - seconds) < MOST_END_OFF_SECONDS, `ends at ${end} of ${seconds} s`);
    const told = wordsIn(times);
    words += told.length;
    off.push(...startsOff(told, await heardIn(audio)));
  }
  t.equal(SENTENCES.length, COUNT);
  t.ok(off.length > words * 0.8, `${off.length} of ${words} words were heard`);
  t.comment(`median ${median(off).toFixed(3)} s, most ${Math.max(...off).toFixed(3)} s`);
  t.ok(median(off) < MOST_MEDIAN_OFF_SECONDS, `the median word starts ${median(off).toFixed(3)} s off`);
});
