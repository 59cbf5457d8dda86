/** The calls of the workspace, newest first, page by page; the address holds the filters and the number of pages shown. */
import { useEffect } from 'preact/hooks';
import { lengthText, momentText } from '../../format.js';
import { usePages } from '../../hooks.js';
import { Empty, Failure, Loading, More, Page, Scroll } from '../../parts/basics.js';
import { AgentFilter, choose, DateFilter, MOST_PAGES, StatusFilter } from '../../parts/list-filters.js';
import { Search } from '../../parts/search.js';
import { linkTo, setQuery, useAddress } from '../../router.js';
import { texts } from '../../texts.js';
import { type CallRow, isLive } from './record.js';
import { StatusTag } from './status.js';

const { calls } = texts;

const FILTERS = [
  'search',
  'agent_id',
  'status',
  'created_after',
  'created_before',
  'end_user_id',
  'caller_number',
] as const;
type Filter = (typeof FILTERS)[number];

const PAGE_SIZE = 50;
/** The list is loaded anew after this long, sooner while a call runs. */
const RUNNING_MS = 3000;
const QUIET_MS = 15_000;
/** Turns a day of the user's time zone into the moment that the filter expects. */
function momentOf(name: Filter, day: string): string {
  if (name === 'created_after') return new Date(`${day}T00:00:00`).toISOString();
  return name === 'created_before' ? new Date(`${day}T23:59:59.999`).toISOString() : day;
}

function pathOf(query: URLSearchParams): string {
  const asked = new URLSearchParams({ page_size: String(PAGE_SIZE), include_total: 'true' });
  for (const name of FILTERS) {
    const value = query.get(name);
    if (value) asked.set(name, momentOf(name, value));
  }
  return `v1/agent/sessions?${asked.toString()}`;
}

type TypedProps = {
  readonly name: Filter;
  readonly label: string;
  readonly help?: string;
  readonly value: string;
};

const Typed = ({ name, ...shown }: TypedProps) => <Search {...shown} change={(text) => choose(name, text)} />;

function Filters({ query }: { readonly query: URLSearchParams }) {
  const value = (name: Filter) => query.get(name) ?? '';
  return (
    <>
      <div class="search">
        <Typed name="search" label={calls.search} help={calls.searchHelp} value={value('search')} />
      </div>
      <div class="fields filters">
        <AgentFilter value={value('agent_id')} />
        <StatusFilter value={value('status')} any={calls.anyStatus} names={calls.statuses} />
        <DateFilter type="date" name="created_after" label={calls.after} value={value('created_after')} />
        <DateFilter type="date" name="created_before" label={calls.before} value={value('created_before')} />
        <Typed name="end_user_id" label={calls.user} value={value('end_user_id')} />
        <Typed
          name="caller_number"
          label={calls.number}
          help={calls.numberHelp}
          value={value('caller_number')}
        />
      </div>
    </>
  );
}

const Row = ({ row }: { readonly row: CallRow }) => (
  <tr>
    <td class="when">
      <a href={linkTo(['calls', row.session_id])}>{momentText(row.created_at)}</a>
    </td>
    <td class="names">
      {row.agent_name}
      {row.name && <span class="soft"> · {row.name}</span>}
    </td>
    <td>
      <StatusTag call={row} />
    </td>
    <td class="number">{lengthText(row.duration_seconds)}</td>
    <td class="spare">{row.caller_number ?? calls.sources[row.source] ?? row.source}</td>
  </tr>
);

const Table = ({ rows }: { readonly rows: readonly CallRow[] }) => (
  <Scroll label={texts.views.calls}>
    <table class="list">
      <thead>
        <tr>
          <th>{calls.when}</th>
          <th>{calls.agent}</th>
          <th>{calls.status}</th>
          <th class="number">{calls.length}</th>
          <th class="spare">{calls.source}</th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <Row key={row.session_id} row={row} />
        ))}
      </tbody>
    </table>
  </Scroll>
);

const Nothing = ({ filtered }: { readonly filtered: boolean }) => (
  <Empty title={filtered ? calls.noneMatching : calls.none}>
    {filtered ? (
      <a href={linkTo(['calls'])}>{calls.clear}</a>
    ) : (
      <a href={linkTo(['talk'])}>{texts.start.talk}</a>
    )}
  </Empty>
);

export function CallList() {
  const { query } = useAddress();
  const { rows, total, error, busy, more, reload, refresh } = usePages<CallRow>(pathOf(query), 'sessions', {
    pages: Math.min(MOST_PAGES, Math.max(1, Number(query.get('pages')) || 1)),
    show: (pages) => setQuery({ pages: pages > 1 ? pages : '' }),
  });
  const isRunning = rows?.some(isLive) ?? false;
  useEffect(() => {
    if (busy) return;
    const timer = setTimeout(refresh, isRunning ? RUNNING_MS : QUIET_MS);
    return () => clearTimeout(timer);
  }, [busy, isRunning, pathOf(query)]);
  return (
    <Page title={texts.views.calls} intro={calls.intro}>
      <Filters query={query} />
      <Failure error={error} retry={reload} />
      {rows?.length === 0 && <Nothing filtered={FILTERS.some((name) => query.get(name))} />}
      {total !== null && total > 0 && (
        <p class="soft" role="status">
          {calls.total(total)}
          {isRunning && ` · ${calls.follows}`}
        </p>
      )}
      {rows && rows.length > 0 && <Table rows={rows} />}
      {!rows && busy && <Loading />}
      <More more={more} busy={busy} />
    </Page>
  );
}
