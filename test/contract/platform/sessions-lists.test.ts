/** Lists of many sessions: every filter, alone and with others, uses an index, and gives the same rows as plain filtering. */
import t from '../../fixtures/tap.js';
import type { PageRequest } from '../../../contracts/ports/page.js';
import type { SessionFilter } from '../../../contracts/ports/sessions/sessions.js';
import { listSessions, pageRows, total } from '../../../storage/sessions/list.js';
import { shortOrLong } from '../../fixtures/long.js';
import { BUSY_WORKSPACE as workspaceId, fillSessions } from '../../fixtures/platform/many-sessions.js';
import { startPostgres } from '../../fixtures/database/postgres.js';

const MANY = 20_000;
const postgres = await startPostgres(t);
const { sql } = await postgres.migrated();
await fillSessions(sql, MANY);

interface Stored {
  readonly id: string;
  readonly position: string;
  readonly agentId: string;
  readonly callerNumber: string | null;
  readonly direction: string | null;
  readonly endUserId: string | null;
  readonly status: string;
  readonly createdAt: Date;
}

/** All sessions that lists may show, newest first. */
const stored = (): Promise<Stored[]> => sql<Stored[]>`
  select id, position::text as position, agent_id as "agentId", direction,
    case when direction = 'outbound' then dialed_number else caller_number end as "callerNumber",
    end_user_id as "endUserId", status, created_at as "createdAt"
  from sessions where workspace_id = ${workspaceId} and source <> 'dashboard'
  order by created_at desc, position desc`;

const all = await stored();
const at = (part: number): Stored => all[Math.floor(all.length * part)]!;

/** The choices for each member of the filter; the first is to leave it out. */
const CHOICES: readonly (readonly SessionFilter[])[] = [
  [{}, { statuses: ['completed'] }, { statuses: ['failed'] }, { statuses: ['pending', 'active'] }],
  [{}, { agentId: 'agent_0' }, { agentId: 'agent_15' }],
  [{}, { callerNumber: '+49300' }],
  [{}, { direction: 'outbound' }, { direction: 'inbound' }],
  [{}, { endUserId: 'user_0' }],
  [{}, { createdAfter: at(0.6).createdAt }],
  [{}, { createdBefore: at(0.9).createdAt }, { createdBefore: at(0.4).createdAt }],
];
const COMBINATIONS = CHOICES.reduce<readonly SessionFilter[]>(
  (filters, choices) => filters.flatMap((filter) => choices.map((choice) => ({ ...filter, ...choice }))),
  [{}],
);
/** Filters of the short form: no, one, two and all members; the long form has every combination. */
const isShort = (filter: SessionFilter): boolean =>
  [0, 1, 2, CHOICES.length].includes(Object.keys(filter).length);
const FILTERS = COMBINATIONS.filter((filter) => shortOrLong(isShort(filter), true));

const PAGE: PageRequest = { size: 30, offset: 0, total: true };
const PAGES: readonly PageRequest[] = [
  PAGE,
  { ...PAGE, after: at(0.2).position },
  { ...PAGE, after: at(0.8).position },
  { ...PAGE, offset: 60 },
];

const passes =
  ({ statuses, agentId, callerNumber, direction, endUserId, createdAfter, createdBefore }: SessionFilter) =>
  (row: Stored): boolean =>
    (statuses ? (statuses as string[]).includes(row.status) : row.status !== 'pending') &&
    (agentId === undefined || row.agentId === agentId) &&
    (callerNumber === undefined || row.callerNumber === callerNumber) &&
    (direction === undefined || (row.direction ?? 'inbound') === direction) &&
    (endUserId === undefined || row.endUserId === endUserId) &&
    (!createdAfter || row.createdAt >= createdAfter) &&
    (!createdBefore || row.createdAt <= createdBefore);

const isBehind = ({ createdAt, position }: Stored, cursor: Stored): boolean =>
  createdAt < cursor.createdAt ||
  (+createdAt === +cursor.createdAt && BigInt(position) < BigInt(cursor.position));

/** The rows behind the page's cursor. */
function behind(rows: readonly Stored[], { after }: PageRequest): readonly Stored[] {
  const cursor = all.find(({ position }) => position === after);
  return cursor ? rows.filter((row) => isBehind(row, cursor)) : rows;
}

interface Plan {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Shared Hit Blocks': number;
  readonly 'Shared Read Blocks': number;
  readonly Plans?: readonly Plan[];
}

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

async function explained(statement: ReturnType<typeof pageRows | typeof total>) {
  const [row] = await sql<{ 'QUERY PLAN': [{ Plan: Plan }] }[]>`
    explain (analyze, buffers, format json) ${statement as ReturnType<typeof total>}`;
  const plan = row!['QUERY PLAN'][0].Plan;
  return {
    scans: nodesOf(plan).some(
      (node) => node['Node Type'] === 'Seq Scan' && node['Relation Name'] === 'sessions',
    ),
    blocks: plan['Shared Hit Blocks'] + plan['Shared Read Blocks'],
  };
}

t.test('totals without a filter, and by status, read the index that is made for them', async (t) => {
  const [size] = await sql<{ blocks: number }[]>`
    select ((pg_relation_size('sessions_counted') + pg_relation_size('sessions', 'vm'))
      / current_setting('block_size')::int)::int as blocks`;
  for (const filter of [{}, { statuses: ['completed'] }] as const) {
    const { blocks } = await explained(total(sql, { workspaceId, filter }));
    // Each page of the visibility map is read for many entries, and counted once for each list of them.
    t.ok(blocks <= 2 * size!.blocks, `${JSON.stringify(filter)}: ${blocks} of ${size!.blocks} blocks`);
  }
});

t.test('no list of sessions scans the table, and none reads much of it', async (t) => {
  const [size] = await sql<{ blocks: number }[]>`
    select (pg_relation_size('sessions') / current_setting('block_size')::int)::int as blocks`;
  const most = size!.blocks / 4;
  for (const filter of FILTERS) {
    const what = JSON.stringify(filter);
    for (const page of PAGES) {
      const { scans, blocks } = await explained(pageRows(sql, { workspaceId, filter }, page));
      t.ok(!scans && blocks <= most, `page ${JSON.stringify(page)} of ${what}: ${blocks} blocks`);
    }
    const { scans, blocks } = await explained(total(sql, { workspaceId, filter }));
    t.ok(!scans && blocks <= most, `total of ${what}: ${blocks} of ${size!.blocks} blocks`);
  }
});

t.test('every filter and cursor lists what passes it, newest first, and counts it exactly', async (t) => {
  for (const filter of FILTERS) {
    const passing = all.filter(passes(filter));
    for (const page of PAGES) {
      const rest = behind(passing, page).slice(page.offset);
      const { rows, next, total: count } = await listSessions(sql, { workspaceId, filter }, page);
      const wanted = rest.slice(0, page.size);
      const what = `${JSON.stringify(filter)}, ${JSON.stringify(page)}`;
      t.equal(rows.map(({ id }) => id).join(), wanted.map(({ id }) => id).join(), what);
      t.equal(next, rest.length > page.size ? wanted.at(-1)!.position : null, what);
      t.equal(count, passing.length, what);
    }
  }
});

t.test(
  'a search lists what has all of its words, however often they are said, out of an index',
  async (t) => {
    const rows = await sql<{ id: string; words: string[] | null }[]>`
    select id, tsvector_to_array(terms) as words from sessions`;
    const words = new Map(rows.map(({ id, words }) => [id, words ?? []]));
    const has = (word: string) => (row: Stored) => words.get(row.id)!.some((said) => said.startsWith(word));
    const [size] = await sql<{ blocks: number }[]>`
    select (pg_relation_size('sessions') / current_setting('block_size')::int)::int as blocks`;
    for (const search of ['word0', 'word25', 'word2999', 'word0 word7', 'word12 word1300', 'nowhere'])
      for (const other of [{}, { agentId: 'agent_15' }, { createdBefore: at(0.4).createdAt }])
        for (const page of [PAGE, { ...PAGE, after: at(0.8).position }]) {
          const filter: SessionFilter = { search, ...other };
          const passing = all.filter(
            (row) => passes(filter)(row) && search.split(' ').every((word) => has(word)(row)),
          );
          const rest = behind(passing, page);
          const found = await listSessions(sql, { workspaceId, filter }, page);
          const what = `${JSON.stringify(filter)} ${page.after ?? ''}`;
          t.equal(
            found.rows.map(({ id }) => id).join(),
            rest
              .slice(0, page.size)
              .map(({ id }) => id)
              .join(),
            what,
          );
          t.equal(found.total, passing.length, what);
          const { scans, blocks } = await explained(pageRows(sql, { workspaceId, filter }, page));
          t.ok(!scans && blocks <= size!.blocks, `${what}: ${blocks} of ${size!.blocks} blocks`);
        }
  },
);

t.test('a cursor stays where it was when its session is deleted', async (t) => {
  for (const filter of [{}, { createdBefore: at(0.3).createdAt }]) {
    const list = { workspaceId, filter };
    const { next } = await listSessions(sql, list, PAGE);
    const page: PageRequest = { ...PAGE, after: next!, total: false };
    const before = await listSessions(sql, list, page);
    await sql`delete from sessions where position = ${next}`;
    t.same(await listSessions(sql, list, page), before);
    t.same(
      (await listSessions(sql, list, { ...page, after: '0' })).rows,
      [],
      'nothing is older than the first',
    );
  }
});
