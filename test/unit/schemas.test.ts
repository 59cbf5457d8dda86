/** Schemas equal those of TypeBox' own builder for the same calls, and are compiled with the first value. */
import t from 'tap';
import Typebox from 'typebox';
import { checker } from '../../contracts/schemas/check.js';
import { Type } from '../../contracts/schemas/type.js';

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
  t.match(check([{ a: 1 }]), { ok: true });
  const faults = check(Array.from({ length: 120 }, () => ({ a: 'x' })));
  t.equal(faults.ok, false);
  if (faults.ok) return t.end();
  t.equal(faults.problems.length, 100);
  t.match(faults.problems[9], { loc: [9, 'a'], type: 'type', message: '9.a must be of type integer' });
  t.end();
});
