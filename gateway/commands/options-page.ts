/** Generates the tables of options in docs/contract/compatibility.md, for `npm run generate`. */
import type { OptionRow, OptionRows, OptionRefusal } from '../../contracts/options/row.js';
import { OPTIONS } from '../../contracts/options/table.js';
import { between, table } from './page-parts.js';

const coded = (values: readonly unknown[]): string =>
  values.map((value) => `\`${String(value)}\``).join(', ');

function refusedValues({ passes, only, evenUnset }: OptionRefusal): string {
  if (only) return `refused if ${coded(only)}`;
  if (passes) return `refused unless ${coded(passes)}${evenUnset ? ' or absent' : ''}`;
  return 'refused';
}

const EFFECTS: {
  readonly [E in OptionRow['effect']]: (row: Extract<OptionRow, { effect: E }>) => string;
} = {
  used: ({ refusal }) => (refusal ? `used; ${refusedValues(refusal)}: ${refusal.why}` : 'used'),
  mapped: ({ to, note, aggregatorOnly }) =>
    `\`${to}\`${note === undefined ? '' : `: ${note}`}${aggregatorOnly ? ' (aggregator base; ignored on the others)' : ''}`,
  ignored: ({ note, logged, shown }) =>
    `ignored: ${note}${logged ? '; a line in the log says so' : ''}${shown ? '; the session repeats it' : ''}`,
  refused: ({ refusal }) => `${refusedValues(refusal)}: ${refusal.why}`,
};

interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly default?: unknown;
  readonly description?: string;
}

const bounds = (least: number | undefined, most: number | undefined, what: string): readonly string[] =>
  least === undefined && most === undefined ? [] : [`${least ?? 0} to ${most ?? 'any number of'}${what}`];

/** What kind of value a schema wants. */
function kindOf({ type, enum: values, anyOf, items }: Schema): readonly string[] {
  if (values) return [coded(values)];
  if (anyOf) return [anyOf.map((each) => valueOf(each)).join(' or ')];
  if (items) return [`array of ${valueOf(items) || 'anything'}`];
  return type === undefined ? [] : [type];
}

/** What a schema wants, in words. */
const valueOf = (schema: Schema): string =>
  [
    ...kindOf(schema),
    ...bounds(schema.minimum, schema.maximum, ''),
    ...bounds(schema.minLength, schema.maxLength, ' characters'),
    ...bounds(schema.minItems, schema.maxItems, ' items'),
    ...(schema.pattern === undefined ? [] : [`matches ${coded([schema.pattern.replaceAll('|', '\\|')])}`]),
    ...(schema.default === undefined ? [] : [`default ${coded([schema.default])}`]),
    ...(schema.description === undefined ? [] : [schema.description.replaceAll('|', '\\|')]),
  ].join(', ');

const wantedBy = (row: OptionRow): string => ('schema' in row ? valueOf(row.schema as Schema) : '');

/** Lenient spellings, lists, and words that are values: what else a row says of how its value is read. */
const readAs = ({ spelled, list, keeps, nullable }: OptionRow): readonly string[] => [
  ...(spelled === 'number' ? ['a number in text as well'] : []),
  ...(spelled === 'word' ? ['in capitals as well'] : []),
  ...(list ? ['every value counts'] : []),
  ...(keeps ? [`${coded(keeps)} is a value`] : []),
  ...(nullable ? ['null turns it off'] : []),
];

const effectOf = (row: OptionRow): string => (EFFECTS[row.effect] as (row: OptionRow) => string)(row);

const optionOf = (name: string, { older }: OptionRow): string =>
  older === undefined ? `\`${name}\`` : `\`${name}\` (older: \`${older}\`)`;

/** One row for all options of a surface with the same places and the same effect. */
function rowsOf(rows: OptionRows): readonly (readonly string[])[] {
  const alike = new Map<string, { readonly names: string[]; readonly rest: readonly string[] }>();
  for (const [name, row] of Object.entries(rows)) {
    const value = [wantedBy(row), ...readAs(row)].filter((part) => part !== '').join('; ');
    const rest = [row.in.join(', '), value, effectOf(row)];
    const key = rest.join('|');
    const known = alike.get(key) ?? { names: [], rest };
    known.names.push(optionOf(name, row));
    alike.set(key, known);
  }
  return [...alike.values()].map(({ names, rest }) => [names.join(', '), ...rest]);
}

const surfaceTable = ([surface, rows]: readonly [string, OptionRows]): string =>
  `### ${surface.charAt(0).toUpperCase()}${surface.slice(1)}\n\n` +
  table(['option', 'where', 'value', 'what becomes of it'], rowsOf(rows));

const optionTables = (): string => Object.entries(OPTIONS).map(surfaceTable).join('\n\n');

const refusedTable = (): string =>
  table(
    ['surface', 'refused'],
    Object.entries(OPTIONS as Readonly<Record<string, OptionRows>>).flatMap(([surface, rows]) => {
      const refused = Object.entries(rows).flatMap(([name, row]) => {
        if (!('refusal' in row) || !row.refusal) return [];
        const values = refusedValues(row.refusal).replace(/^refused ?/, '');
        return [`\`${name}\`${values === '' ? '' : ` ${values}`}`];
      });
      return refused.length === 0 ? [] : [[surface, refused.join('; ')]];
    }),
  );

/** The page with its tables made anew. Throws if the place of a table is missing. */
export const withOptionTables = (page: string): string =>
  between(between(page, 'refused options', refusedTable()), 'options', optionTables());
