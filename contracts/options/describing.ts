/** The options of a surface as /openapi.json describes them: those that have an effect. */
import { type TSchema, Type } from '../schemas/type.js';
import type { OptionRow, OptionRows, OptionPlace } from './row.js';

interface Described {
  readonly name: string;
  readonly schema: TSchema;
}

/** Schemas of the options of a place. `aggregator`: whether it is about the aggregator's base. */
function described(rows: OptionRows, place: OptionPlace, aggregator: boolean): readonly Described[] {
  const isTold = (row: OptionRow): boolean =>
    row.in.includes(place) && (aggregator || row.aggregatorOnly !== true);
  return Object.entries(rows).flatMap(([name, row]) => {
    if (row.effect === 'used' && isTold(row)) return [{ name, schema: row.schema }];
    return row.effect === 'mapped' && isTold(row) ? [{ name, schema: Type.Optional(row.schema) }] : [];
  });
}

/** An object of the members that have rows of their own, below a name. */
function objectOf(parent: string, members: readonly Described[]): TSchema {
  const own = members.filter(({ name }) => name.startsWith(`${parent}.`));
  const properties = own.map(({ name, schema }) => [name.slice(parent.length + 1), Type.Optional(schema)]);
  const object = Type.Object(Object.fromEntries(properties) as Record<string, TSchema>);
  return Type.Optional(Type.Union([object, Type.Null()]));
}

/** A body's or form's schema. `aggregator`: whether it is that of the aggregator's base. */
export function describedBody(rows: OptionRows, place: OptionPlace, aggregator = false): TSchema {
  const known = described(rows, place, aggregator);
  const [members, whole] = [true, false].map((isMember) =>
    known.filter(({ name }) => name.includes('.') === isMember),
  ) as [Described[], Described[]];
  const names = new Set(whole.map(({ name }) => name));
  const parents = members.map(({ name }) => name.slice(0, name.indexOf('.')));
  const objects = [...new Set(parents)].filter((parent) => !names.has(parent));
  return Type.Object({
    ...Object.fromEntries(whole.map(({ name, schema }) => [name, schema])),
    ...Object.fromEntries(objects.map((parent) => [parent, objectOf(parent, members)])),
  });
}

export interface Parameter extends Described {
  readonly in: 'header' | 'query';
}

/** The parameters of a query, or headers; `spelled` gives the name as it is sent. */
export const describedParameters = (
  rows: OptionRows,
  place: 'header' | 'query',
  spelled: (name: string) => string = (name) => name,
): readonly Parameter[] =>
  described(rows, place, false).map(({ name, schema }) => ({ name: spelled(name), in: place, schema }));
