/** Who did what in the workspace, newest first; the address holds the filters and the number of pages shown. */
import { momentText } from '../format.js';
import { usePages } from '../hooks.js';
import { Empty, Failure, Field, Loading, More, Page, Scroll } from '../parts/basics.js';
import { change, choose, DateFilter, MOST_PAGES } from '../parts/list-filters.js';
import { Search } from '../parts/search.js';
import { linkTo, setQuery, useAddress } from '../router.js';
import { texts } from '../texts.js';

const { audit } = texts;

interface Entry {
  readonly entry_id: string;
  readonly at: string;
  readonly last_at: string;
  readonly count: number;
  readonly action: string;
  readonly subject_id: string | null;
  readonly subject_name: string | null;
  readonly detail: string | null;
  readonly fields: readonly string[];
  readonly key_id: string | null;
  readonly key_name: string | null;
  readonly address: string | null;
}

const FILTERS = ['action', 'subject_id', 'key_id', 'after', 'before'] as const;
const DATES: ReadonlySet<string> = new Set(['after', 'before']);

function pathOf(query: URLSearchParams): string {
  const asked = new URLSearchParams({ page_size: '50' });
  for (const name of FILTERS) {
    const value = query.get(name);
    if (value) asked.set(name, DATES.has(name) ? new Date(value).toISOString() : value);
  }
  return `v1/agent/audit?${asked.toString()}`;
}

/** Views of subjects, by the first word of the action; what was deleted has none. */
const VIEWS: Readonly<Record<string, string>> = {
  agent: 'agents',
  tool: 'tools',
  knowledge: 'knowledge',
  number: 'phone',
};

function Subject({ entry: { action, subject_id: id, subject_name: name } }: { readonly entry: Entry }) {
  const view = VIEWS[action.split('.')[0] ?? ''];
  const shown = name ?? id ?? '–';
  return view && id && !action.endsWith('.deleted') ? <a href={linkTo([view, id])}>{shown}</a> : <>{shown}</>;
}

const Row = ({ entry }: { readonly entry: Entry }) => (
  <tr>
    <td class="when">{momentText(entry.last_at)}</td>
    <td>{entry.key_name ?? entry.key_id ?? audit.operator}</td>
    <td>
      {audit.actions[entry.action] ?? entry.action}
      {entry.count > 1 && ` ${audit.times(entry.count)}`}
    </td>
    <td>
      <Subject entry={entry} />
      {entry.detail && ` · ${entry.detail}`}
      {entry.fields.length > 0 && <span class="soft"> {entry.fields.join(', ')}</span>}
    </td>
    <td class="spare">{entry.address ?? '–'}</td>
  </tr>
);

const Table = ({ entries }: { readonly entries: readonly Entry[] }) => (
  <Scroll label={texts.views.audit}>
    <table class="list">
      <thead>
        <tr>
          <th>{audit.when}</th>
          <th>{audit.who}</th>
          <th>{audit.what}</th>
          <th>{audit.subject}</th>
          <th class="spare">{audit.from}</th>
        </tr>
      </thead>
      <tbody>
        {entries.map((entry) => (
          <Row key={entry.entry_id} entry={entry} />
        ))}
      </tbody>
    </table>
  </Scroll>
);

const Filters = ({ value }: { readonly value: (name: (typeof FILTERS)[number]) => string }) => (
  <div class="fields moments">
    <Field label={audit.what}>
      {(tied) => (
        <select {...tied} value={value('action')} onChange={change('action')}>
          <option value="">{audit.anything}</option>
          {Object.entries(audit.actions).map(([action, name]) => (
            <option key={action} value={action}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
    <Search label={audit.subjectId} value={value('subject_id')} change={(id) => choose('subject_id', id)} />
    <Search label={audit.keyId} value={value('key_id')} change={(id) => choose('key_id', id)} />
    <DateFilter type="datetime-local" name="after" label={texts.calls.after} value={value('after')} />
    <DateFilter type="datetime-local" name="before" label={texts.calls.before} value={value('before')} />
  </div>
);

export function Audit() {
  const { query } = useAddress();
  const { rows, error, busy, more, reload } = usePages<Entry>(pathOf(query), 'entries', {
    pages: Math.min(MOST_PAGES, Math.max(1, Number(query.get('pages')) || 1)),
    show: (pages) => setQuery({ pages: pages > 1 ? pages : '' }),
  });
  return (
    <Page title={texts.views.audit} intro={audit.intro}>
      <Filters value={(name) => query.get(name) ?? ''} />
      <Failure error={error} retry={reload} />
      {rows?.length === 0 && (
        <Empty title={audit.none}>
          <a href={linkTo(['audit'])}>{texts.calls.clear}</a>
        </Empty>
      )}
      {rows && rows.length > 0 && <Table entries={rows} />}
      {!rows && busy && <Loading />}
      <More more={more} busy={busy} />
    </Page>
  );
}
