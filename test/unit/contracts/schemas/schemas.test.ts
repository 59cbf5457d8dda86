/** Schemas equal those of TypeBox' own builder for the same calls, and are compiled with the first value. */
import t from '../../../fixtures/tap.js';
import Typebox from 'typebox';
import { checker, withoutNulls } from '../../../../contracts/schemas/check.js';
import { PhoneNumberCreation } from '../../../../contracts/schemas/phone.js';
import { nullable, strict as closed, text as textOf, whole } from '../../../../contracts/schemas/shapes.js';
import { type TSchema, Type } from '../../../../contracts/schemas/type.js';
import { valid } from '../../../../contracts/schemas/valid.js';
import { exactly } from '../../../fixtures/exactly.js';

type Builder = Pick<typeof Typebox, keyof typeof Type>;

const described = { description: 'said of it' };

const CALLS: Readonly<Record<keyof typeof Type, (type: Builder) => object>> = {
  Array: (type) => type.Array(type.String(), { maxItems: 3 }),
  Boolean: (type) => type.Boolean(described),
  Enum: (type) => type.Enum(['a', 'b'], { default: 'a' }),
  Integer: (type) => type.Integer({ minimum: 1 }),
  Literal: (type) => type.Union([type.Literal(1), type.Literal('one', described), type.Literal(true)]),
  Null: (type) => type.Null(),
  Number: (type) => type.Number({ maximum: 0.5 }),
  Object: (type) => type.Object({ a: type.String(), b: type.Null() }, { additionalProperties: false }),
  Optional: (type) => type.Object({ a: type.Optional(type.Array(type.Integer())), b: type.Number() }),
  Record: (type) => type.Record(type.String(), type.Integer(), { maxProperties: 2 }),
  String: (type) => type.String({ maxLength: 4, ...described }),
  Union: (type) => type.Union([type.String(), type.Null()], described),
  Unknown: (type) => type.Object({ a: type.Unknown(described), b: type.Unknown() }),
  Unsafe: (type) => type.Object({ a: type.Unsafe<string | null>({ type: ['string', 'null'] }) }),
};

for (const [name, call] of Object.entries(CALLS)) {
  t.test(`${name} makes the schema that the package makes`, (t) => {
    t.equal(JSON.stringify(call(Type)), JSON.stringify(call(Typebox)));
    t.end();
  });
}

t.test('an object without required properties names none', (t) => {
  const call = (type: Builder) => type.Object({ a: type.Optional(type.String()) });
  t.equal(JSON.stringify(call(Type)), JSON.stringify(call(Typebox)));
  t.notOk('required' in call(Type));
  t.end();
});

t.test('a property stays optional in every object that it is a property of', (t) => {
  const shared = Type.Optional(Type.String());
  t.notOk('required' in Type.Object({ a: shared }));
  t.strictSame(Type.Object({ a: shared, b: Type.String() }).required, ['b']);
  t.end();
});

t.test('every fault of a value is told, up to a hundred', (t) => {
  const check = checker(Type.Array(Type.Object({ a: Type.Integer() })));
  exactly(t, check([{ a: 1 }]), { ok: true });
  const faults = check(Array.from({ length: 120 }, () => ({ a: 'x' })));
  t.equal(faults.ok, false);
  if (faults.ok) return t.end();
  t.equal(faults.problems.length, 100);
  t.strictSame(faults.problems[99]?.loc, [99, 'a']);
  exactly(t, faults.problems[9], { loc: [9, 'a'], type: 'type', message: '9.a must be of type integer' });
  t.end();
});

type Bounds = Readonly<Record<string, unknown>>;

t.test('a problem is told in a sentence, with its place', (t) => {
  const strict = { additionalProperties: false };
  const text = (bounds: Bounds) => Type.Object({ a: Type.String(bounds) });
  const list = (bounds: Bounds) => Type.Object({ a: Type.Array(Type.Integer(), bounds) });
  const number = Type.Object({ a: Type.Number({ minimum: 1, maximum: 2 }) });
  const either = Type.Unsafe<unknown>({ type: ['string', 'null'] });
  const chosen = Type.Object({ a: Type.Enum(['x', 'y']) });
  type Row = readonly [
    schema: TSchema,
    value: unknown,
    type: string,
    loc: (string | number)[],
    message: string,
  ];
  const rows: readonly Row[] = [
    [chosen, { a: 'z'.repeat(70) }, 'enum', ['a'], `unknown variant \`${'z'.repeat(64)}\` for a, expected one of \`x\`, \`y\``],
    [chosen, { a: 1 }, 'enum', ['a'], 'unknown variant `1` for a, expected one of `x`, `y`'],
    [chosen, { a: true }, 'enum', ['a'], 'unknown variant `true` for a, expected one of `x`, `y`'],
    [chosen, { a: null }, 'enum', ['a'], 'unknown variant null for a, expected one of `x`, `y`'],
    [chosen, { a: ['x'] }, 'enum', ['a'], 'unknown variant object for a, expected one of `x`, `y`'],
    [Type.Object({ a: Type.Literal('x') }), { a: 'y' }, 'const', ['a'], 'unknown variant `y` for a, expected `x`'],
    [Type.Object({ a: either }), { a: 1 }, 'type', ['a'], 'a must be of type string or null'],
    [either, 1, 'type', [], 'the body must be of type string or null'],
    [number, { a: 0 }, 'minimum', ['a'], 'a must be in [1, 2]'],
    [number, { a: 3 }, 'maximum', ['a'], 'a must be in [1, 2]'],
    [text({ minLength: 2 }), { a: 'b' }, 'minLength', ['a'], 'a must have 2 to any number of characters'],
    [text({ maxLength: 2 }), { a: 'bcd' }, 'maxLength', ['a'], 'a must have 0 to 2 characters'],
    [list({ minItems: 1, maxItems: 2 }), { a: [] }, 'minItems', ['a'], 'a must have 1 to 2 items'],
    [list({ minItems: 1, maxItems: 2 }), { a: [1, 2, 3] }, 'maxItems', ['a'], 'a must have 1 to 2 items'],
    [text({ minLength: 2, maxLength: 3 }), { a: 'b' }, 'minLength', ['a'], 'a must have 2 to 3 characters'],
    [text({ minLength: 2, maxLength: 3 }), { a: 'bcde' }, 'maxLength', ['a'], 'a must have 2 to 3 characters'],
    [text({ pattern: '^a' }), { a: 'b' }, 'pattern', ['a'], 'a must match ^a'],
    [list({}), { a: [1, 'x'] }, 'type', ['a', 1], 'a.1 must be of type integer'],
    [list({ uniqueItems: true }), { a: [1, 1] }, 'uniqueItems', ['a'], 'a must not have duplicate items'],
    [Type.Object({ a1: Type.Null() }), { a1: 1 }, 'type', ['a1'], 'a1 must be of type null'],
    [Type.Object({ '1a': Type.Null() }), { '1a': 1 }, 'type', ['1a'], '1a must be of type null'],
    [Type.Object({ 'a/~b': Type.Null() }), { 'a/~b': 1 }, 'type', ['a/~b'], 'a/~b must be of type null'],
    [Type.Object({ a: text({}) }), { a: {} }, 'required', ['a', 'a'], 'missing field a'],
    [Type.Object({}, strict), { b: 1 }, 'additionalProperties', ['b'], 'unknown field b'],
  ]; // oxfmt-ignore
  for (const [schema, value, type, loc, message] of rows)
    t.strictSame(checker(schema)(value), { ok: false, problems: [{ loc, type, message }] }, message);
  const whole = checker(Type.Null(), 'the frame')(1);
  exactly(t, whole, { problems: [{ message: 'the frame must be of type null' }] });
  t.end();
});

t.test('every field that is missing or unknown is a problem of its own', (t) => {
  const schema = Type.Object({ a: Type.Null(), b: Type.Null() }, { additionalProperties: false });
  const problemsOf = (value: unknown) => {
    const checked = checker(schema)(value);
    return checked.ok ? [] : checked.problems.map(({ message }) => message);
  };
  t.strictSame(problemsOf({}), ['missing field a', 'missing field b']);
  t.strictSame(problemsOf({ a: null, b: null, c: 1, d: 1 }), ['unknown field c', 'unknown field d']);
  t.end();
});

t.test('of alternatives, the problems of each are told, not that all of them failed', (t) => {
  const checked = checker(Type.Union([Type.String(), Type.Integer()]))(true);
  exactly(t, checked, { problems: [{ type: 'type' }, { type: 'type' }] });
  t.equal(checked.ok || checked.problems.length, 2);
  t.end();
});

t.test('null members count as absent at any depth of plain objects', (t) => {
  const list = [null, { a: null }];
  const bytes = new Uint8Array(2);
  const value = { a: null, b: undefined, c: { d: null, e: 0 }, list, bytes, f: '' };
  t.strictSame(withoutNulls(value), { c: { e: 0 }, list, bytes, f: '' });
  for (const whole of [null, 1, 'x', list]) t.equal(withoutNulls(whole), whole);
  t.end();
});

t.test('texts and whole numbers have their bounds, and closed objects no other fields', (t) => {
  const fits = (schema: TSchema, value: unknown): boolean => checker(schema)(value).ok;
  for (const [value, upTo, between] of [['', true, false], ['a', true, true], ['abc', true, true], ['abcd', false, false]] as const)
    t.strictSame([fits(textOf(3), value), fits(textOf({ min: 1, max: 3 }), value)], [upTo, between], value);
  t.strictSame([0, 1, 3, 4, 1.5].map((value) => fits(whole({ min: 1, max: 3 }), value)), [false, true, true, false, false]);
  t.ok(fits(closed({ a: Type.Null() }), { a: null }));
  t.notOk(fits(closed({ a: Type.Null() }), { a: null, b: 1 }));
  t.end();
}); // oxfmt-ignore

t.test('what may be null keeps its other bounds', (t) => {
  const fits = (schema: TSchema, value: unknown): boolean => checker(nullable(schema))(value).ok;
  const [word, chosen, either] = [textOf(1), Type.Enum(['x']), Type.Union([Type.String(), Type.Null()])];
  for (const schema of [word, chosen, either, nullable(word)]) t.ok(fits(schema, null));
  t.strictSame([fits(word, 'a'), fits(word, 'ab'), fits(word, 1)], [true, false, false]);
  t.strictSame([fits(chosen, 'x'), fits(chosen, 'y')], [true, false]);
  t.strictSame(nullable(chosen), { enum: ['x', null] }, 'documented without a type, as before');
  t.end();
});

t.test('the first problem is the error, under its place or the name that is given', (t) => {
  const check = checker(Type.Object({ a: Type.Object({ b: Type.Null() }) }));
  const refusal = (value: unknown, field?: string): unknown => {
    try {
      return valid(check(value), field);
    } catch (error) {
      const { code, message, param } = error as { code: string; message: string; param?: string };
      return [code, message, param];
    }
  };
  t.strictSame(refusal({ a: { b: null } }), { a: { b: null } });
  t.strictSame(refusal({ a: { b: 1 } }), ['invalid_request', 'a.b must be of type null', 'a.b']);
  t.strictSame(refusal({ a: { b: 1 } }, 'own'), ['invalid_request', 'a.b must be of type null', 'own']);
  t.strictSame(refusal(1), ['invalid_request', 'the body must be of type object', undefined]);
  t.end();
});

t.test('a telephone number names its provider, and the names of credentials are documented', async (t) => {
  const check = checker(PhoneNumberCreation);
  const [example] = (PhoneNumberCreation as unknown as { examples: object[] }).examples;
  t.ok(check({ ...example, agent_id: null, api_url: null, enabled: false }).ok);
  for (const field of ['provider', 'phone_number'])
    exactly(t, check({ ...example, [field]: undefined }), { ok: false, problems: [{ loc: [field] }] });
  for (const wrong of [{ provider: 'unknown' }, { phone_number: '' }])
    t.notOk(check({ ...example, ...wrong }).ok);
  const { description } = PhoneNumberCreation.properties.credentials as { description?: string };
  t.match(description, 'Of `twilio`: `auth_token`; to place calls also `account_sid`. Of `telnyx`');
  t.match(description, '`api_key`, `account_sid`, `application_sid`. Of `plivo`');
  t.match(description, 'Of `exotel`: `basic_auth`. Of `genesys`');
});
