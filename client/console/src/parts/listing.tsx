/** A list of named things in pages, each with a link. */
import type { ComponentChildren } from 'preact';
import { momentText } from '../format.js';
import { usePages } from '../hooks.js';
import { linkTo } from '../router.js';
import { texts } from '../texts.js';
import { Empty, Failure, Loading, More, Scroll } from './basics.js';

export interface Named {
  readonly name?: string;
  readonly updated_at: string;
}

export function Listing<Row extends Named>({
  path,
  plural,
  label,
  none,
  link,
  named = ({ name }) => name ?? '',
  kind,
}: {
  readonly path: string;
  readonly plural: string;
  readonly label: string;
  readonly none: string;
  readonly link: (row: Row) => readonly string[];
  /** The name of a row, if it is not in `name`. */
  readonly named?: (row: Row) => string;
  /** Details shown beside the name. */
  readonly kind: (row: Row) => ComponentChildren;
}) {
  const { rows, error, busy, more, reload } = usePages<Row>(path, plural);
  if (!rows) return busy ? <Loading /> : <Failure error={error} retry={reload} />;
  if (rows.length === 0) return <Empty title={none} />;
  return (
    <>
      <Scroll label={label}>
        <table>
          <thead>
            <tr>
              <th>{texts.agents.name}</th>
              <th>{texts.kind}</th>
              <th class="spare">{texts.agents.changed}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={link(row).join('/')}>
                <td>
                  <a href={linkTo(link(row))}>{named(row)}</a>
                </td>
                <td>{kind(row)}</td>
                <td class="spare">{momentText(row.updated_at)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <More more={more} busy={busy} />
    </>
  );
}
