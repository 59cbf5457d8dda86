/**
 * The sixty texts of test/fixtures/speech/odd-texts.ts in calls: as an agent's first message and as its answer each is spoken as the speech APIs
 * speak it (docs/contract/spoken-text.md), while captions and record have it as it was written.
 */
import type { Test } from 'tap';
import t from '../../../../fixtures/tap.js';
import { bytesOf } from '../../../../../contracts/audio.js';
import { wellFormed } from '../../../../../contracts/text/text.js';
import type { TtsEngine } from '../../../../../contracts/ports/speech/tts.js';
import { createToneSpeech } from '../../../../../engines/backends/tone/index.js';
import { createRegistry } from '../../../../../engines/registry.js';
import { createSpeech } from '../../../../../engines/synthesize.js';
import { isHeard, speakable } from '../../../../../engines/text/speakable.js';
import { engineVoices } from '../../../../../engines/voices.js';
import { SimulatedClock } from '../../../../fixtures/clock.js';
import { Hosted, saying } from '../../../../fixtures/conversation/hosted.js';
import { ODD_TEXTS } from '../../../../fixtures/speech/odd-texts.js';
import { until } from '../../../../fixtures/until.js';

/** A speech port of the tone engine, which tells the texts that it is given. */
function toneSpeech(given: string[]) {
  const tone = createToneSpeech();
  const engine: TtsEngine = {
    ...tone,
    synthesize(request, signal) {
      given.push(request.text);
      return tone.synthesize(request, signal);
    },
  };
  return createSpeech({
    registry: createRegistry({ tts: [engine], stt: [] }),
    voices: engineVoices([engine]),
    admission: {
      reserve: () => Promise.resolve(() => undefined),
      enter: async () => () => undefined,
      check: async () => undefined,
      use: () => undefined,
    },
    encode: async function* (pcm) {
      for await (const samples of pcm) yield bytesOf(samples);
    },
  });
}

/** Without white space, in which pieces may differ from the whole. */
const bare = (...texts: readonly string[]): string => wellFormed(texts.join('')).replace(/\s+/gu, '');

const saidBy = ({ items }: Hosted): { readonly content: string; readonly error?: string }[] =>
  items.flatMap((item) => (item.type === 'message' && item.role === 'assistant' ? [item] : []));

/** A call in which the agent says the text. Its clock stands still until it ends: no other line is made meanwhile. */
async function call(t: Test, text: string, isFirst: boolean) {
  const given: string[] = [];
  const clock = new SimulatedClock();
  const how = isFirst ? { firstMessage: text } : { answer: saying(text) };
  const hosted = new Hosted(t, { ...how, clock, speech: toneSpeech(given) });
  hosted.happen({ kind: 'connected' });
  if (!isFirst) hosted.client({ type: 'user.message', text: 'Tell me.' });
  await until('it is said', () => saidBy(hosted).length > 0);
  let isOver = false;
  void hosted.over().then(() => (isOver = true));
  await until('it is over', () => (clock.advance(1000), isOver));
  const shown = hosted.shown.flatMap((each) => (each.speaker === 'agent' ? [each.text] : []));
  return { given, shown, said: saidBy(hosted)[0]! };
}

for (const [place, isFirst] of [
  ['first message', true],
  ['answer', false],
] as const)
  // oxfmt-ignore
  t.test(`each text as ${place}: spoken like anywhere else, shown and kept as it was written`, async (t) => {
    const texts = ODD_TEXTS.filter((each) => isHeard(each));
    const calls = await Promise.all(texts.map((text) => call(t, text, isFirst)));
    for (const [index, { given, shown, said }] of calls.entries()) {
      const text = texts[index]!;
      t.equal(bare(...given), bare(speakable(text).text), JSON.stringify(text));
      t.strictSame([bare(said.content), said.error], [bare(text), undefined], JSON.stringify(text));
      t.equal(bare(...shown), bare(text), JSON.stringify(text));
    }
  });

t.test('an answer of symbols alone is excused, and nothing else is heard', async (t) => {
  const silent = ODD_TEXTS.filter((text) => !isHeard(text));
  t.ok(silent.length > 0);
  for (const text of silent) {
    const { given, said } = await call(t, text, false);
    t.equal(said.error, 'nothing_to_say', JSON.stringify(text));
    t.equal(bare(...given.filter((each) => isHeard(each))), bare(said.content), 'but for the excuse');
  }
}); // oxfmt-ignore
