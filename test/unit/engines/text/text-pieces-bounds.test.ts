/** Cutting of texts that are hard to cut: no piece passes a bound, and no time either. */
import t from '../../../fixtures/tap.js';
import { LIMITS } from '../../../../contracts/limits.js';
import type { Latency } from '../../../../contracts/ports/speech/tts.js';
import { breaksIn } from '../../../../engines/text/text-breaks.js';
import { speakable } from '../../../../engines/text/speakable.js';
import { cutText } from '../../../../engines/text/text-pieces.js';
import { shortOrLong } from '../../../fixtures/long.js';

const pieces = (text: string, latency: Latency, chunkLength: number): string[] => [
  ...cutText(text, { latency, chunkLength }),
];

const LONG_TEXTS = [
  'word '.repeat(500),
  'a'.repeat(1000),
  '字'.repeat(1000),
  '👩‍👩‍👧‍👦'.repeat(100),
  '\u0301'.repeat(500),
  'clause, '.repeat(200),
  '. '.repeat(400),
  `${'x'.repeat(150)}. ${'y '.repeat(400)}`,
];

t.test('no piece is empty or passes the chunk length, and no word is lost', async (t) => {
  const { min, max } = LIMITS.native.chunkLength;
  const plain = (text: string): string => text.replace(/\s/gu, '');
  for (const text of LONG_TEXTS) {
    for (const latency of ['low', 'balanced', 'normal'] as const) {
      for (const chunkLength of [min, max]) {
        const cut = pieces(text, latency, chunkLength);
        const isWhole = plain(cut.join('')) === plain(text);
        if (!isWhole || cut.some(({ length }) => length === 0 || length > chunkLength))
          t.fail(`${text.slice(0, 8)} ${latency} ${chunkLength}: ${cut.join('|')}`);
      }
    }
    t.pass(text.slice(0, 8));
  }
});

const HEAVY = [
  'Hello there my friend, yes. ',
  'a',
  'a. ',
  '. ',
  ' ',
  '\n',
  '"',
  '… ',
  '(a',
  '好，',
  'Mr. ',
  '\u200d',
  '<|speaker:',
  '<break time="1s" ',
];

/** In the long form a mebibyte. */
const SIZE = shortOrLong(256, 1024) * 1024;

t.test('text of any kind is cut in linear time', async (t) => {
  const cost = (text: string, latency: Latency): number => {
    const begin = process.cpuUsage();
    for (const piece of cutText(text, { latency, chunkLength: 100 })) void piece;
    speakable(text);
    const { user, system } = process.cpuUsage(begin);
    return user + system;
  };
  const latencies: readonly Latency[] = ['low', 'normal'];
  for (const [index, unit] of HEAVY.entries()) {
    // One latency per unit, in turn; all pairs in the long form.
    for (const latency of shortOrLong([latencies[index % 2]!], latencies)) {
      const text = unit.repeat(Math.ceil(SIZE / unit.length));
      const eighth = Math.min(...[1, 2, 3].map(() => cost(text.slice(0, SIZE / 8), latency)));
      // For eight times the text a quadratic cut would take sixty-four times as long. The constant allows for noise.
      t.ok(cost(text, latency) < 30 * eighth + 200_000, `${JSON.stringify(unit)} ${latency}`);
    }
  }
});

t.test('breaks come in order and inside the text', async (t) => {
  for (const text of [...LONG_TEXTS, ...HEAVY.map((unit) => unit.repeat(50))]) {
    let last = 0;
    for (const { end } of breaksIn(text, 0, text.length, true)) {
      if (end <= last || end > text.length) t.fail(`a break at ${end} behind ${last}`);
      last = end;
    }
  }
  t.pass('all in order');
});
