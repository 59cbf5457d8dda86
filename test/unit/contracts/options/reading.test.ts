/** How requests are read by the rows of the table of options: spelling, refusals, precedence, descriptions (rules 2 to 4). */
import t from '../../../fixtures/tap.js';
import { describedBody, describedParameters } from '../../../../contracts/options/describing.js';
import { inOrder, type Mapping, mappedOptions, PRECEDENCE } from '../../../../contracts/options/mapping.js';
import {
  isAbsent,
  isList,
  loggedOptions,
  queryFields,
  refuseOptions,
  rowsIn,
  shownBelow,
  unlistedOptions,
  usedIn,
  valueAt,
  withSpellings,
} from '../../../../contracts/options/reading.js';
import {
  allIgnored,
  ignored,
  mapped,
  type OptionRows,
  refused,
  used,
} from '../../../../contracts/options/row.js';
import type { NativeOptions } from '../../../../contracts/schemas/native-options.js';
import { Type } from '../../../../contracts/schemas/type.js';
import { exactly, throwsExactly } from '../../../fixtures/exactly.js';

const BODY = ['body'] as const;

t.test('a number may be text, a word in capitals; nothing else changes', async (t) => {
  const rows = {
    speed: used(BODY, Type.Number(), { spelled: 'number' }),
    format: used(BODY, Type.String(), { spelled: 'word' }),
    plain: used(BODY, Type.String()),
  };
  t.strictSame(withSpellings({ speed: '1.2', format: 'MP3', plain: '7', other: 'X' }, rows), {
    speed: 1.2,
    format: 'mp3',
    plain: '7',
    other: 'X',
  });
  t.strictSame(withSpellings({ format: 7, speed: 'fast' }, rows), { format: 7, speed: 'fast' });
  t.strictSame(withSpellings({}, rows), {}, 'what is absent stays absent');
  const inherited = Object.create({ speed: '2' }) as Record<string, unknown>;
  t.strictSame(withSpellings(inherited, rows), {}, 'fields are own ones');
});

t.test('every value of a list counts, of another name the last one', async (t) => {
  const rows = { tags: used(['query'], Type.String(), { list: true }), one: used(['query'], Type.String()) };
  t.strictSame(queryFields(new URLSearchParams('tags=a&one=1&tags=b&one=2&more=x'), rows), {
    tags: ['a', 'b'],
    one: '2',
    more: 'x',
  });
  t.equal(isList(rows, 'tags'), true);
  for (const name of ['one', 'more', 'toString']) t.equal(isList(rows, name), false, name);
});

t.test('a word that counts as unset is absent, unless the option keeps it', async (t) => {
  const rows = {
    times: used(['form'], Type.String(), { keeps: ['none'] }),
    one: used(['form'], Type.String()),
  };
  for (const word of ['none', ' None ']) t.equal(isAbsent(rows, 'times', word), false, word);
  for (const word of ['', 'false', 'null']) t.equal(isAbsent(rows, 'times', word), true, word);
  for (const name of ['one', 'unknown', 'toString']) t.equal(isAbsent(rows, name, 'none'), true, name);
  t.equal(isAbsent(rows, 'one', 'some'), false);
});

const refuses = (rows: OptionRows, fields: Record<string, unknown>): string | undefined => {
  try {
    refuseOptions(fields, rows);
    return undefined;
  } catch (error) {
    return (error as { param?: string }).param;
  }
};

t.test('an option is refused if it is requested: unset, passing and unknown ones are not', async (t) => {
  const rows = {
    first: refused(BODY, 'Not first'),
    second: refused(BODY, 'Not second', { passes: ['audio', 7] }),
    ignored: ignored(BODY, 'has no effect'),
    used: used(BODY, Type.Unknown()),
  };
  t.equal(refuses(rows, { first: 'x', second: 'x' }), 'first', 'the first of the table');
  t.equal(refuses(rows, { second: 'sse' }), 'second');
  throwsExactly(t, () => refuseOptions({ second: 'sse' }, rows), {
    code: 'unsupported_option',
    message: 'Not second',
  });
  for (const passing of ['audio', 7, undefined, null, '', 'false', 0, []])
    t.equal(refuses(rows, { second: passing }), undefined, String(passing));
  t.equal(refuses(rows, { ignored: 'x', used: 'x', other: 'x' }), undefined);
});

t.test('an option may be refused by some words only, or for every value but those that pass', async (t) => {
  const only = { log: refused(BODY, 'Always logged', { only: ['false', 'off'], keeps: ['false'] }) };
  for (const word of ['false', ' False ', 'OFF', false])
    t.equal(refuses(only, { log: word }), 'log', String(word));
  for (const word of ['', 'null', 'true', '0', 0, undefined, null, { toString: 1 }])
    t.equal(refuses(only, { log: word }), undefined, JSON.stringify(word));
  const strict = { commit: refused(BODY, 'By hand', { passes: ['manual'], evenUnset: true }) };
  for (const word of ['', 'none', 'vad']) t.equal(refuses(strict, { commit: word }), 'commit', word);
  for (const word of ['manual', undefined])
    t.equal(refuses(strict, { commit: word }), undefined, String(word));
  t.strictSame(only.log.keeps, ['false']);
  t.strictSame(only.log.refusal, { why: 'Always logged', only: ['false', 'off'] });
  t.strictSame(strict.commit.refusal, { why: 'By hand', passes: ['manual'], evenUnset: true });
  t.strictSame(refused(BODY, 'No'), { in: BODY, effect: 'refused', refusal: { why: 'No' } });
});

t.test('a used option may have values that are refused', async (t) => {
  const refusal = { why: 'Not by character', passes: ['word', 'none'] };
  const rows = { times: used(BODY, Type.String(), { refusal }) };
  t.equal(refuses(rows, { times: 'character' }), 'times');
  t.equal(refuses(rows, { times: 'word' }), undefined);
});

t.test('ignored options: those that are logged, and those that a session repeats', async (t) => {
  const rows = {
    diarize: ignored(BODY, 'speakers', { logged: true }),
    seed: ignored(BODY, 'no sampling'),
    read: used(BODY, Type.Unknown()),
    'a.b.prompt': ignored(['session'], 'no text', { shown: true }),
    'a.b.quiet': ignored(['session'], 'no text'),
    'a.c.prompt': ignored(['session'], 'no text', { shown: true }),
  };
  t.strictSame(loggedOptions({ diarize: 'true', seed: 7, read: 1 }, rows), ['diarize']);
  t.strictSame(loggedOptions({ diarize: 'false' }, rows), [], 'unset is not requested');
  t.strictSame(shownBelow(rows, 'a.b'), ['prompt']);
  t.strictSame(allIgnored(['x', 'y'], BODY, 'why'), { x: ignored(BODY, 'why'), y: ignored(BODY, 'why') });
});

const ROWS = {
  text: used(BODY, Type.String()),
  'inner.part': used(BODY, Type.String()),
  where: used(['query', 'body'], Type.Optional(Type.Integer())),
  hidden: used(['query'], Type.Integer()),
  gone: ignored(BODY, 'none'),
  never: refused(BODY, 'None'),
  speed: mapped(BODY, 'prosody.speed', Type.Number()),
  own: mapped(BODY, 'temperature', Type.Number(), { aggregatorOnly: true }),
  'set.style': mapped(BODY, 'top_p', Type.Number()),
} as const;

t.test('a schema to check by has the options that are used as they are', async (t) => {
  t.strictSame(Object.keys(usedIn(ROWS, 'body')), ['text', 'where']);
  t.strictSame(Object.keys(usedIn(ROWS, 'query')), ['where', 'hidden']);
  t.strictSame(Object.keys(rowsIn(ROWS, 'query')), ['where', 'hidden']);
});

t.test('a description has the options with an effect, and objects of those with members', async (t) => {
  const described = (aggregator?: boolean) => describedBody(ROWS, 'body', aggregator) as unknown as object;
  const inner = { anyOf: [{ type: 'object', properties: { part: { type: 'string' } } }, { type: 'null' }] };
  const set = { anyOf: [{ type: 'object', properties: { style: { type: 'number' } } }, { type: 'null' }] };
  const properties = { text: { type: 'string' }, where: { type: 'integer' }, speed: { type: 'number' } };
  t.strictSame(described(), {
    type: 'object',
    required: ['text'],
    properties: { ...properties, inner, set },
  });
  exactly(t, described(true), { properties: { own: { type: 'number' } } });
  const own = { audio: used(BODY, Type.String()), 'audio.voice': used(BODY, Type.String()) };
  t.strictSame(describedBody(own, 'body') as unknown, { type: 'object', required: ['audio'], properties: { audio: { type: 'string' } } }); // oxfmt-ignore
  t.strictSame(describedParameters(ROWS, 'query'), [
    { name: 'where', in: 'query', schema: { type: 'integer' } },
    { name: 'hidden', in: 'query', schema: { type: 'integer' } },
  ]);
  const headers = {
    top_p: used(['header'], Type.Number()),
    own: used(['header'], Type.Number(), { aggregatorOnly: true }),
  };
  t.strictSame(
    describedParameters(headers, 'header', (name) => `X-${name}`),
    [{ name: 'X-top_p', in: 'header', schema: { type: 'number' } }],
  );
});

t.test('the value at a path, if every object on the way is there', async (t) => {
  t.equal(valueAt({ a: { b: 7 } }, 'a.b'), 7);
  t.strictSame(valueAt({ a: { b: 7 } }, 'a'), { b: 7 });
  for (const path of ['b', 'a.c', 'a.b.c', 'toString', 'a.toString'])
    t.equal(valueAt({ a: { b: 7 } }, path), undefined, path);
});

const NATIVE: OptionRows = {
  speed: mapped(BODY, 'prosody.speed', Type.Number({ minimum: 0.5, maximum: 2 }), { spelled: 'number' }),
  'set.calm': mapped(BODY, 'temperature', Type.Number({ minimum: 0, maximum: 1 }), {
    convert: (value) => 1 - Number(value),
  }),
  words: mapped(BODY, 'normalize', Type.String(), { values: { auto: undefined, on: true, off: false } }),
  top_p: mapped(BODY, 'top_p', Type.Number()),
  repetition_penalty: mapped(BODY, 'repetition_penalty', Type.Number(), { aggregatorOnly: true }),
  gone: ignored(BODY, 'none'),
};

const native = (
  fields: Record<string, unknown>,
  stronger: NativeOptions = {},
  more: Partial<Mapping> = {},
) => {
  const { prosody = {}, ...options } = mappedOptions(fields, { rows: NATIVE, ...more }, stronger);
  return Object.keys(prosody).length > 0 ? { ...options, prosody } : options;
};

t.test('an option that stands for a native one has its value, converted or looked up', async (t) => {
  t.strictSame(native({ speed: '1.5', set: { calm: 0.25 }, words: ' OFF ', top_p: 0.5, gone: 1 }), {
    prosody: { speed: 1.5 },
    temperature: 0.75,
    normalize: false,
    top_p: 0.5,
  });
  t.strictSame(native({ words: 'on' }), { normalize: true });
  for (const fields of [{}, { words: 'auto' }, { words: '' }, { words: null, set: null, speed: null }])
    t.strictSame(native(fields), {});
  t.strictSame(native({ set: { calm: null, other: 'x' } }), {}, 'members without a row are not read');
});

t.test('a value that is no value of its option is refused by its name', async (t) => {
  const cases: [Record<string, unknown>, string, RegExp][] = [
    [{ speed: 9 }, 'speed', /^speed must be in \[0.5, 2\]/],
    [{ speed: 'fast' }, 'speed', /number/],
    [{ set: { calm: 2 } }, 'set.calm', /^calm must be in \[0, 1\]/],
    [{ set: 'calm' }, 'set', /^set must be of type object$/],
    [{ words: 'maybe' }, 'words', /^words must be one of auto, on, off$/],
    [{ words: 7 }, 'words', /must be one of/],
    [{ words: '__proto__' }, 'words', /must be one of/],
    [{ top_p: 'x' }, 'top_p', /number/],
    [{ top_p: 9 }, 'top_p', /in \[0, 1\]/],
    [{ words: null, speed: 9, s: 'x' }, 'speed', /^speed/],
  ];
  for (const [fields, param, message] of cases)
    throwsExactly(t, () => native(fields), { code: 'invalid_request', param, message }, param);
});

t.test('rule 4: what a stronger place has is not read', async (t) => {
  const stronger = { temperature: 0.1, prosody: { speed: 1 }, normalize: true, top_p: 1 };
  t.strictSame(native({ speed: 99, set: { calm: 7 }, words: 'maybe', top_p: 'x' }, stronger), {});
  t.strictSame(native({ speed: 2 }, { prosody: { volume: 3 } }), { prosody: { speed: 2 } });
});

t.test('options of the aggregator are read on its base only', async (t) => {
  t.strictSame(native({ repetition_penalty: 2 }), {});
  t.strictSame(native({ repetition_penalty: 'x' }), {}, 'and are not validated elsewhere');
  t.strictSame(native({ repetition_penalty: 2 }, {}, { aggregator: true }), { repetition_penalty: 2 });
});

t.test('a reader of its own reads an option; the first of two for one native option counts', async (t) => {
  const rows = {
    one: mapped(BODY, 'references', Type.Unknown()),
    two: mapped(BODY, 'references', Type.Unknown()),
  };
  const readers = {
    one: (value: unknown): NativeOptions => ({ references: [value] }),
    two: (): NativeOptions => ({ references: ['two'] }),
  };
  const read = (fields: Record<string, unknown>) => mappedOptions(fields, { rows, readers }, {}).references;
  t.strictSame(read({ one: 'a', two: 'b' }), ['a']);
  t.strictSame(read({ two: 'b' }), ['two']);
});

t.test('rule 4: header, then provider.options, then the fields of the request', async (t) => {
  t.strictSame(PRECEDENCE, ['header', 'provider.options', 'body']);
  const seen: [string, unknown][] = [];
  const source =
    (name: string, options: NativeOptions) =>
    (stronger: NativeOptions): NativeOptions => {
      seen.push([name, stronger.temperature]);
      return options;
    };
  const options = inOrder({
    body: source('body', {
      temperature: 0.3,
      top_p: 0.3,
      chunk_length: 300,
      prosody: { speed: 2, volume: 2 },
    }),
    header: source('header', { temperature: 0.1, prosody: { speed: 1 } }),
    'provider.options': source('provider.options', { temperature: 0.2, top_p: 0.2 }),
  });
  t.strictSame(options, {
    temperature: 0.1,
    top_p: 0.2,
    chunk_length: 300,
    prosody: { speed: 1, volume: 2 },
  });
  t.strictSame(seen, [
    ['header', undefined],
    ['provider.options', 0.1],
    ['body', 0.1],
  ]);
  t.strictSame(inOrder({}), { prosody: {} });
});

t.test('what has no row is told by its path, as far down as rows go', async (t) => {
  const rows = { 'a.b.c': ignored(BODY, 'none'), 'a.d': ignored(BODY, 'none'), e: ignored(BODY, 'none') };
  const told = (fields: Record<string, unknown>) => unlistedOptions(fields, rows);
  t.strictSame(told({ a: { b: { c: 1 }, d: 2 }, e: { f: 3 } }), [], 'what a row has is its own');
  t.strictSame(told({ a: { b: { x: 1 }, y: { z: 2 } }, g: 3 }), ['a.b.x', 'a.y', 'g']);
  t.strictSame(told({ a: 'text', g: null, h: '', i: {}, j: false }), ['a'], 'unset ones ask for nothing');
});
