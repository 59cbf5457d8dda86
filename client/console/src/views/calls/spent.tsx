/** What a call used of its engines, and what that cost, if the operator has set prices. */
import { amountText, numberText, placesText } from '../../format.js';
import { Scroll } from '../../parts/basics.js';
import { texts } from '../../texts.js';
import type { Call } from './record.js';

const { spent } = texts.calls;

const minutes = (seconds: number): string => spent.minutes(placesText(seconds / 60, 1));

const speechIn = ({ engines }: Call['usage']): number =>
  engines.reduce((sum, { speech_seconds: seconds }) => sum + seconds, 0);

/** Each kind of usage: the name of its cost, and its amount in words. */
const KINDS = {
  input_tokens: ({ input_tokens: count }: Call['usage']) => numberText(count),
  output_tokens: ({ output_tokens: count }: Call['usage']) => numberText(count),
  characters: ({ characters }: Call['usage']) => numberText(characters),
  speech_minute: (usage: Call['usage']) => minutes(speechIn(usage)),
  recognition_minute: ({ recognised_seconds: seconds }: Call['usage']) => minutes(seconds),
  call_minute: ({ call_seconds: seconds }: Call['usage']) => minutes(seconds ?? 0),
} as const;

type Kind = keyof typeof KINDS;

/** Tokens by model; nothing is said of one model's, since they are all. */
const Models = ({ models }: { readonly models: Call['usage']['models'] }) =>
  models.length < 2 ? null : (
    <ul>
      {models.map(({ model, input_tokens: read, output_tokens: written }) => (
        <li key={model}>{spent.model(model, numberText(read), numberText(written))}</li>
      ))}
    </ul>
  );

type Work = Call['usage']['engines'][number];

const workOf = ({ characters, speech_seconds: spoken, recognised_seconds: heard }: Work): string =>
  [
    ...(characters > 0 ? [spent.spoke(numberText(characters), minutes(spoken))] : []),
    ...(heard > 0 ? [spent.heard(minutes(heard))] : []),
  ].join(', ');

/** What each speech engine did. */
const Engines = ({ engines }: { readonly engines: readonly Work[] }) =>
  engines.length === 0 ? null : (
    <ul>
      {engines.map((work) => (
        <li key={[work.engine, work.model].join()}>
          {spent.engine([work.engine, work.model].filter(Boolean).join(', '), workOf(work))}
        </li>
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
              {cost && <td class="number">{amountText(cost[kind])}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
    {usage.models.length > 0 && (
      <p class="soft">{spent.answered(usage.models.map(({ model }) => model).join(', '))}</p>
    )}
    <Models models={usage.models} />
    <Engines engines={usage.engines} />
    {usage.tokens_estimated && <p class="soft">{spent.estimated}</p>}
  </details>
);
