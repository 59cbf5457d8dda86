/** The counter of o200k_base tokens: correct for every kind of text, and slow for none (docs/contract/platform.md 6.3). */
import { getEncoding } from 'js-tiktoken';
import ranks from 'js-tiktoken/ranks/o200k_base';
import t from '../../../fixtures/tap.js';
import { systemClock } from '../../../../contracts/clock.js';
import { ServiceError } from '../../../../contracts/errors.js';
import { LIMITS } from '../../../../contracts/limits.js';
import { defaultModelsFolder } from '../../../../engines/backends/model-files.js';
import { createCounter } from '../../../../engines/tokens/o200k.js';
import { createTokenCounter } from '../../../../engines/tokens/tokens.js';
import { TokenVocabulary } from '../../../../engines/tokens/vocabulary.js';
import { SimulatedClock } from '../../../fixtures/clock.js';
import { rejectsExactly } from '../../../fixtures/exactly.js';
import { shortOrLong } from '../../../fixtures/long.js';
import { seeded } from '../../../fixtures/random.js';

const counter = createCounter(defaultModelsFolder);
const stock = getEncoding('o200k_base');

const TEXTS: Readonly<Record<string, string>> = {
  empty: '',
  word: 'hello',
  prose: 'You help the callers of a bakery. It opens at 7:30, and it’s closed on Sundays!\n\nBe brief.  ',
  contractions: "I'll we're don't HE'S it'd I'm they've",
  numbers: '1 22 333 4444 1234567890 3.14159',
  code: 'function f(x) {\r\n\treturn x?.y ?? `${z}`;\n}\n\n\n',
  japanese: 'こんにちは、今日はいい天気ですね。東京タワーへ行きましょう。',
  chinese: '你好，我想预订明天晚上七点的座位，一共四个人。',
  korean: '안녕하세요. 내일 오후 세 시에 예약하고 싶어요.',
  arabic: 'مرحبا كيف يمكنني مساعدتك اليوم؟',
  emoji: '👩‍👩‍👧‍👦🎉🇫🇷 ok 👍🏽',
  combining: 'e\u0301a\u0308 Z\u0351\u036b\u0343\u036a\u0302A\u0317',
  spaces: '   \t  \n \n   x   ',
  signs: '!!!???...---===***///\\\\\\ ({[<>]})',
  mixed: 'CamelCaseWordsAndURLs https://example.com/a?b=c&d=e#f',
};

const ASKER = { workspaceId: 'ws' };

t.test('counts what the tokenizer itself counts', async (t) => {
  for (const [name, text] of Object.entries(TEXTS))
    t.equal(counter.count(text), stock.encode(text).length, name);
});

t.test('a text is counted off this thread, to its end', async (t) => {
  const counting = createTokenCounter({ clock: systemClock });
  t.teardown(() => counting.stop());
  t.same(await Promise.all(['', 'hello', TEXTS['prose']!].map((text) => counting.countTokens(text, ASKER))), [
    0,
    1,
    counter.count(TEXTS['prose']!),
  ]);
});

t.test('agrees on random texts of all sorts of characters', async (t) => {
  const random = seeded(7);
  const signs = [...'abcdefXYZ019 \n\t.,\'"{}-_éßñжд你好こん한글🎉ا\u0301'];
  for (let round = 0; round < 300; round++) {
    const length = 1 + Math.floor(random() * 80);
    const text = Array.from({ length }, () => signs[Math.floor(random() * signs.length)]).join('');
    const counted = counter.count(text);
    const expected = stock.encode(text).length;
    if (counted !== expected) t.equal(counted, expected, JSON.stringify(text));
  }
});

/** Calls of a method of `prototype` during `task`: the work of counting, whatever the speed of the machine. */
function callsOf<Name extends string>(
  prototype: Record<Name, (...args: never[]) => unknown>,
  name: Name,
  task: () => unknown,
): number {
  const method = prototype[name];
  let calls = 0;
  prototype[name] = function (this: unknown, ...args: never[]) {
    calls++;
    return method.apply(this, args);
  };
  try {
    task();
  } finally {
    prototype[name] = method;
  }
  return calls;
}

t.test('no text of the allowed length takes more than four look-ups a byte', async (t) => {
  const short = 'a'.repeat(1000);
  const ofStock = callsOf(Map.prototype, 'get', () => stock.encode(short));
  t.ok(ofStock > 100 * short.length, 'a stock tokenizer takes far more');
  const length = shortOrLong(0.2, 1) * LIMITS.agent.systemPromptLength;
  const random = seeded(3);
  const letters = Array.from({ length }, () => String.fromCharCode(97 + Math.floor(random() * 26))).join('');
  const hostile = ['a'.repeat(length), letters, 'ab'.repeat(length / 2), '漢'.repeat(length), ' '.repeat(length), 'A'.repeat(length), '\u0301'.repeat(length), '🎉'.repeat(length / 2)]; // oxfmt-ignore
  for (const text of hostile) {
    const lookUps = callsOf(TokenVocabulary.prototype, 'rankOf', () => counter.count(text));
    t.ok(lookUps > 0 && lookUps <= 4 * Buffer.byteLength(text), text.slice(0, 4));
  }
});

t.test('no token is longer than the counter thinks', async (t) => {
  // Text of more than 128 bytes per allowed token is refused without being counted.
  const lines = ranks.bpe_ranks.split('\n').filter(Boolean);
  const entries = lines.flatMap((line) => line.split(' ').slice(2));
  const longest = entries.reduce((most, entry) => Math.max(most, Buffer.from(entry, 'base64').length), 0);
  t.equal(longest, 128);
});

t.test('on its thread', async (t) => {
  const threaded = createTokenCounter({ clock: systemClock });
  t.teardown(() => threaded.stop());
  const word = ' bakery';
  t.equal(stock.encode(word.repeat(4000)).length, 4000);

  t.test('the limit itself is allowed, one more is not', async (t) => {
    t.equal(await threaded.exceedsTokens(word.repeat(4000), 4000, ASKER), false);
    t.equal(await threaded.exceedsTokens(word.repeat(4001), 4000, ASKER), true);
  });

  t.test('a text whose bytes decide needs no thread, and an idle thread ends', async (t) => {
    let threads = 0;
    const count = (): void => void threads++;
    process.on('worker', count);
    t.teardown(() => process.off('worker', count));
    const clock = new SimulatedClock();
    const own = createTokenCounter({ clock });
    t.teardown(() => own.stop());
    t.equal(await own.exceedsTokens('é'.repeat(2000), 4000, ASKER), false);
    t.equal(await own.exceedsTokens('a'.repeat(4000 * 128 + 1), 4000, ASKER), true);
    t.equal(threads, 0);
    t.equal(await own.exceedsTokens(word.repeat(700), 4000, ASKER), false);
    clock.advance(30_000);
    t.equal(await own.exceedsTokens(word.repeat(700), 4000, ASKER), false);
    t.equal(threads, 1, 'it stays for a while');
    clock.advance(59_000);
    t.equal(await own.exceedsTokens(word.repeat(700), 4000, ASKER), false);
    t.equal(threads, 1, 'each text makes the while begin anew');
    clock.advance(60_000);
    t.equal(await own.exceedsTokens(word.repeat(700), 4000, ASKER), false);
    t.equal(threads, 2, 'it had ended');
  });

  t.test('texts that wait are bounded; those within the bound are all counted', async (t) => {
    const text = word.repeat(4001);
    const asked = Array.from({ length: LIMITS.tokenQueue + 4 }, () =>
      threaded.exceedsTokens(text, 4000, ASKER).catch((error: unknown) => error),
    );
    const results = await Promise.all(asked);
    t.equal(results.filter((result) => result === true).length, LIMITS.tokenQueue + 1);
    const refused = results.filter((result) => result instanceof ServiceError);
    t.strictSame(
      refused.map(({ code }) => code),
      ['overloaded', 'overloaded', 'overloaded'],
    );
  });

  t.test('workspaces take turns, and a full queue refuses the one that fills it', async (t) => {
    const text = word.repeat(701);
    const order: string[] = [];
    const ask = (workspaceId: string): Promise<unknown> =>
      threaded.exceedsTokens(text, 4000, { workspaceId }).then(
        () => order.push(workspaceId),
        () => order.push(`${workspaceId} refused`),
      );
    const many = Array.from({ length: LIMITS.tokenQueue + 1 }, () => ask('many'));
    await Promise.all([...many, ask('one')]);
    t.ok(order.indexOf('one') <= 3, order.slice(0, 5).join(', '));
    t.equal(order.filter((name) => name === 'many refused').length, 1);
  });

  t.test('a thread that is stopped fails its texts, and the next text starts another', async (t) => {
    const waiting = threaded.exceedsTokens(word.repeat(4001), 4000, ASKER);
    waiting.catch(() => undefined);
    await threaded.stop();
    await rejectsExactly(t, waiting, { code: 'overloaded' });
    t.equal(await threaded.exceedsTokens(word.repeat(4001), 4000, ASKER), true);
  });
});
