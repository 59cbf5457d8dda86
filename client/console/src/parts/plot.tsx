/** Lines over time. For each, the last and the highest value are given in words as well. */
import { clockText } from '../format.js';
import { texts } from '../texts.js';

export interface Series {
  readonly name: string;
  /** One value for each moment; null if there is none, which interrupts the line. */
  readonly values: readonly (number | null)[];
}

const WIDTH = 600;
const HEIGHT = 120;

/** Each stretch of the line as the points of a polyline; a point alone is a short dash. */
function stretches(values: Series['values'], most: number): readonly string[] {
  const step = WIDTH / Math.max(1, values.length - 1);
  const found: string[][] = [[]];
  for (const [index, value] of values.entries()) {
    if (value === null) found.push([]);
    else {
      const y = (HEIGHT - 1 - (value / most) * (HEIGHT - 4)).toFixed(1);
      found.at(-1)?.push(`${(index * step).toFixed(1)},${y}`);
      if (found.at(-1)?.length === 1) found.at(-1)?.unshift(`${((index - 0.5) * step).toFixed(1)},${y}`);
    }
  }
  return found.filter((points) => points.length > 0).map((points) => points.join(' '));
}

const highest = (values: Series['values']): number => Math.max(0, ...values.map((value) => value ?? 0));

const wordsOf = ({ name, values }: Series, text: (value: number) => string): string => {
  const last = values.findLast((value) => value !== null) ?? null;
  return last === null
    ? texts.plot.nothing(name)
    : texts.plot.values(name, text(last), text(highest(values)));
};

/** `at` holds the moments, oldest first; `text` formats a value with its unit. */
export function Plot({
  title,
  at,
  series,
  text,
}: {
  readonly title: string;
  readonly at: readonly string[];
  readonly series: readonly Series[];
  readonly text: (value: number) => string;
}) {
  const most = Math.max(...series.map(({ values }) => highest(values))) || 1;
  return (
    <figure class="panel stack tight plot">
      <figcaption>{title}</figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {series.map(({ name, values }, index) =>
          stretches(values, most).map((points) => (
            <polyline
              key={name + points}
              class={`line-${index}`}
              points={points}
              vector-effect="non-scaling-stroke"
            />
          )),
        )}
      </svg>
      <div class="row apart soft" aria-hidden="true">
        <span>{clockText(at[0])}</span>
        <span>{clockText(at.at(-1))}</span>
      </div>
      <ul class="legend">
        {series.map((line, index) => (
          <li key={line.name}>
            <i class={`line-${index}`} aria-hidden="true" />
            {wordsOf(line, text)}
          </li>
        ))}
      </ul>
    </figure>
  );
}
