/** The deliveries of post-call events, newest first, with filters in the address; and sending again all that match. */
import { useEffect, useState } from 'preact/hooks';
import { useMay } from '../account.js';
import { ask } from '../api.js';
import { useAction, usePages } from '../hooks.js';
import { AgentFilter, choose, DateFilter, MOST_PAGES, StatusFilter } from '../parts/list-filters.js';
import { Empty, Failure, Loading, More, Page } from '../parts/basics.js';
import { type Delivery, DeliveryRow } from '../parts/deliveries.js';
import { Search } from '../parts/search.js';
import { linkTo, setQuery, useAddress } from '../router.js';
import { texts } from '../texts.js';

const { deliveries, calls } = texts;

const FILTERS = ['status', 'agent_id', 'session_id', 'created_after', 'created_before'] as const;
type Filter = (typeof FILTERS)[number];

const PAGE_SIZE = '50';
const LOOK_MS = 2000;

/** Turns a moment of the user's time zone into the one that the filter expects; empty if it is none. */
function momentOf(text: string): string {
  const moment = new Date(text);
  return Number.isNaN(moment.getTime()) ? '' : moment.toISOString();
}

/** The filters as the API takes them. */
function asked(query: URLSearchParams): Record<string, string> {
  const given = FILTERS.map((name) => {
    const value = query.get(name) ?? '';
    return [name, name.startsWith('created') ? momentOf(value) : value] as const;
  });
  return Object.fromEntries(given.filter(([, value]) => value !== ''));
}

function Filters({ query }: { readonly query: URLSearchParams }) {
  const value = (name: Filter) => query.get(name) ?? '';
  return (
    <div class="fields moments">
      <StatusFilter value={value('status')} any={deliveries.anyStatus} names={deliveries.statuses} />
      <AgentFilter value={value('agent_id')} />
      <Search
        label={deliveries.session}
        value={value('session_id')}
        change={(text) => choose('session_id', text)}
      />
      <DateFilter
        type="datetime-local"
        name="created_after"
        label={calls.after}
        value={value('created_after')}
      />
      <DateFilter
        type="datetime-local"
        name="created_before"
        label={calls.before}
        value={value('created_before')}
      />
    </div>
  );
}

interface Redelivery {
  readonly redelivery_id: string;
  readonly status: 'running' | 'completed';
  readonly redelivered: number;
  readonly waiting: number;
}

const isOver = ({ status, waiting }: Redelivery): boolean => status === 'completed' && waiting === 0;

/** Follows a redelivery until all that it made to wait was attempted; calls `over` then. */
function useRedelivery(over: () => void) {
  const [redelivery, follow] = useState<Redelivery | undefined>();
  useEffect(() => {
    if (!redelivery || isOver(redelivery)) return;
    const abort = new AbortController();
    const look = (): void =>
      void ask<Redelivery>(`v1/agent/redeliveries/${redelivery.redelivery_id}`, {
        signal: abort.signal,
      }).then(
        (seen) => {
          follow(seen);
          if (isOver(seen)) over();
        },
        () => follow((seen) => seen && { ...seen }),
      );
    const timer = setTimeout(look, LOOK_MS);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [redelivery]);
  return { redelivery, follow };
}

/** Sends all failed deliveries again that the filters show; a filter by another status hides it. */
function SendAgain({ filter, over }: { readonly filter: Record<string, string>; readonly over: () => void }) {
  const { redelivery, follow } = useRedelivery(over);
  const sending = useAction(async (signal) =>
    follow(await ask<Redelivery>('v1/agent/redeliveries', { body: { ...filter, status: 'failed' }, signal })),
  );
  const running = redelivery !== undefined && !isOver(redelivery);
  return (
    <div class="stack tight">
      <div class="row">
        <button
          class="button"
          type="button"
          disabled={sending.busy || running}
          onClick={() => void sending.run()}
        >
          {Object.keys(filter).some((name) => name !== 'status')
            ? deliveries.againMatching
            : deliveries.againAll}
        </button>
        <span class="soft" role="status">
          {redelivery && deliveries.progress(redelivery.redelivered, redelivery.waiting)}
        </span>
      </div>
      <Failure error={sending.error} />
    </div>
  );
}

export function DeliveryList() {
  const may = useMay();
  const { query } = useAddress();
  const filter = asked(query);
  const path = new URLSearchParams({ ...filter, page_size: PAGE_SIZE }).toString();
  const { rows, error, busy, more, reload } = usePages<Delivery>(
    `v1/agent/deliveries?${path}`,
    'deliveries',
    {
      pages: Math.min(MOST_PAGES, Math.max(1, Number(query.get('pages')) || 1)),
      show: (pages) => setQuery({ pages: pages > 1 ? pages : '' }),
    },
  );
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <Page title={deliveries.title} intro={deliveries.intro}>
      <Filters query={query} />
      {may('manage') && (filter['status'] ?? 'failed') === 'failed' && (
        <SendAgain filter={filter} over={reload} />
      )}
      <Failure error={error} retry={reload} />
      {rows?.length === 0 && (
        <Empty title={isFiltered ? deliveries.noneMatching : deliveries.none}>
          {isFiltered && <a href={linkTo(['deliveries'])}>{calls.clear}</a>}
        </Empty>
      )}
      {rows && rows.length > 0 && (
        <ul class="stack panel">
          {rows.map((row) => (
            <DeliveryRow
              key={`${row.delivery_id} ${row.status} ${row.attempts.length}`}
              initial={row}
              linked
            />
          ))}
        </ul>
      )}
      {!rows && busy && <Loading />}
      <More more={more} busy={busy} />
    </Page>
  );
}
