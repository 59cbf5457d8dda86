/** A telephone call from an agent to a number, to hear it as those who are called do. */
import { useState } from 'preact/hooks';
import { ask } from '../../api.js';
import { loadProviders } from '../phone/credentials.js';
import { submitting, useAction, useKept, useLoad } from '../../hooks.js';
import { allRows } from '../../lists.js';
import { Failure, Field } from '../../parts/basics.js';
import { go } from '../../router.js';
import { texts } from '../../texts.js';

const { placing } = texts.agents;

interface PlacingNumber {
  readonly phone_number_id: string;
  readonly provider: string;
  readonly phone_number: string;
  readonly label: string;
  readonly enabled: boolean;
}

/** Numbers from which calls can be placed. */
async function placingNumbers(signal: AbortSignal): Promise<readonly PlacingNumber[]> {
  const numbers = await allRows<PlacingNumber>(
    'v1/agent/phone-numbers?page_size=100',
    'phone_numbers',
    signal,
  );
  const enabled = numbers.filter((number) => number.enabled);
  if (enabled.length === 0) return [];
  const providers = await loadProviders();
  return enabled.filter(({ provider }) => (providers[provider]?.places.length ?? 0) > 0);
}

function Form({ id, numbers }: { readonly id: string; readonly numbers: readonly PlacingNumber[] }) {
  const [from, setFrom] = useState(numbers[0]?.phone_number_id ?? '');
  const [to, setTo] = useKept<string>('agents.call', '');
  const calling = useAction(async (signal) => {
    const body = { agent_id: id, phone_number_id: from, to_number: to.trim() };
    const made = await ask<{ readonly session_id: string }>('v1/agent/phone-calls', { body, signal });
    go(['calls', made.session_id]);
  });
  return (
    <form class="stack tight" onSubmit={submitting(calling)}>
      <div class="fields">
        <Field label={placing.to} help={placing.toHelp}>
          {(tied) => (
            <input
              {...tied}
              required
              type="tel"
              autocomplete="off"
              value={to}
              onInput={({ currentTarget }) => setTo(currentTarget.value)}
            />
          )}
        </Field>
        <Field label={placing.from}>
          {(tied) => (
            <select {...tied} value={from} onChange={({ currentTarget }) => setFrom(currentTarget.value)}>
              {numbers.map(({ phone_number_id: each, phone_number: number, label }) => (
                <option key={each} value={each}>
                  {label === '' ? number : `${label} · ${number}`}
                </option>
              ))}
            </select>
          )}
        </Field>
      </div>
      <div>
        <button class="button primary" disabled={calling.busy}>
          {placing.call}
        </button>
      </div>
      <Failure error={calling.error} />
    </form>
  );
}

/** Nothing if the workspace has no number that places calls. */
export function PhoneCall({ id }: { readonly id: string }) {
  const { data: numbers = [] } = useLoad(placingNumbers, []);
  if (numbers.length === 0) return null;
  return (
    <details class="panel section">
      <summary>
        <h2>{placing.title}</h2>
      </summary>
      <p class="soft">{placing.help}</p>
      <Form id={id} numbers={numbers} />
    </details>
  );
}
