/**
 * Values over time, as bars that stand on each other or as lines, with axes. Arrow keys and the pointer choose a moment, whose values
 * are told in words; all of them are in a table as well.
 */
import { useState } from 'preact/hooks';
import { texts } from '../texts.js';
import { Scroll } from './basics.js';

export interface ChartSeries {
  readonly name: string;
  /** One value for each moment; null if there is none. */
  readonly values: readonly (number | null)[];
  /** What should not be there; absent: neither good nor bad. */
  readonly tone?: 'bad';
}

export interface ChartProps {
  readonly title: string;
  readonly kind: 'bars' | 'lines';
  /** What the moments are called, oldest first. */
  readonly moments: readonly string[];
  readonly series: readonly ChartSeries[];
  /** A value with its unit. */
  readonly text: (value: number) => string;
}

const WIDTH = 600;
const HEIGHT = 160;
const NICE = [1, 2, 2.5, 5, 10];

/** The next larger number of few digits, so that half of it is one as well. */
export function topOf(most: number): number {
  if (most <= 0) return 1;
  const scale = 10 ** Math.floor(Math.log10(most));
  return scale * (NICE.find((step) => step * scale >= most) ?? 10);
}

type Drawn = Pick<ChartProps, 'kind' | 'series' | 'moments'>;

const valueAt = ({ values }: ChartSeries, index: number): number => values[index] ?? 0;

const highest = ({ kind, series, moments }: Drawn): number =>
  Math.max(
    0,
    ...moments.map((_, index) => {
      const values = series.map((each) => valueAt(each, index));
      return kind === 'bars' ? values.reduce((sum, value) => sum + value, 0) : Math.max(...values);
    }),
  );

const lineOf = ({ tone }: ChartSeries, place: number): string => `line-${tone ?? place}`;

const yOf = (value: number, top: number): number => HEIGHT - (value / top) * HEIGHT;

function Bars({ series, moments, top }: Drawn & { readonly top: number }) {
  const step = WIDTH / moments.length;
  const stacked = (place: number, index: number): number =>
    series.slice(0, place).reduce((sum, each) => sum + valueAt(each, index), 0);
  return (
    <>
      {series.map((each, place) =>
        each.values.map((value, index) =>
          value ? (
            <rect
              key={`${place} ${index}`}
              class={lineOf(each, place)}
              x={index * step + step * 0.1}
              width={step * 0.8}
              y={yOf(stacked(place, index) + value, top)}
              height={(value / top) * HEIGHT}
            />
          ) : null,
        ),
      )}
    </>
  );
}

/** Points in the middle of their moments; a missing value interrupts the line, and one alone is a dot. */
function Lines({ series, moments, top }: Drawn & { readonly top: number }) {
  const step = WIDTH / moments.length;
  const pathOf = ({ values }: ChartSeries): string =>
    values
      .map((value, index) => {
        if (value === null) return '';
        const joins = index > 0 && values[index - 1] !== null;
        return `${joins ? 'L' : 'M'}${((index + 0.5) * step).toFixed(1)},${yOf(value, top).toFixed(1)}l0,0`;
      })
      .join('');
  return (
    <>
      {series.map((each, place) => (
        <path
          key={each.name}
          class={lineOf(each, place)}
          d={pathOf(each)}
          vector-effect="non-scaling-stroke"
        />
      ))}
    </>
  );
}

const MOVES: Readonly<Record<string, (index: number, last: number) => number>> = {
  ArrowLeft: (index) => index - 1,
  ArrowDown: (index) => index - 1,
  ArrowRight: (index) => index + 1,
  ArrowUp: (index) => index + 1,
  Home: () => 0,
  End: (_, last) => last,
};

const wordsAt = ({ moments, series, text }: ChartProps, index: number): string => {
  const values = series.map(({ name, values: all }) => {
    const value = all[index] ?? null;
    return `${name} ${value === null ? '–' : text(value)}`;
  });
  return `${moments[index] ?? ''}: ${values.join(', ')}`;
};

function AsTable({ title, moments, series, text }: ChartProps) {
  const [open, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{texts.chart.table}</summary>
      {open && (
        <Scroll label={title}>
          <table>
            <thead>
              <tr>
                <th>{texts.chart.when}</th>
                {series.map(({ name }) => (
                  <th key={name} class="number">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {moments.map((moment, index) => (
                <tr key={moment}>
                  <td>{moment}</td>
                  {series.map(({ name, values }) => (
                    <td key={name} class="number">
                      {values[index] === null ? '–' : text(values[index] ?? 0)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
    </details>
  );
}

interface CanvasProps {
  readonly chart: ChartProps;
  readonly top: number;
  /** The moment that is told; undefined: the last one. */
  readonly chosen: number | undefined;
  readonly choose: (index: number | undefined) => void;
}

function Canvas({ chart, top, chosen, choose }: CanvasProps) {
  const { title, kind, moments, series } = chart;
  const last = Math.max(0, moments.length - 1);
  const index = Math.min(chosen ?? last, last);
  const step = WIDTH / Math.max(1, moments.length);
  const Drawing = kind === 'bars' ? Bars : Lines;
  const chooseWithin = (to: number): void => choose(Math.min(last, Math.max(0, to)));
  const move = (event: KeyboardEvent): void => {
    const to = MOVES[event.key]?.(index, last);
    if (to === undefined) return;
    event.preventDefault();
    chooseWithin(to);
  };
  const point = ({ currentTarget, clientX }: { currentTarget: Element; clientX: number }): void => {
    const { left, width } = currentTarget.getBoundingClientRect();
    chooseWithin(Math.floor(((clientX - left) / width) * moments.length));
  };
  return (
    <div
      class="canvas"
      role="slider"
      tabIndex={0}
      aria-label={title}
      aria-valuemin={0}
      aria-valuemax={last}
      aria-valuenow={index}
      aria-valuetext={wordsAt(chart, index)}
      onKeyDown={move}
      onPointerMove={point}
      onPointerLeave={() => choose(undefined)}
    >
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {chosen !== undefined && <rect class="chosen" x={index * step} y={0} width={step} height={HEIGHT} />}
        {[0, HEIGHT / 2].map((y) => (
          <line key={y} x1={0} x2={WIDTH} y1={y} y2={y} vector-effect="non-scaling-stroke" />
        ))}
        <Drawing kind={kind} series={series} moments={moments} top={top} />
      </svg>
    </div>
  );
}

const Legend = ({ series }: Pick<ChartProps, 'series'>) => (
  <ul class="legend">
    {series.map((each, place) => (
      <li key={each.name}>
        <i class={lineOf(each, place)} aria-hidden="true" />
        {each.name}
      </li>
    ))}
  </ul>
);

export function Chart(props: ChartProps) {
  const { title, moments, series, text } = props;
  const last = Math.max(0, moments.length - 1);
  const [chosen, choose] = useState<number | undefined>();
  const most = highest(props);
  const top = topOf(most);
  return (
    <figure class="panel stack tight plot chart">
      <figcaption>{title}</figcaption>
      <div class="drawing">
        <div class="scale soft" aria-hidden="true">
          {[top, top / 2, 0].map((value) => (
            <span key={value}>{text(value)}</span>
          ))}
        </div>
        <Canvas chart={props} top={top} chosen={chosen} choose={choose} />
        <div class="row apart soft moments" aria-hidden="true">
          {[0, Math.floor(last / 2), last].map((index, place) => (
            <span key={place}>{moments[index]}</span>
          ))}
        </div>
      </div>
      <p class="soft" aria-hidden="true">
        {wordsAt(props, Math.min(chosen ?? last, last))}
      </p>
      <Legend series={series} />
      {most > 0 && <AsTable {...props} />}
    </figure>
  );
}
