/** The parts of a turn's latency, as a bar and as words. */
import { texts } from '../texts.js';
import { msText } from '../format.js';

const { parts } = texts.talk;
const NAMES = Object.keys(parts);

export type Latency = Readonly<Record<string, number>>;

/** The figures are given as text too, so that nobody depends on colours. `most`: the latency of a bar of full length, in ms. */
export const Split = ({ latency, most }: { readonly latency: Latency; readonly most: number }) => {
  const told = NAMES.filter((part) => (latency[part] ?? 0) > 0);
  const text = told.map((part) => `${parts[part]} ${msText(latency[part])}`).join(', ');
  const all = told.reduce((sum, part) => sum + (latency[part] ?? 0), 0);
  return (
    <>
      <div
        class="split"
        aria-hidden="true"
        style={{ width: `${Math.min(100, (100 * all) / Math.max(1, most))}%` }}
      >
        {told.map((part) => (
          <span key={part} class={`part-${part}`} style={{ flexGrow: latency[part] ?? 0 }} />
        ))}
      </div>
      <p class="soft">{text}</p>
    </>
  );
};
