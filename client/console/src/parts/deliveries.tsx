/** Deliveries of post-call events to webhooks: the answer to each attempt, the body, and a button to try again. */
import { useEffect, useState } from 'preact/hooks';
import { useMay } from '../account.js';
import { ask } from '../api.js';
import { momentText } from '../format.js';
import { useAction, usePages } from '../hooks.js';
import { linkTo } from '../router.js';
import { texts } from '../texts.js';
import { AnswerTag, Failure, Loading, More } from './basics.js';

const { deliveries } = texts;

/** A webhook's answer; the names are those of docs/contract/platform.md 6.8. */
export interface WebhookAnswer {
  readonly duration_ms: number;
  readonly status_code: number | null;
  readonly error: string | null;
}

interface Attempt extends WebhookAnswer {
  readonly number: number;
  readonly started_at: string;
  readonly redelivery: boolean;
}

export interface Delivery {
  readonly delivery_id: string;
  readonly session_id: string;
  readonly event: string;
  readonly url: string;
  readonly status: string;
  readonly created_at: string | null;
  readonly next_attempt_at: string | null;
  readonly attempts: readonly Attempt[];
}

const pathOf = ({ delivery_id: id }: Delivery, below = ''): string => `v1/agent/deliveries/${id}${below}`;

const AGAIN_MS = 1500;

/** Polls the delivery while an attempt is running or due. */
function useDelivery(initial: Delivery) {
  const [delivery, setDelivery] = useState(initial);
  useEffect(() => {
    if (delivery.status !== 'waiting') return;
    const abort = new AbortController();
    const look = () =>
      void ask<Delivery>(pathOf(delivery), { signal: abort.signal }).then(setDelivery, () =>
        setDelivery((seen) => ({ ...seen })),
      );
    const timer = setTimeout(look, AGAIN_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [delivery]);
  return { delivery, setDelivery };
}

export const WebhookTag = ({ answer }: { readonly answer: WebhookAnswer }) => {
  const { status_code: status, error, duration_ms: ms } = answer;
  const ok = status !== null && status >= 200 && status < 300;
  return <AnswerTag status={status ?? deliveries.errors[error ?? ''] ?? error} ok={ok} ms={ms} />;
};

const TONES: Readonly<Record<string, string>> = { delivered: 'good', failed: 'bad' };

const Attempts = ({ attempts }: { readonly attempts: readonly Attempt[] }) => (
  <ol class="stack tight">
    {attempts.map((attempt) => (
      <li key={attempt.number} class="row">
        <span>{momentText(attempt.started_at)}</span>
        <WebhookTag answer={attempt} />
        {attempt.redelivery && <span class="soft">{deliveries.asked}</span>}
      </li>
    ))}
  </ol>
);

function Body({ delivery }: { readonly delivery: Delivery }) {
  const [body, setBody] = useState<string | undefined>();
  const reading = useAction(async (signal) =>
    setBody((await ask<{ readonly body: string }>(pathOf(delivery), { signal })).body),
  );
  return (
    <details onToggle={({ currentTarget }) => currentTarget.open && !body && void reading.run()}>
      <summary>{deliveries.body}</summary>
      <Failure error={reading.error} retry={() => void reading.run()} />
      {body === undefined ? <Loading /> : <pre tabIndex={0}>{JSON.stringify(JSON.parse(body), null, 2)}</pre>}
    </details>
  );
}

/** `linked`: with a link to its call. */
export function DeliveryRow({ initial, linked }: { readonly initial: Delivery; readonly linked: boolean }) {
  const may = useMay();
  const { delivery, setDelivery } = useDelivery(initial);
  const sending = useAction(async (signal) =>
    setDelivery(await ask<Delivery>(pathOf(delivery, '/redeliver'), { method: 'POST', signal })),
  );
  const {
    event,
    url,
    status,
    created_at: at,
    next_attempt_at: next,
    session_id: session,
    attempts,
  } = delivery;
  return (
    <li class="group stack tight">
      <div class="row">
        <strong title={event}>{deliveries.events[event] ?? event}</strong>
        <span class={`tag ${TONES[status] ?? 'warn'}`} role="status">
          {deliveries.statuses[status] ?? status}
        </span>
        {linked && <a href={linkTo(['calls', session])}>{momentText(at)}</a>}
      </div>
      <p class="mono soft text">{url}</p>
      <Attempts attempts={attempts} />
      {next && attempts.length > 0 && <p class="soft">{deliveries.next(momentText(next))}</p>}
      <Body delivery={delivery} />
      {may('manage') && (
        <div>
          <button
            class="button"
            type="button"
            disabled={sending.busy || status === 'waiting'}
            onClick={() => void sending.run()}
          >
            {deliveries.again}
          </button>
        </div>
      )}
      <Failure error={sending.error} />
    </li>
  );
}

/** The deliveries of a session or an agent, newest first. */
export function Deliveries({
  of,
}: {
  readonly of: Readonly<Record<'session_id', string>> | Readonly<Record<'agent_id', string>>;
}) {
  const query = new URLSearchParams({ ...of, page_size: '20' }).toString();
  const { rows, error, busy, more, reload } = usePages<Delivery>(
    `v1/agent/deliveries?${query}`,
    'deliveries',
  );
  return (
    <section class="panel stack tight">
      <h2>{deliveries.title}</h2>
      <Failure error={error} retry={reload} />
      {!rows && busy && <Loading />}
      {rows?.length === 0 && <p class="soft">{deliveries.none}</p>}
      <ul class="stack">
        {rows?.map((row) => (
          <DeliveryRow key={row.delivery_id} initial={row} linked={'agent_id' in of} />
        ))}
      </ul>
      <More more={more} busy={busy} />
    </section>
  );
}
