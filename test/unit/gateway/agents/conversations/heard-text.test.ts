/** How much of a spoken text was heard (gateway/agents/conversations/heard-text.ts). */
import t from '../../../../fixtures/tap.js';
import type { SpokenPiece } from '../../../../../contracts/ports/speech/speech.js';
import { HeardText } from '../../../../../gateway/agents/conversations/heard-text.js';

const piece = (text: string, more: Partial<SpokenPiece>): SpokenPiece => ({
  ...{ index: 0, text, at: 0, offset: 0, duration: 1, complete: true, words: undefined },
  ...more,
});

t.test('a word counts as heard when half of it was played', async (t) => {
  const heard = new HeardText();
  const text = 'One two, three.';
  const words = [
    { text: 'One', start: 0, end: 0.4 },
    { text: 'two,', start: 0.4, end: 0.8 },
    { text: 'three.', start: 0.8, end: 1.2 },
  ];
  heard.note(piece(text, { duration: 1.2, words }));
  const at = (ms: number): string => text.slice(0, heard.at(ms));
  t.same([at(0), at(100), at(300), at(700), at(1200)], ['', '', 'One', 'One two,', text]);
  t.equal(at(1185), text, 'what is over by less than a frame is over');
});

t.test('heard words are counted piece after piece, and by their share without word times', async (t) => {
  const heard = new HeardText();
  const first = 'Four words of text. ';
  const second = 'And more of it.';
  heard.note(piece(first, { duration: 2 }));
  heard.note(piece(second, { index: 1, at: first.length, offset: 2, duration: 1 }));
  const at = (ms: number): string => (first + second).slice(0, heard.at(ms));
  t.equal(at(1000), 'Four ', 'whole words only');
  t.equal(at(2000), first);
  t.equal(at(2600), `${first}And more `);
});

t.test('of a piece that is still synthesised no word counts before it is played', async (t) => {
  const text = 'A long answer, of which a voice has made three seconds and played one so far.';
  const heard = new HeardText();
  const at = (ms: number): string => text.slice(0, heard.at(ms));
  heard.note(piece(text, { duration: 3, complete: false }));
  t.equal(at(1000), 'A long ');
  t.equal(at(3000), 'A long answer, of which a voice has ', 'nor all that is made so far');
  heard.note(piece(text, { duration: 5.5 }));
  t.equal(at(3000), 'A long answer, of which a voice has made ', 'its length is known by now');
});

t.test(
  'of a piece whose voice failed no more counts than was played; another voice may say it again',
  async (t) => {
    const text = 'A long answer, of which a voice has made three seconds before it failed.';
    const heard = new HeardText();
    const at = (ms: number): string => text.slice(0, heard.at(ms));
    heard.note(piece(text, { duration: 2, complete: false }));
    const broken = at(2000);
    t.ok(broken !== '' && broken.length < text.length, broken);
    t.equal(at(6000), broken, 'nor later');
    heard.note(piece(text, { index: 1, offset: 2, duration: 5 }));
    t.equal(at(2100), broken, 'nothing is taken back');
    t.equal(at(7000), text);
  },
);

t.test('in languages without blanks heard words are counted by their share', async (t) => {
  for (const [text, until] of [
    ['您的桌子订好了，星期二九点，我们期待您的光临。', '您的桌子订好了，'],
    ['ご予約は火曜日の九時です。お待ちしております。', 'ご予約は火曜日の'],
  ] as const) {
    const heard = new HeardText();
    heard.note(piece(text, { duration: 4 }));
    t.ok(text.slice(0, heard.at(2000)).startsWith(until), text);
    t.ok(heard.at(2000) <= text.length / 2);
  }
});
