/** The differences between two configurations: a sentence for each setting, and both texts where they are long. */
import { labelOf, type Path } from '../../form/form.js';
import { optionName } from '../../form/words.js';
import { numberText } from '../../format.js';
import { useLoad } from '../../hooks.js';
import { Loading } from '../../parts/basics.js';
import { texts } from '../../texts.js';
import type { Config } from './agent-api.js';
import { nameOf, type Names, patternsIn, readNames } from './references.js';

const { agents } = texts;
const { difference: said } = agents;

interface Difference {
  readonly path: Path;
  readonly before: unknown;
  readonly after: unknown;
}

const ABOUT = new Set(['agent_id', 'config_hash', 'updated_at']);

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const hasObjects = (value: unknown): value is readonly unknown[] =>
  Array.isArray(value) && value.some(isObject);

/** An option as words. Names and ids have capitals, digits or blanks. */
const isOption = (text: string): boolean => /^[a-z]+(_[a-z]+)*$/.test(text);

/** What was set at that path, in words. */
function valueText(value: unknown, path: Path, names: Names | undefined): string {
  if (value === undefined || value === null || value === '') return said.nothing;
  if (typeof value === 'boolean') return value ? said.on : said.off;
  if (typeof value === 'string')
    return nameOf(value, path, names) ?? (isOption(value) ? optionName(String(path.at(-1)), value) : value);
  if (typeof value === 'number') return numberText(value);
  if (Array.isArray(value)) return listText(value, path, names);
  return Object.entries(value)
    .map(([name, part]) => `${labelOf([name])}: ${valueText(part, [...path, name], names)}`)
    .join('; ');
}

const listText = (values: readonly unknown[], path: Path, names: Names | undefined): string =>
  values.length === 0 ? said.nothing : values.map((each) => valueText(each, path, names)).join(', ');

const namesOf = (before: object, after: object): readonly string[] => [
  ...new Set([...Object.keys(before), ...Object.keys(after)]),
];

/** Entries of lists are compared one by one where they are objects, by their place. */
function differences(before: unknown, after: unknown, path: Path = []): readonly Difference[] {
  if (isObject(before) && isObject(after))
    return namesOf(before, after)
      .filter((name) => path.length > 0 || !ABOUT.has(name))
      .flatMap((name) => differences(before[name], after[name], [...path, name]));
  if (Array.isArray(before) && Array.isArray(after) && (hasObjects(before) || hasObjects(after)))
    return Array.from({ length: Math.max(before.length, after.length) }, (_, at) =>
      differences(before[at], after[at], [...path, at]),
    ).flat();
  return JSON.stringify(before ?? null) === JSON.stringify(after ?? null) ? [] : [{ path, before, after }];
}

/** Splits a text into words and the spaces between them. */
const piecesOf = (text: string): readonly string[] => text.split(/(\s+)/);

/** Counts the equal pieces at the beginning of both lists, at most `most`. */
function alike(one: readonly string[], other: readonly string[], most: number): number {
  const different = one.findIndex((piece, index) => index >= most || piece !== other[index]);
  return different < 0 ? one.length : different;
}

/** Splits a text into the beginning shared with the other side, its own middle, and the shared end. */
function partsOf(text: string, beside: string): readonly [string, string, string] {
  const [own, other] = [piecesOf(text), piecesOf(beside)];
  const least = Math.min(own.length, other.length);
  const before = alike(own, other, least);
  const behind = alike([...own].reverse(), [...other].reverse(), least - before);
  return [
    own.slice(0, before).join(''),
    own.slice(before, own.length - behind).join(''),
    own.slice(own.length - behind).join(''),
  ];
}

/** One side of a long text; its changed part is marked, so that nobody has to search for it. */
const Side = ({
  name,
  text,
  beside,
}: {
  readonly name: string;
  readonly text: string;
  readonly beside: string;
}) => {
  const [before, own, behind] = partsOf(text, beside);
  return (
    <div class="group">
      <h3>{name}</h3>
      <p class="text">
        {before}
        {own && <mark>{own}</mark>}
        {behind}
      </p>
    </div>
  );
};

/** Where a setting is: the names of what holds it, but for the lists, whose entries have names of their own. */
function placeOf(path: Path): string {
  const holders = path.slice(0, -1).flatMap((_, at) => {
    const isList = typeof path[at + 1] === 'number';
    return isList ? [] : [labelOf(path.slice(0, at + 1))];
  });
  return holders.join(', ');
}

/** Texts of more characters, or of several lines, stand side by side. */
const SHORT = 90;

const isLong = (text: string): boolean => text.length > SHORT || text.includes('\n');

/** The names of both sides. */
type Sides = readonly [before: string, after: string];

function Changed({
  path,
  before,
  after,
  sides,
  names,
}: Difference & { readonly sides: Sides; readonly names: Names | undefined }) {
  const [old, now] = [valueText(before, path, names), valueText(after, path, names)];
  const place = placeOf(path);
  const name = (
    <>
      <strong>{labelOf(path)}</strong>
      {place && <span class="soft"> ({place})</span>}
    </>
  );
  if (!isLong(old) && !isLong(now))
    return (
      <li class="text">
        {name}: {said.from} <mark>{old}</mark> {said.to} <mark>{now}</mark>
      </li>
    );
  return (
    <li class="stack tight">
      <p>{name}:</p>
      <div class="columns">
        <Side name={sides[0]} text={old} beside={now} />
        <Side name={sides[1]} text={now} beside={old} />
      </div>
    </li>
  );
}

export function Differences({
  before,
  after,
  names: sides,
}: {
  readonly before: Config;
  readonly after: Config;
  readonly names: Sides;
}) {
  const found = differences(before, after);
  const patterns = [
    ...new Set(
      found.flatMap(({ path, ...both }) => Object.values(both).flatMap((each) => patternsIn(each, path))),
    ),
  ];
  const { data: names, busy } = useLoad((signal) => readNames(patterns, signal), [patterns.join()]);
  if (found.length === 0) return <p class="soft">{agents.same}</p>;
  if (patterns.length > 0 && !names && busy) return <Loading />;
  return (
    <ul class="stack tight diff" aria-label={said.label(...sides)}>
      {found.map((each) => (
        <Changed key={each.path.join('.')} {...each} sides={sides} names={names} />
      ))}
    </ul>
  );
}
