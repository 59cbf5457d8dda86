/** What differs between two configurations, leaf by leaf. */
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
              <td class="text">{old}</td>
              <td class="text">{now}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
