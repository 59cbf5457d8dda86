/** Arriving text is cut like complete text: slices, style tags, flushes. */
import type { Test } from 'tap';
import t from '../../../fixtures/tap.js';
import { TextFeed } from '../../../../actors/text-feed.js';
import type { StreamingSynthesisRequest } from '../../../../contracts/ports/speech/speech.js';
import type { Latency } from '../../../../contracts/ports/speech/tts.js';
import { speakable } from '../../../../engines/text/speakable.js';
import { cutText } from '../../../../engines/text/text-pieces.js';
import { Cutter, PAUSE, type Piece, piecesOf } from '../../../../engines/text/text-source.js';
import { exactly, rejectsExactly } from '../../../fixtures/exactly.js';
import { seeded } from '../../../fixtures/random.js';
import { until } from '../../../fixtures/until.js';
import { standIn } from '../../../fixtures/stand-in.js';

const neverAborted = new AbortController().signal;

const LATENCIES: readonly Latency[] = ['low', 'balanced', 'normal'];

const PROSE =
  'Good morning, Mr. Jones! It is 10.30 a.m. and the U.S. market has opened; prices went up by 3.5 % … "Really?" she ' +
  'asked. Then, after a long and rather winding sentence that has hardly any marks in it at all because somebody once ' +
  'thought that breath is for the weak, they went home.\n\nA new paragraph begins here: one, two, three — and four. ' +
  '今日は良い天気ですね。散歩に行きましょう、それから昼ご飯を食べます。Ende gut, alles gut. ';

const piecesIn = (slices: readonly string[], latency: Latency, chunkLength = 300): Piece[] => {
  const cutter = new Cutter({ latency, chunkLength });
  const pieces = slices.flatMap((slice) => {
    cutter.add(slice);
    return [...cutter.take(false)];
  });
  return [...pieces, ...cutter.take(true)];
};

/** The text in slices of random length, some of them cut within a character. */
function sliced(text: string, random: () => number, most: number): string[] {
  const slices: string[] = [];
  for (let at = 0; at < text.length;) {
    const length = 1 + Math.floor(random() * most);
    slices.push(text.slice(at, at + length));
    at += length;
  }
  return slices;
}

/** Whether the text is spoken though nothing follows it; `most`: how long that is waited for, in ms. */
async function isSpoken(t: Test, text: string, sentenceMs?: number, most = 100): Promise<boolean> {
  const feed = new TextFeed(1000);
  const request = standIn<StreamingSynthesisRequest>({
    ...{ text: feed, latency: 'low', chunkLength: 200 },
    ...(sentenceMs !== undefined && { sentenceMs }),
  });
  const seen: string[] = [];
  const reading = (async () => {
    for await (const piece of piecesOf(request, neverAborted)) if (piece !== PAUSE) seen.push(piece.text);
  })();
  feed.add(text);
  const spoken = await until('it is spoken', () => seen.length > 0, most).catch(() => false);
  feed.end();
  await reading;
  t.equal(seen.join(' '), text.trim(), 'all is spoken in the end');
  return spoken;
}

t.test('a finished sentence is spoken when nothing follows it for a moment', async (t) => {
  const sentence = 'Let me look that up for you. ';
  t.ok(await isSpoken(t, sentence, 10, 60_000));
  t.notOk(await isSpoken(t, 'And what', 10), 'half of one is not');
  t.notOk(await isSpoken(t, 'It costs 3.', 10), 'nor a number that may go on');
  t.notOk(await isSpoken(t, sentence), 'nor where nobody is on the line');
});

t.test('a pause follows a flush only if nothing else does, and speech goes before it', async (t) => {
  const feed = new TextFeed(1000);
  feed.flush();
  const seen: string[] = [];
  const request = standIn<StreamingSynthesisRequest>({ text: feed, latency: 'low', chunkLength: 200 });
  const reading = (async () => {
    for await (const piece of piecesOf(request, neverAborted))
      seen.push(piece === PAUSE ? 'pause' : piece.text);
  })();
  const reaches = (count: number) => until(`${count} have come`, () => seen.length >= count);
  await new Promise(setImmediate);
  feed.add('one');
  feed.flush();
  feed.add('two');
  feed.flush();
  await reaches(3);
  feed.add('three');
  feed.end();
  await reading;
  t.strictSame(seen, ['one', 'two', 'pause', 'three']);
});

t.test('text that arrives in any slices is cut as the whole text is', async (t) => {
  const random = seeded(7);
  const text = PROSE.repeat(3);
  for (const latency of LATENCIES) {
    const wanted = [...cutText(text, { latency, chunkLength: 200 })];
    t.ok(wanted.length > 5);
    for (let run = 0; run < 30; run++) {
      const slices = sliced(text, random, run < 10 ? 3 : 60);
      const pieces = piecesIn(slices, latency, 200);
      t.strictSame(
        pieces.map((piece) => piece.text),
        wanted,
        `${latency}, run ${run}`,
      );
      t.ok(
        pieces.every(({ text: piece, at }) => text.startsWith(piece, at)),
        'each piece says where it stands',
      );
    }
  }
});

t.test('no cut goes through a style tag, wherever the slices end', async (t) => {
  const tagged =
    'Well then [in a hurry tone] off we go (very excited) now and <break time="1.5s" /> <phoneme alphabet="cmu-arpabet" ph="M AE1 D IH0 S AH0 N">Madison</phoneme> <|speaker:0|>then some more words (laughing) end. ';
  const text = tagged.repeat(8);
  const bare = speakable(text).text.replace(/\s+/gu, ' ').trim();
  const random = seeded(11);
  for (let run = 0; run < 60; run++) {
    const latency = LATENCIES[run % 3] ?? 'low';
    const pieces = piecesIn(sliced(text, random, 9), latency, 100);
    const said = pieces
      .map((piece) => speakable(piece.text, { beginsLine: !piece.goesOn }).text)
      .join(' ')
      .replace(/\s+/gu, ' ')
      .trim();
    t.equal(said, bare);
  }
});

t.test('a flush completes what is there, and the next piece is a first one again', async (t) => {
  const cutter = new Cutter({ latency: 'low', chunkLength: 300 });
  cutter.add('Hello there');
  t.strictSame([...cutter.take(false)], [], 'nothing is complete');
  t.strictSame([...cutter.take(true)], [{ text: 'Hello there', at: 0 }]);
  cutter.add(' and welcome to this long sentence, which begins with a clause');
  exactly(t, [...cutter.take(false)], [{ text: 'and welcome to this long sentence,', at: 12 }]);
});

t.test(
  'the event loop turns while a reader skips pieces, of a whole text and of one that arrives',
  async (t) => {
    const text = '?'.repeat(500_000);
    const feed = new TextFeed(text.length);
    feed.add(text);
    feed.end();
    for (const from of [text, feed]) {
      let turns = 0;
      const count = (): void => {
        turns += 1;
        counting = setImmediate(count);
      };
      let counting = setImmediate(count);
      let pieces = 0;
      const request = {
        text: from,
        latency: 'low',
        chunkLength: 300,
      } as unknown as StreamingSynthesisRequest;
      for await (const piece of piecesOf(request, neverAborted)) if (piece !== PAUSE) pieces += 1;
      clearImmediate(counting);
      t.ok(pieces > 1000 && turns > 2, `${turns} turns in ${pieces} pieces`);
    }
  },
);

t.test('an abort ends the pieces at the next turn of the event loop', async (t) => {
  const reason = new Error('gone');
  const ending = new AbortController();
  setImmediate(() => ending.abort(reason));
  const request = { text: '?'.repeat(500_000), latency: 'low', chunkLength: 300 } as const;
  const reading = async () => {
    for await (const piece of piecesOf(request as unknown as StreamingSynthesisRequest, ending.signal))
      void piece;
  };
  await rejectsExactly(t, reading(), reason);
});

t.test('the event loop turns while mebibytes of white space complete no piece', async (t) => {
  let turns = 0;
  let timer = setImmediate(function again() {
    turns += 1;
    timer = setImmediate(again);
  });
  const request = { text: `a${' '.repeat(4 << 20)}`, latency: 'low', chunkLength: 200 } as const;
  const seen: string[] = [];
  for await (const piece of piecesOf(request as unknown as StreamingSynthesisRequest, neverAborted))
    if (piece !== PAUSE) seen.push(piece.text);
  clearImmediate(timer);
  t.strictSame(seen, ['a']);
  t.ok(turns > 3, `${turns} turns`);
});
