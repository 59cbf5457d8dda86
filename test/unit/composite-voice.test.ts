/** The default voice: how much of a text counts as one sentence (LIMITS.sentenceLength). */
import t from 'tap';
import { LIMITS } from '../../contracts/limits.js';
import { CompositeVoice } from '../../engines/composite-voice.js';
import { fliteDescription } from '../../engines/backends/flite/description.js';
import type { SelectedVoice, TextNeeds } from '../../engines/voice-selection.js';

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
