/** Each answer of the agent with the parts of its latency, in order of time. */
import { msText } from '../format.js';
import { Scroll } from '../parts/basics.js';
import { Split } from '../parts/split.js';
import { texts } from '../texts.js';
import type { Turn } from './conversation.js';

const { talk } = texts;

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
                  {talk.causes[cause] ?? cause}
                  {interruptedBy && <p class="soft">{talk.interruptedBy(interruptedBy)}</p>}
                </td>
                <td class="number">{msText(latencyMs)}</td>
                <td>{latency && <Split latency={latency} />}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}
