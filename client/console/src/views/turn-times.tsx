/** Each answer of the agent with the parts of its latency, in the order in which they passed. */
import { Scroll } from '../parts/basics.js';
import { texts } from '../texts.js';
import type { Turn } from './conversation.js';

const { talk } = texts;
const PARTS = Object.keys(talk.parts);

type Latency = NonNullable<Turn['latency']>;

/** The figures are told as text, so that nobody depends on colours. */
const Split = ({ latency }: { readonly latency: Latency }) => {
  const told = PARTS.filter((part) => (latency[part] ?? 0) > 0);
  const text = told.map((part) => `${talk.parts[part]} ${talk.milliseconds(latency[part] ?? 0)}`).join(', ');
  return (
    <>
      <div class="split" aria-hidden="true">
        {told.map((part) => (
          <span key={part} class={`part-${part}`} style={{ flexGrow: latency[part] ?? 0 }} />
        ))}
      </div>
      <p class="soft">{text}</p>
    </>
  );
};

export function TurnTimes({ turns }: { readonly turns: readonly Turn[] }) {
  if (turns.length === 0) return null;
  return (
    <section class="stack tight">
      <h2>{talk.turns}</h2>
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
                <td>
                  {cause}
                  {interruptedBy && <p class="soft">{talk.interruptedBy(interruptedBy)}</p>}
                </td>
                <td class="number">{latencyMs === null ? '–' : talk.milliseconds(latencyMs)}</td>
                <td>{latency && <Split latency={latency} />}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}
