/**
 * A builder of schemas with the names and static types of TypeBox' builder, limited to the part in use.
 * It makes plain JSON Schemas. The package's own builder loads three hundred modules, a fifth of a second of
 * processor time in every process that starts.
 */
import type Typebox from 'typebox';

export type { Static, TProperties, TSchema } from 'typebox';

type Schema = Readonly<Record<string, unknown>>;
type Options = Schema | undefined;

/** Marks a property that may be absent. Not enumerable, because it describes the property and is no part of the schema. */
const OPTIONAL = '~optional';

const ofType = (type: string) => (options: Options) => ({ type, ...options });

function objectOf(properties: Readonly<Record<string, Schema>>, options: Options): Schema {
  const required = Object.entries(properties).flatMap(([name, schema]) => (OPTIONAL in schema ? [] : [name]));
  return { type: 'object', ...(required.length > 0 ? { required } : {}), properties, ...options };
}

const BUILDERS = {
  Array: (items: Schema, options: Options) => ({ type: 'array', items, ...options }),
  Boolean: ofType('boolean'),
  Enum: (values: readonly unknown[], options: Options) => ({ enum: values, ...options }),
  Integer: ofType('integer'),
  Literal: (value: unknown, options: Options) => ({ type: typeof value, const: value, ...options }),
  Null: ofType('null'),
  Number: ofType('number'),
  Object: objectOf,
  Optional: (schema: Schema) => Object.defineProperty({ ...schema }, OPTIONAL, { value: true }),
  /** Member names may be any text. */
  Record: (_names: Schema, value: Schema, options: Options) => ({
    type: 'object',
    patternProperties: { '^.*$': value },
    ...options,
  }),
  String: ofType('string'),
  Union: (anyOf: readonly Schema[], options: Options) => ({ anyOf, ...options }),
  Unknown: (options: Options) => ({ ...options }),
  Unsafe: (schema: Schema) => schema,
};

export const Type = BUILDERS as unknown as Pick<typeof Typebox, keyof typeof BUILDERS>;
