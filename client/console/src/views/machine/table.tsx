/** A table of figures and words. */
import { Scroll } from '../../parts/basics.js';
import { texts } from '../../texts.js';

const { machine } = texts;

export type Row = readonly (string | number)[];

/** Aligns figures to the right, even with units, and words to the left. */
const classOf = (cell: string | number | undefined): string | undefined =>
  typeof cell === 'number' || /^[≤–\d]/.test(cell ?? '') ? 'number' : undefined;

export const Table = ({
  title,
  heads,
  rows,
}: {
  readonly title: string;
  readonly heads: readonly string[];
  readonly rows: readonly Row[];
}) => (
  <section class="panel stack tight">
    <h2>{title}</h2>
    {rows.length === 0 && <p class="soft">{machine.nothing}</p>}
    {rows.length > 0 && (
      <Scroll label={title}>
        <table>
          <thead>
            <tr>
              {heads.map((head, index) => (
                <th key={head} class={classOf(rows[0]?.[index])}>
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.join(' ')}>
                {row.map((cell, index) => (
                  <td key={index} class={classOf(cell)}>
                    {cell}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    )}
  </section>
);
