/** Large bodies are parsed as small ones are, in turns of the event loop. */
import { encode } from '@msgpack/msgpack';
import t from '../../../../fixtures/tap.js';
import { walkJson } from '../../../../../gateway/server/bodies/json-walk.js';
import { walkMsgpack } from '../../../../../gateway/server/bodies/msgpack-walk.js';
import { JSON_BOUNDS } from '../../../../../gateway/server/bodies/structure.js';
import { rejectsExactly } from '../../../../fixtures/exactly.js';

const MALFORMED = { code: 'malformed_body' };
const walked = (text: string): Promise<unknown> => walkJson(Buffer.from(text));

const DOCUMENTS = [
  'null',
  ' [ ] ',
  '{}',
  '"a\\"b\\\\"',
  '[1,-2.5e+10,true,false,null,"",{"a":{"b":[[]]}}]',
  ' {"a" : 1 ,\n"b":\t[1 , 2 ]\r}\n',
  '{"__proto__":{"a":1},"a":1,"a":2,"2":1,"1":2}',
  '"\\u00e4\\ud83d\\ude00\\n\\/ ä 😀"',
  JSON.stringify({ text: 'x😀"\\'.repeat(40_000), tail: ['\u2028'] }),
  JSON.stringify(Array.from({ length: 3000 }, (_, at) => ({ at, text: `${at}` }))),
];

const NO_DOCUMENTS = [
  '',
  ' ',
  '{',
  '[1,]',
  '[,1]',
  '{"a":1,}',
  '{"a"}',
  '{"a":}',
  '{a:1}',
  '[1 2]',
  '1 2',
  '"a',
  '"a\\"',
  '"\\x"',
  '"\n"',
  '01',
  '+1',
  'NaN',
  'nul',
  '[1]]',
  '{"a":1]',
  '\ufeff1',
];

t.test('JSON is read as by JSON.parse', async (t) => {
  for (const text of DOCUMENTS) {
    const expected: unknown = JSON.parse(text);
    t.strictSame(await walked(text), expected, text.slice(0, 60));
    t.equal(JSON.stringify(await walked(text)), JSON.stringify(expected));
  }
});

/** How often the loop turned until the work was done. */
async function turnsOf(work: Promise<unknown>): Promise<number> {
  let turns = 0;
  const count = (): NodeJS.Immediate => setImmediate(() => ((turns += 1), (next = count())));
  let next = count();
  await work;
  clearImmediate(next);
  return turns;
}

t.test('the loop turns while a document of many short strings is read', async (t) => {
  const strings = Array.from({ length: 20_000 }, (_, at) => `${at} ${'x'.repeat(100)}`);
  t.ok((await turnsOf(walked(JSON.stringify(strings)))) > 2, 'JSON');
  t.ok((await turnsOf(walkMsgpack(encode(strings)))) > 2, 'MessagePack');
});

t.test('what is no JSON is refused', async (t) => {
  for (const text of NO_DOCUMENTS) {
    t.throws(() => JSON.parse(text) as unknown);
    await rejectsExactly(t, walked(text), MALFORMED, text);
  }
  await rejectsExactly(t, walkJson(Buffer.from([0x22, 0xff, 0x22])), MALFORMED, 'no UTF-8');
});

t.test('bounds of JSON: escaped quotes', async (t) => {
  const { escapes } = JSON_BOUNDS;
  const quotes = (count: number): string => `"${'\\"'.repeat(count)}"`;
  const [first = '', second = ''] = (await walked(
    `[${quotes(escapes / 2)},${quotes(escapes / 2)}]`,
  )) as string[];
  t.equal(first.length + second.length, escapes);
  await rejectsExactly(
    t,
    walked(`[${quotes(escapes / 2)},${quotes(escapes / 2 + 1)}]`),
    MALFORMED,
    'of all strings together',
  );
});

t.test('bounds of JSON: depth, nodes, bytes outside of strings', async (t) => {
  const { depth, nodes, outside } = JSON_BOUNDS;
  const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels);
  t.ok(await walked(nested(depth)));
  await rejectsExactly(t, walked(nested(depth + 1)), MALFORMED);
  t.equal(((await walked(`[${'1,'.repeat(nodes - 2)}1]`)) as unknown[]).length, nodes - 1);
  await rejectsExactly(t, walked(`[${'1,'.repeat(nodes)}1]`), MALFORMED);
  t.equal(await walked(`${' '.repeat(outside)}1`), 1);
  await rejectsExactly(t, walked(`${' '.repeat(outside + 1)}1`), MALFORMED);
});

t.test('MessagePack is read as by its package', async (t) => {
  const long = 'ä😀x'.repeat(60_000);
  const value = {
    long,
    binary: new Uint8Array([1, 2, 3]),
    list: [1, -1, 1.5, null, true, 2 ** 40, 'x', 'y'.repeat(300)],
    empty: [{}, []],
    many: Object.fromEntries(Array.from({ length: 5000 }, (_, at) => [`k${at}`, at])),
  };
  const bytes = encode(value);
  t.strictSame(await walkMsgpack(bytes), value);
  const binary = (await walkMsgpack(bytes)) as typeof value;
  t.equal(binary.binary.buffer, bytes.buffer, 'binary is not copied');
  await t.rejects(walkMsgpack(bytes.subarray(0, -1)));
  await rejectsExactly(t, walkMsgpack(Buffer.concat([bytes, Buffer.from([1])])), MALFORMED);
  await rejectsExactly(t, walkMsgpack(encode({ __proto__x: 1, ['__proto__']: 1 })), MALFORMED);
  await rejectsExactly(
    t,
    walkMsgpack(new Uint8Array(JSON_BOUNDS.depth + 2).fill(0x91)),
    MALFORMED,
    'too deep',
  );
  await rejectsExactly(t, walkMsgpack(new Uint8Array([0xdd, 0xff, 0xff, 0xff, 0xff])), MALFORMED, 'too many');
});
