/** What a call used of its engines, and what that cost, if the operator has set prices. */
import { Scroll } from '../../parts/basics.js';
import { texts } from '../../texts.js';
import type { Call } from './record.js';

const { spent } = texts.calls;

const number = (count: number): string => count.toLocaleString('en');
const minutes = (seconds: number): string => spent.minutes((seconds / 60).toFixed(1));

/** Each kind of usage: the name of its cost, and its amount in words. */
const KINDS = {
  input_tokens: ({ input_tokens: count }: Call['usage']) => number(count),
  output_tokens: ({ output_tokens: count }: Call['usage']) => number(count),
  characters: ({ characters }: Call['usage']) => number(characters),
  recognition_minute: ({ recognised_seconds: seconds }: Call['usage']) => minutes(seconds),
  call_minute: ({ call_seconds: seconds }: Call['usage']) => minutes(seconds ?? 0),
} as const;

type Kind = keyof typeof KINDS;

/** Tokens by model; nothing is said of one model's, since they are all. */
const Models = ({ models }: { readonly models: Call['usage']['models'] }) =>
  models.length < 2 ? null : (
    <ul>
      {models.map(({ model, input_tokens: read, output_tokens: written }) => (
        <li key={model}>{spent.model(model, number(read), number(written))}</li>
      ))}
    </ul>
  );

export const Spent = ({ call: { usage, cost } }: { readonly call: Call }) => (
  <details class="panel">
    <summary>{spent.title}</summary>
    <Scroll label={spent.title}>
      <table>
        <thead>
          <tr>
            <th>{spent.what}</th>
            <th class="number">{spent.amount}</th>
            {cost && <th class="number">{spent.cost(cost.currency)}</th>}
          </tr>
        </thead>
        <tbody>
          {(Object.keys(KINDS) as Kind[]).map((kind) => (
            <tr key={kind}>
              <th scope="row">{spent.kinds[kind]}</th>
              <td class="number">{KINDS[kind](usage)}</td>
              {cost && <td class="number">{cost[kind]}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
    {usage.models.length > 0 && (
      <p class="soft">{spent.answered(usage.models.map(({ model }) => model).join(', '))}</p>
    )}
    <Models models={usage.models} />
    {usage.tokens_estimated && <p class="soft">{spent.estimated}</p>}
  </details>
);
