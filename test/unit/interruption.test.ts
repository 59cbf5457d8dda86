/** What words said over an agent are taken for, and what they do: whole ones, half ones, and all of them (interruption.ts). */
import t from 'tap';
import {
  interrupts,
  type Overlap,
  overlapOf,
  type Verdict,
  verdictOf,
} from '../../actors/agent/turns/interruption.js';
import type { Sensitivity } from '../../actors/agent/settings.js';

t.test('words that are all there are known by their class', async (t) => {
  const CLASSES: readonly (readonly [text: string, overlap: Overlap])[] = [
    ['', 'noise'],
    ['…', 'noise'],
    ['Mm-mm-hmm.', 'backchannel'],
    ['That’s right.', 'backchannel'],
    ['そうですね', 'backchannel'],
    ['Stop!', 'command'],
    ['Okay, please stop now.', 'command'],
    ['Please.', 'speech'],
    ['Stop the music.', 'speech'],
    ['Nothing.', 'speech'],
    ['Yes, but no.', 'speech'],
  ];
  for (const [text, overlap] of CLASSES) t.equal(overlapOf(text), overlap, text);
});

t.test('while the user still speaks, the last word may be half of another and does not count', async (t) => {
  const CLASSES: readonly (readonly [text: string, overlap: Overlap])[] = [
    ['stop', 'noise'],
    ['stop it', 'command'],
    ['yes right', 'backchannel'],
    ['lamps please', 'speech'],
    ['makes sen', 'backchannel'],
  ];
  for (const [text, overlap] of CLASSES) t.equal(overlapOf(text, false), overlap, text);
  t.equal(overlapOf('makes'), 'speech', 'a phrase that has only begun is none at the end');
});

type Verdicts = Readonly<Record<Sensitivity, Verdict | undefined>>;
const all = (verdict: Verdict | undefined): Verdicts => ({ low: verdict, balanced: verdict, high: verdict });

const eachOf = (text: string, finished: boolean) =>
  Object.fromEntries(
    (['low', 'balanced', 'high'] as const).map((each) => [each, verdictOf(text, each, finished)]),
  );

t.test('what is said decides at the end, as sensitive as the agent is', async (t) => {
  const VERDICTS: readonly (readonly [text: string, verdicts: Verdicts])[] = [
    ['', all('ignore')],
    ['Stop!', all('interrupt')],
    ['Okay.', { ...all('ignore'), high: 'interrupt' }],
    ['Lamps.', { ...all('interrupt'), low: 'later' }],
    ['Two red lamps.', { ...all('interrupt'), low: 'later' }],
    ['Two red lamps please.', all('interrupt')],
  ];
  for (const [text, verdicts] of VERDICTS) t.strictSame(eachOf(text, true), verdicts, text);
});

t.test('until then only what no further word can change does', async (t) => {
  const VERDICTS: readonly (readonly [text: string, verdicts: Verdicts])[] = [
    ['', all(undefined)],
    ['stop', all(undefined)],
    ['stop it', all('interrupt')],
    ['okay yes', all(undefined)],
    ['lamps please', { ...all(undefined), high: 'interrupt' }],
    ['two red lamps', { ...all('interrupt'), low: undefined }],
    ['two red lamps please now', all('interrupt')],
  ];
  for (const [text, verdicts] of VERDICTS) t.strictSame(eachOf(text, false), verdicts, text);
});

t.test('words that will not change interrupt at once where they are enough, agreement never', async (t) => {
  t.ok(interrupts('stop', 'low'));
  t.ok(interrupts('two lamps', 'balanced'));
  t.notOk(interrupts('two lamps', 'low'));
  t.notOk(interrupts('makes', 'high'), 'sense may follow');
  t.notOk(interrupts('okay', 'high'));
  t.notOk(interrupts('', 'high'));
});
