/** The differences between two configurations: a sentence for each setting, and both texts where they are long. */
import { labelOf, type Path } from '../../form/form.js';
import { spaced } from '../../format.js';
import { texts } from '../../texts.js';
import type { Config } from './agent-api.js';

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

/** What was set, in words. */
function valueText(value: unknown): string {
  if (value === undefined || value === null || value === '') return said.nothing;
  if (typeof value === 'boolean') return value ? said.on : said.off;
  if (typeof value === 'string') return isOption(value) ? spaced(value) : value;
  if (typeof value === 'number') return value.toLocaleString('en');
  if (Array.isArray(value)) return value.length === 0 ? said.nothing : value.map(valueText).join(', ');
  return Object.entries(value)
    .map(([name, part]) => `${labelOf([name])}: ${valueText(part)}`)
    .join('; ');
}

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

type Names = readonly [before: string, after: string];

function Changed({ path, before, after, names }: Difference & { readonly names: Names }) {
  const [old, now] = [valueText(before), valueText(after)];
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
        <Side name={names[0]} text={old} beside={now} />
        <Side name={names[1]} text={now} beside={old} />
      </div>
    </li>
  );
}

export function Differences({
  before,
  after,
  names,
}: {
  readonly before: Config;
  readonly after: Config;
  readonly names: Names;
}) {
  const found = differences(before, after);
  if (found.length === 0) return <p class="soft">{agents.same}</p>;
  return (
    <ul class="stack tight diff" aria-label={said.label(...names)}>
      {found.map((each) => (
        <Changed key={each.path.join('.')} {...each} names={names} />
      ))}
    </ul>
  );
}
