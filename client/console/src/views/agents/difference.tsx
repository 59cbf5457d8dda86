/** The differences between two configurations, leaf by leaf. */
import { Scroll } from '../../parts/basics.js';
import { texts } from '../../texts.js';
import type { Config } from './agent-api.js';

const { agents } = texts;

export interface Difference {
  readonly place: string;
  readonly before: string;
  readonly after: string;
}

const ABOUT = new Set(['agent_id', 'config_hash', 'updated_at']);

const textOf = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value, null, 1) ?? '');

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function differences(before: unknown, after: unknown, place = ''): readonly Difference[] {
  if (!isObject(before) || !isObject(after)) {
    const [old, now] = [textOf(before), textOf(after)];
    return old === now ? [] : [{ place, before: old, after: now }];
  }
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((name) => place !== '' || !ABOUT.has(name))
    .flatMap((name) => differences(before[name], after[name], place ? `${place}.${name}` : name));
}

/** Splits a text into words and the spaces between them. */
const piecesOf = (text: string): readonly string[] => text.split(/(\s+)/);

/** Counts the equal pieces at the beginning of both lists, at most `most`. */
function alike(one: readonly string[], other: readonly string[], most: number): number {
  const different = one.findIndex((piece, index) => index >= most || piece !== other[index]);
  return different < 0 ? one.length : different;
}

/** Splits a text into the beginning shared with the other side, its own middle, and the shared end. */
export function partsOf(text: string, beside: string): readonly [string, string, string] {
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

/** One side of a difference; the changed part of its text is marked, so that nobody has to search for it. */
const Side = ({ text, beside }: { readonly text: string; readonly beside: string }) => {
  const [before, own, behind] = partsOf(text, beside);
  return (
    <td class="text">
      {before}
      {own && <mark>{own}</mark>}
      {behind}
    </td>
  );
};

export function Differences({
  before,
  after,
  names,
}: {
  readonly before: Config;
  readonly after: Config;
  readonly names: readonly [string, string];
}) {
  const found = differences(before, after);
  if (found.length === 0) return <p class="soft">{agents.same}</p>;
  return (
    <Scroll label={agents.changes}>
      <table class="diff">
        <thead>
          <tr>
            <th>{agents.setting}</th>
            <th>{names[0]}</th>
            <th>{names[1]}</th>
          </tr>
        </thead>
        <tbody>
          {found.map(({ place, before: old, after: now }) => (
            <tr key={place}>
              <th scope="row" class="mono">
                {place}
              </th>
              <Side text={old} beside={now} />
              <Side text={now} beside={old} />
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
