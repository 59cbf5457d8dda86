/** The default voice: how much of a text counts as one sentence (LIMITS.sentenceLength). */
import t from '../../fixtures/tap.js';
import { LIMITS } from '../../../contracts/limits.js';
import { CompositeVoice } from '../../../engines/composite-voice.js';
import { fliteDescription } from '../../../engines/backends/flite/description.js';
import type { SelectedVoice, TextNeeds } from '../../../engines/voice-selection.js';
import { rejectsExactly } from '../../fixtures/exactly.js';

const { sentenceLength } = LIMITS;
/** Without a mark at which a sentence ends. */
const ENGLISH = 'the house and the garden of the king '.repeat(300);
const RUSSIAN = 'привет ';

const voiceFor = ({ scripts, languages }: TextNeeds): SelectedVoice => {
  const voice = scripts.size > 0 ? 'cyrillic' : 'latin';
  const engine = { ...fliteDescription, async *synthesize() {} };
  return { engine, voice, language: languages[0] ?? 'en', references: [] };
};

const partsOf = (text: string) =>
  [...new CompositeVoice(voiceFor).partsOf({ text, at: 0 })].map(({ selected, at }) => ({
    voice: selected.voice,
    at,
  }));

t.test('a sentence has one voice, up to the limit of its length', (t) => {
  const text = ENGLISH.slice(0, sentenceLength - RUSSIAN.length) + RUSSIAN;
  t.equal(text.length, sentenceLength);
  t.strictSame(partsOf(text), [{ voice: 'cyrillic', at: 0 }]);
  t.end();
});

t.test('a longer sentence counts as several, each with the voice for its own language', (t) => {
  const text = ENGLISH.slice(0, sentenceLength).replace(/.$/, 'x') + RUSSIAN;
  t.strictSame(partsOf(text), [
    { voice: 'latin', at: 0 },
    { voice: 'cyrillic', at: sentenceLength },
  ]);
  t.end();
});

t.test('the limit never cuts a character in two', (t) => {
  const text = `${ENGLISH.slice(0, sentenceLength - 1)}😀${RUSSIAN}`;
  const [, second] = [...new CompositeVoice(voiceFor).partsOf({ text, at: 0 })];
  t.equal(second?.at, sentenceLength + 1);
  t.match(second?.text, RUSSIAN.trim());
  t.end();
});

const MIXED = `${RUSSIAN}${'Hello there, world. '.repeat(100_000)}`;
const whole = { text: MIXED, scripts: new Set(['Cyrillic'] as const) };

t.test('a whole text is checked once for each set of scripts, not for each sentence', async (t) => {
  let asked = 0;
  const counted = (needs: TextNeeds): SelectedVoice => {
    asked += 1;
    return voiceFor(needs);
  };
  await new CompositeVoice(counted, undefined, whole).check(new AbortController().signal);
  t.ok(asked >= 2 && asked < 10, `${asked} times`);
});

t.test('the check of a whole text ends when its client leaves', async (t) => {
  const left = new Error('the client left');
  await rejectsExactly(
    t,
    new CompositeVoice(voiceFor, undefined, whole).check(AbortSignal.abort(left)),
    left,
  );
});
