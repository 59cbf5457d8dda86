/** eSpeak's text and times, without the program: its input, and the words and times from its events. */
import t from '../../../../fixtures/tap.js';
import { ESPEAK_RATE, espeakDescription } from '../../../../../engines/backends/espeak/description.js';
import { rateFor, type EspeakEvent } from '../../../../../engines/backends/espeak/program.js';
import { spokenText } from '../../../../../engines/backends/espeak/spoken-text.js';
import { unitsOf } from '../../../../../engines/backends/spoken-units.js';
import { wordTimes } from '../../../../../engines/backends/espeak/word-times.js';
import { HOSTILE_TEXTS } from '../../../../fixtures/engine-conformance.js';
import { LANGUAGES } from '../../../../../contracts/speech/languages.js';

const spoken = (text: string): string => spokenText(unitsOf(text)).text;

t.test('words stand as they are, silent marks end the pause before them', async (t) => {
  t.equal(spoken('Hello,  how\nare you — fine?'), 'Hello, how are you— fine?');
  t.equal(spoken('你好，世界。'), '你好，世界。');
  t.same(
    unitsOf('a — b').map(({ text }) => text),
    ['a', 'b'],
  );
  for (const silent of ['', ' ', '...', '—', '()', '。！？'])
    t.equal(spoken(silent), '', JSON.stringify(silent));
  t.equal(spoken('5 % & 7 +'), '5 % & 7 +', 'signs have a sound');
});

t.test('markup, entities and phoneme brackets are no commands', async (t) => {
  t.equal(spoken("say [[h@l'oU]] <break time='9s'/>"), "say h@l'oU break time='9s'/");
  t.equal(spoken('AT&T &lt; &#60;'), 'AT& T & lt; & #60;');
  for (const text of HOSTILE_TEXTS) {
    t.notMatch(spoken(text), /[<>[\]\\\p{C}]|&[#\w]/u, JSON.stringify(text.slice(0, 24)));
  }
});

t.test('each unit has its start in characters', async (t) => {
  const units = unitsOf('😀 smile 𝒳, now');
  const { text, begins } = spokenText(units);
  const characters = [...text];
  begins.forEach((begin, index) => {
    const word = units[index]!.spoken;
    t.equal(characters.slice(begin, begin + [...word].length).join(''), word);
  });
});

const event = (
  type: EspeakEvent['type'],
  at: number,
  position = 1,
  id: string | number = 0,
): EspeakEvent => ({
  type,
  text_position: position,
  audio_position: at,
  id,
});

t.test(
  'words that it joins share their time, parts of one word are joined, pauses belong to none',
  async (t) => {
    const units = unitsOf('in the afternoon, 10:30');
    const events = [
      event('samplerate', 0),
      event('sentence', 0),
      event('word', 0, 1),
      event('phoneme', 10, 1, 'n'),
      event('word', 200, 8),
      event('phoneme', 220, 8, 'f'),
      event('phoneme', 700, 8, ''),
      event('phoneme', 800, 8, ''),
      event('end', 1000, 8),
      event('word', 1000, 19),
      event('word', 1400, 22),
      event('phoneme', 1500, 22, 't'),
      event('end', 2000, 23),
    ];
    const words = wordTimes(units, spokenText(units), events, 2 * ESPEAK_RATE);
    t.same(
      words.map(({ text, start, end }) => [text, Math.round(start * 1000), Math.round(end * 1000)]),
      [
        ['in', 0, 80],
        ['the', 80, 200],
        ['afternoon,', 200, 700],
        ['10:30', 1000, 2000],
      ],
    );
  },
);

t.test('words before the first event, and no events at all', async (t) => {
  const units = unitsOf('a b c');
  const words = wordTimes(units, spokenText(units), [event('word', 0, 3), event('end', 900, 5)], ESPEAK_RATE);
  t.same(
    words.map(({ text }) => text),
    ['a', 'b', 'c'],
  );
  t.ok(words.every(({ end }) => end <= 0.9));
  t.same(wordTimes(units, spokenText(units), [], 0), []);
});

t.test('its pace follows the speed within its range', async (t) => {
  for (const voice of ['en-us', 'cmn']) {
    const rates = [0.1, 0.5, 0.55, 0.9, 1, 1.1, 1.6, 2, 9].map((speed) => rateFor({ voice, speed }));
    t.same(
      rates,
      [...rates].sort((a, b) => a - b),
      `${rates.join(' ')}`,
    );
    t.equal(rateFor({ voice, speed: 1 }), 175);
    t.equal(rates[0], rates[1]);
    t.equal(rates.at(-1), rates.at(-2));
  }
});

t.test('there is a voice for each language', async (t) => {
  for (const language of LANGUAGES) {
    t.ok(
      espeakDescription.voices.some(({ languages }) => languages.includes(language)),
      language,
    );
  }
});
