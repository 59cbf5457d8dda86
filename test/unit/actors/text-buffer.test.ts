/** The text buffer of a context of protocol B’s speech sockets (docs/contract/protocol-b.md 3). */
import t from '../../fixtures/tap.js';
import { isBlank, TextBuffer } from '../../../actors/text-buffer.js';
import { LIMITS } from '../../../contracts/limits.js';
import { pick, seeded } from '../../fixtures/random.js';

const SCHEDULE = LIMITS.streamInput.schedule.default;

const buffered = (text: string, schedule: readonly number[] = SCHEDULE): TextBuffer => {
  const buffer = new TextBuffer(schedule);
  buffer.add(text);
  return buffer;
};

t.test('chunk_length_schedule: each generation waits for its own number of characters', async (t) => {
  const buffer = new TextBuffer([50, 80, 100]);
  const lengths: number[] = [];
  let waited = 0;
  for (let word = 0; word < 200; word++) {
    buffer.add('word ');
    waited += 5;
    const text = buffer.due();
    if (text === undefined) continue;
    t.equal(text.length, waited, 'whole words, so all of it');
    lengths.push(waited);
    waited = 0;
  }
  t.strictSame(lengths.slice(0, 5), [50, 80, 100, 100, 100], 'the last item repeats');
});

t.test('a generation stops behind a sentence, a clause or a word, and leaves the rest', async (t) => {
  const filler = 'a'.repeat(40);
  const cases: [text: string, given: string][] = [
    [`${filler} ${filler} end. Then ${filler}`, `${filler} ${filler} end. `],
    [`${filler} ${filler} end.” Then ${filler}`, `${filler} ${filler} end.” `],
    [`${filler} ${filler}, then ${filler}`, `${filler} ${filler}, `],
    [`${filler} ${filler} ${filler}`, `${filler} ${filler} `],
    [`Hi. ${filler} ${filler} ${filler}`, `Hi. ${filler} ${filler} `],
    ['語'.repeat(130), '語'.repeat(130)],
    [`${'語'.repeat(80)}。${'語'.repeat(60)}`, `${'語'.repeat(80)}。`],
  ];
  for (const [text, given] of cases) t.equal(buffered(text).due(), given);
  t.equal(buffered('a'.repeat(119)).due(), undefined);
  for (const tag of ['<break time="1.5s" />', '[in a hurry tone]', '<phoneme alphabet="ipa" ph="a b. c">'])
    for (let length = 1; length < tag.length; length++) {
      const text = `${filler} ${filler} ${filler} ${tag.slice(0, length)}`;
      const whole = buffered(text, [50]);
      const first = whole.due() ?? '';
      t.equal(first, `${filler} ${filler} ${filler} `, `${tag.slice(0, length)}: no cut in a tag`);
    }
  t.equal(
    buffered(`<phoneme alphabet="ipa" ph="${'a '.repeat(20)}`, [50]).due(),
    undefined,
    'a tag is waited for',
  );
  t.equal(buffered(' '.repeat(500)).due(), undefined);
});

t.test('try_trigger_generation speaks what is fit to be spoken', async (t) => {
  t.equal(buffered('Hello ').ripe(), undefined);
  t.equal(buffered('Hello there. ').ripe(), 'Hello there. ');
  t.equal(buffered('Hello there. And ').ripe(), 'Hello there. ');
  t.equal(buffered('word '.repeat(9)).ripe(), undefined, '45 characters');
  t.equal(buffered('word '.repeat(10)).ripe(), 'word '.repeat(10), '50 characters');
});

t.test('blanks keep a context alive and add nothing', async (t) => {
  const buffer = buffered(' ');
  t.equal(buffer.bytes, 0, 'before all text');
  buffer.add('Hello');
  buffer.add(' ');
  buffer.add(' ');
  buffer.add('world');
  t.equal(buffer.rest(), 'Hello world');
  buffer.add(' ');
  t.equal(buffer.rest(), undefined);
  buffer.add('again');
  t.equal(buffer.rest(), ' again', 'words are parted across generations');
  buffer.add('\n\n');
  buffer.add('Paragraph');
  buffer.add(' '.repeat(100_000));
  t.ok(buffer.bytes < 30, 'blanks alone are not kept');
  t.equal(buffer.rest()?.trimEnd(), '\n\nParagraph');
});

t.test('a buffer gives each character once, in order, and counts its bytes', async (t) => {
  const random = seeded(5);
  const words = ['one ', 'Zwei, ', 'three. ', '四。', '🙂 ', 'x'.repeat(90), '\n', 'five! '] as const;
  for (let run = 0; run < 200; run++) {
    const buffer = new TextBuffer([50 + Math.floor(random() * 100)]);
    let sent = '';
    let given = '';
    const take = (text: string | undefined): void => {
      if (text !== undefined && isBlank(text)) t.fail('a blank generation');
      given += text ?? '';
    };
    for (let step = 0; step < 50; step++) {
      const word = pick(random, words);
      if (!isBlank(word)) sent += word;
      if (!isBlank(word)) buffer.add(word);
      if (random() < 0.3)
        take(pick(random, [() => buffer.due(), () => buffer.ripe(), () => buffer.rest()])());
      if (buffer.bytes !== Buffer.byteLength(sent) - Buffer.byteLength(given)) return t.fail('bytes');
    }
    take(buffer.rest());
    if (!t.equal(given, sent)) return;
  }
});
