/** JSON that is passed on unchanged: cut out of a request body, and inserted into an answer. */
import t from '../../../fixtures/tap.js';
import { isPlainObject } from '../../../../contracts/schemas/plain-object.js';
import { memberText, RawJson, stringify } from '../../../../contracts/text/raw-json.js';
import { pick, seeded } from '../../../fixtures/random.js';

const member = (text: string) => memberText(text, 'metadata');

t.test('a member is cut out to the letter', async (t) => {
  const values = [
    '{}',
    '{"id":12345678901234567890,"price":1.0,"e":1E+2,"z":-0.0}',
    '{"b":1,"2":2,"1":1,"b":3,"__proto__":4}',
    '{ "a" : [ 1 ,\n\t2 ] }',
    '{"}":"{","\\"":"\\\\","]":"[\\u0022"}',
    '[{"metadata":1}]',
    '"a \\" , } b"',
    '"\\\\"',
    '-1.5e300',
    'true',
    'null',
  ];
  const frames: [string, string][] = [
    ['{"metadata":', '}'],
    [' \r\n{ "x" : {"metadata": [0, {"metadata": 9}]}, "metadata"\t:  ', ' \n, "y":"metadata\\": 1"} '],
    ['{"a":"\\\\","metadata":', ',"z":[]}'],
    ['{"meta\\u0064ata":', '}'],
    ['{"metadata":{"first":1},"metadata":', ',"metadat\\u0061x":7}'],
  ];
  for (const value of values)
    for (const [before, after] of frames) t.equal(member(before + value + after), value, before + value);
});

t.test('there may be none', async (t) => {
  for (const text of ['{}', ' { } ', '[{"metadata":1}]', '["metadata",1]', '"metadata"', '1', 'null', '{"Metadata":1,"a":{"metadata":2}}'])
    t.equal(member(text), undefined, text); // oxfmt-ignore
});

/** JSON as some client may write it. */
function randomJson(random: () => number, depth = 0): string {
  const blank = () => pick(random, ['', '', ' ', '\n', '\t \r']);
  const name = () => pick(random, ['"a"', '"7"', '"metadata"', '"meta\\u0064ata"', '"\\"x"', '""']);
  const list = (item: () => string) =>
    Array.from({ length: Math.floor(random() * 4) }, () => blank() + item() + blank()).join(',');
  const nested = () => randomJson(random, depth + 1);
  const kind = depth > 4 ? 2 : Math.floor(random() * 4);
  if (kind === 0) return `{${list(() => `${name()}${blank()}:${blank()}${nested()}`)}${blank()}}`;
  if (kind === 1) return `[${list(nested)}${blank()}]`;
  return pick(random, [
    '1',
    '-0',
    '1.50',
    '9007199254740993',
    '"x"',
    '"\\\\\\""',
    '"}]{[,:"',
    'true',
    'null',
  ]);
}

t.test('what is cut out is what JSON.parse finds there, in any document', async (t) => {
  const random = seeded(7);
  let found = 0;
  for (let round = 0; round < 5000; round++) {
    const text = randomJson(random);
    const parsed = JSON.parse(text) as unknown;
    const wanted = isPlainObject(parsed) ? parsed['metadata'] : undefined;
    const cut = member(text);
    if (cut !== undefined) found += 1;
    const same =
      cut === undefined ? wanted === undefined : JSON.stringify(JSON.parse(cut)) === JSON.stringify(wanted);
    if (!same) t.fail(`${text}: ${cut}`);
  }
  t.ok(found > 300, `${found} held one`);
});

t.test('long strings cost little time', async (t) => {
  for (const part of ['\\\\', '\\"', 'x', '{'])
    t.equal(member(`{"a":"${part.repeat(500_000)}","metadata":1}`), '1', part);
});

t.test('an answer is what JSON.stringify writes, with the raw text in it', async (t) => {
  const raw = '{ "id": 12345678901234567890 }';
  t.equal(stringify(new RawJson(raw)), raw);
  t.equal(stringify({ a: [{ m: new RawJson(raw) }], b: 'x' }), `{"a":[{"m":${raw}}],"b":"x"}`);
  const plain = {
    a: [1, undefined, null, 'ü"\u2028'],
    b: undefined,
    c: { d: new Date(0) },
    '10': NaN,
    e: () => 1,
  };
  t.equal(stringify(plain), JSON.stringify(plain));
  const whole = stringify({ ...plain, list: [undefined, () => 1, [plain], 'x'], raw: new RawJson(raw) });
  const same = JSON.stringify({ ...plain, list: [undefined, () => 1, [plain], 'x'], raw: 0 });
  t.equal(whole, same.replace('"raw":0', `"raw":${raw}`));
});
