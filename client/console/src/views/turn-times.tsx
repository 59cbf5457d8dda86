/** Each answer of the agent with the parts of its latency, in order of time. */
import { msText } from '../format.js';
import { Scroll } from '../parts/basics.js';
import { Split } from '../parts/split.js';
import { texts } from '../texts.js';

const { talk } = texts;

/** An answer; times in ms. */
export interface TimedTurn {
  readonly number: number;
  readonly cause: string;
  readonly latencyMs: number | null;
  readonly latency: Readonly<Record<string, number>> | null;
  readonly interruptedBy: string | null;
}

/** The bars have one scale: the longest is of full length. */
const Times = ({ turns }: { readonly turns: readonly TimedTurn[] }) => {
  const most = Math.max(0, ...turns.map(({ latencyMs }) => latencyMs ?? 0));
  return (
    <Scroll label={talk.turns}>
      <table>
        <thead>
          <tr>
            <th class="number">{talk.turn}</th>
            <th>{talk.cause}</th>
            <th class="number">{talk.total}</th>
            <th>{talk.split}</th>
          </tr>
        </thead>
        <tbody>
          {turns.map(({ number, cause, latencyMs, latency, interruptedBy }) => (
            <tr key={number}>
              <td class="number">{number}</td>
              <td class="cause">
                {talk.causes[cause] ?? cause}
                {interruptedBy && <p class="soft">{talk.interruptedBy(interruptedBy)}</p>}
              </td>
              <td class="number">{msText(latencyMs)}</td>
              <td>{latency && <Split latency={latency} most={most} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
};

/** `folded`: nothing but its name is seen before it is opened. */
export function TurnTimes({
  turns,
  folded = false,
}: {
  readonly turns: readonly TimedTurn[];
  readonly folded?: boolean;
}) {
  if (turns.length === 0) return null;
  if (folded)
    return (
      <details class="panel">
        <summary>{talk.turns}</summary>
        <Times turns={turns} />
      </details>
    );
  return (
    <section class="stack tight">
      <h2>{talk.turns}</h2>
      <Times turns={turns} />
    </section>
  );
}
