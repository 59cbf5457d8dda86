/** A table of figures: the first column names what the others are of. */
import { Scroll } from '../../parts/basics.js';
import { texts } from '../../texts.js';

const { machine } = texts;

export type Row = readonly (string | number)[];

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
                <th key={head} class={index > 0 ? 'number' : undefined}>
                  {head}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.join(' ')}>
                {row.map((cell, index) => (
                  <td key={index} class={index > 0 ? 'number' : undefined}>
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
