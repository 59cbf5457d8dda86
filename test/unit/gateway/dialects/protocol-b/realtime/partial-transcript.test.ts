/** Transcripts of protocol B's realtime transcription: the cost of partial ones, and the words of whole ones. */
import t from '../../../../../fixtures/tap.js';
import type { RawAudio, Transcript } from '../../../../../../contracts/ports/speech/speech.js';
import { PartialTranscript } from '../../../../../../gateway/dialects/protocol-b/realtime/partial-transcript.js';
import { wordEntries } from '../../../../../../gateway/dialects/protocol-b/words.js';
import { exactly } from '../../../../../fixtures/exactly.js';

t.test('a partial transcript covers only what may still change, so the work is linear', (t) => {
  const rate = 8000;
  const audioOfSeconds = (seconds: number) => {
    const bytes = Math.round(seconds * rate) * 2;
    return { chunks: [new Uint8Array(bytes)], bytes };
  };
  const lengthOf = ({ chunks }: RawAudio): number =>
    chunks.reduce((sum, { byteLength }) => sum + byteLength, 0) / 2 / rate;
  const tail = new PartialTranscript(rate);
  /** A partial transcript `at` seconds with words, each with its start and end in the whole audio. */
  let covered = 0;
  const guess = (at: number, words: readonly (readonly [text: string, start: number, end: number])[]) => {
    const seconds = lengthOf(tail.take(audioOfSeconds(at)));
    covered += seconds;
    const from = at - seconds;
    const heard = words.filter(([, start]) => start >= from - 0.01);
    return { seconds, text: tail.add(heard.map(([text, start, end]) => ({ text, start: start - from, end: end - from }))) }; // oxfmt-ignore
  };
  t.notOk(tail.isDue(0.69 * rate * 2));
  t.ok(tail.isDue(0.7 * rate * 2));
  t.same(guess(5, []), { seconds: 5, text: '' });
  t.same(guess(6, [['one', 5, 6]]), { seconds: 2, text: 'one' }, 'of silence, a second is kept');
  t.notOk(tail.isDue(6.6 * rate * 2));
  t.same(guess(8, [['one two', 5, 7.5]]), { seconds: 3, text: 'one two' }, 'a segment that goes on');
  t.same(guess(9, [['one two', 5, 7.5]]), { seconds: 4, text: 'one two' });
  t.same(guess(10, []), { seconds: 2, text: 'one two' }, 'one that is over');
  t.same(guess(12, [['three', 10, 10.5], ['four', 11, 12]]), { seconds: 3, text: 'one two three four' }); // oxfmt-ignore
  t.same(guess(33, [['four goes on', 11, 33]]), { seconds: 22, text: 'one two three four goes on' });
  t.same(guess(34, []), { seconds: 1, text: 'one two three four goes on' }, 'one that never ends is cut');
  tail.reset();
  t.same(guess(1, [['new', 0, 1]]), { seconds: 1, text: 'new' });
  t.same(lengthOf(tail.take({ chunks: [], bytes: 0 })), 0);
  tail.reset();
  covered = 0;
  for (let at = 1; at < 600; at++) guess(at, at % 3 > 0 ? [['word', at - (at % 3), at]] : []);
  t.ok(covered < 600 * 4, `${covered} s of work for 600 s`);
  t.end();
});

t.test('words and spacing joined are the text, with times in order', (t) => {
  const word = (text: string, start: number, end: number) => ({ text, start, end });
  const cases: readonly Pick<Transcript, 'text' | 'words' | 'duration'>[] = [
    { text: 'Hello world', words: [word('Hello', 0.1, 0.5), word('world', 0.6, 1)], duration: 1.2 },
    { text: ' Hello,\nworld! ', words: [word('Hello', 0, 0.5), word('world', 0.6, 1)], duration: 1.2 },
    {
      text: '日本語です',
      words: [word('日', 0, 0.2), word('本', 0.2, 0.4), word('語', 0.4, 0.6)],
      duration: 1,
    },
    { text: 'going to go', words: [word('gonna', 0, 0.4), word('go', 0.5, 0.7)], duration: 1 },
    { text: 'no times at all', duration: 2 },
    { text: 'backward times', words: [word('backward', 1, 0.5), word('times', 0.2, 0.3)], duration: 0.1 },
    { text: 'words beside', words: [word('', 0, 1), word('x'.repeat(200), 0, 1)], duration: 3 },
    { text: '', words: [], duration: 0 },
    { text: '   ', duration: 1 },
  ];
  for (const transcript of cases) {
    const entries = wordEntries(transcript);
    t.equal(entries.map(({ text }) => text).join(''), transcript.text);
    let last = 0;
    for (const { text, type, start, end, speaker_id, logprob } of entries) {
      t.ok(start >= last && end >= start, `${text} from ${start} to ${end}`);
      t.equal(type, text.trim() === '' ? 'spacing' : 'word');
      t.strictSame([speaker_id, logprob], [null, 0]);
      last = end;
    }
  }
  exactly(t, wordEntries(cases[0]!), [
    { text: 'Hello', type: 'word', start: 0.1, end: 0.5 },
    { text: ' ', type: 'spacing', start: 0.5, end: 0.6 },
    { text: 'world', type: 'word', start: 0.6, end: 1 },
  ]);
  const many = Array.from({ length: 20_000 }, (_, index) => word(`w${index}`, index, index + 1));
  const text = many.map((one) => one.text).join(' ');
  t.equal(wordEntries({ text: text.toUpperCase(), words: many, duration: 20_000 }).length, 39_999);
  t.end();
});
