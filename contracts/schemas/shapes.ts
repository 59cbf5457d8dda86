/** Small schemas from which the platform's bodies are built. Objects here refuse unknown fields. */
import { type Static, type TProperties, type TSchema, Type } from './type.js';

export interface Bounds {
  readonly min: number;
  readonly max: number;
}

/** A string with a length in characters: a range, or a maximum. */
export const text = (length: Bounds | number, extra: object = {}) =>
  Type.String(
    typeof length === 'number'
      ? { maxLength: length, ...extra }
      : { minLength: length.min, maxLength: length.max, ...extra },
  );

export const whole = ({ min, max }: Bounds, extra: object = {}) =>
  Type.Integer({ minimum: min, maximum: max, ...extra });

/** An object that refuses unknown fields. */
export const strict = <P extends TProperties>(properties: P, extra: object = {}) =>
  Type.Object(properties, { additionalProperties: false, ...extra });

/** The same schema, or null. Keywords of one type do not touch another, so that its problems stay precise. */
export function nullable<S extends TSchema>(schema: S) {
  const plain = schema as { readonly type?: string | readonly string[]; readonly enum?: readonly unknown[] };
  return Type.Unsafe<Static<S> | null>({
    ...schema,
    ...(plain.type === undefined ? {} : { type: [...new Set([plain.type, 'null'].flat())] }),
    ...(plain.enum === undefined ? {} : { enum: [...new Set([...plain.enum, null])] }),
  });
}

/** May be absent or null. */
export const leaf = <S extends TSchema>(schema: S) => Type.Optional(nullable(schema));

export const Moment = Type.String({ format: 'date-time' });

const Reason = Type.Optional(
  Type.String({ description: 'Why, as one word for programs: of requests to place calls.' }),
);

export const ErrorBody = Type.Object(
  { status: Type.Integer(), reason: Reason, message: Type.String() },
  { title: 'ErrorBody', examples: [{ status: 404, message: 'Agent not found' }] },
);

export const ValidationErrorBody = Type.Object(
  {
    status: Type.Integer(),
    reason: Reason,
    message: Type.String({ description: 'The first problem' }),
    errors: Type.Array(
      Type.Object({
        type: Type.String(),
        loc: Type.Array(Type.Unsafe<string | number>({ type: ['string', 'integer'] })),
        msg: Type.String(),
      }),
    ),
  },
  {
    title: 'ValidationErrorBody',
    examples: [
      {
        status: 422,
        message: 'missing field name',
        errors: [{ type: 'required', loc: ['name'], msg: 'missing field name' }],
      },
    ],
  },
);
