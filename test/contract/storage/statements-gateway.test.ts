/** What a client asks of the database, at a gateway: bounded, fair, ended with the client, and 503 for nobody else. */
import t from '../../fixtures/tap.js';
import { LIMITS } from '../../../contracts/limits.js';
import { refreshStatistics } from '../../../storage/agents/knowledge-statistics.js';
import type { Transaction } from '../../../storage/postgres/sql.js';
import { exactly } from '../../fixtures/exactly.js';
import { type Answer, formOf, type Json, startPlatform } from '../../fixtures/platform/platform.js';
import { shortOrLong } from '../../fixtures/long.js';
import { until } from '../../fixtures/until.js';

const platform = await startPlatform(t);
const { call, database, gateway, otherKey } = platform;
const { sql } = database;

const TABLES = [
  ...[
    'agents',
    'tools',
    'knowledge_sources',
    'sessions',
    'deliveries',
    'voices',
    'phone_numbers',
    'placed_calls',
  ],
  ...['agent_test_scenarios', 'agent_test_suites', 'agent_test_runs'],
];

/** Lists and reads of all dialects. */
const ASKED = [
  ...[
    '/v1/agent/agents',
    '/v1/agent/agents?search=x',
    '/v1/agent/tools',
    '/v1/agent/knowledge-sources?search=y',
  ],
  ...[
    '/v1/agent/sessions',
    '/v1/agent/sessions?search=hello',
    '/v1/agent/deliveries',
    '/v1/agent/phone-numbers',
  ],
  ...['/v1/agent/calls', '/v1/agent/tests/scenarios', '/v1/agent/tests/suites', '/v1/agent/tests/runs'],
  ...[
    '/model',
    '/v1/audio/voices',
    '/compat/elevenlabs/v1/voices',
    '/compat/elevenlabs/v2/voices',
    `/v1/agent/agents/ag_${'0'.repeat(24)}`,
  ],
];

/** Does the work while nobody else can use these tables. */
const locked = <T>(tables: readonly string[], work: () => Promise<T>): Promise<T> =>
  sql.begin(async (tx: Transaction) => {
    await tx`lock table ${tx(tables as string[])} in access exclusive mode`;
    return work();
  }) as Promise<T>;

/** Statements of the gateway that wait for a lock. */
const waiting = async (): Promise<number> => {
  const [row] = await database.urgent<{ count: number }[]>`
    select count(*)::int as count from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like '%knowledge_sources%'`;
  return row?.count ?? 0;
};

const health = async (): Promise<number> => (await fetch(`${gateway.base}/health`)).status;

const speech = (): Promise<Response> =>
  fetch(`${gateway.base}/v1/tts`, {
    method: 'POST',
    headers: { authorization: `Bearer ${otherKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ text: 'hi', format: 'pcm' }),
  });

t.test(
  'whatever a client asks that takes too long is 503 with Retry-After, and the gateway stays healthy',
  async (t) => {
    for (const path of ASKED) t.equal((await call('GET', path)).status >= 500, false, path);
    const answers = await locked(TABLES, async () => {
      const asked = Promise.all(ASKED.map((path) => call('GET', path)));
      const states = [];
      for (let times = 0; times < 5; times += 1) states.push(await health());
      t.strictSame(new Set(states), new Set([200]));
      return asked;
    });
    answers.forEach(({ status, headers, body }: Answer, index) => {
      t.equal(status, 503, ASKED[index] ?? '');
      t.match(headers.get('retry-after'), /^\d+$/, ASKED[index] ?? '');
      t.match(headers.get('content-type'), /json/);
      t.ok(Object.keys(body).length > 0);
    });
    t.equal(await health(), 200);
    t.equal((await call('GET', '/v1/agent/agents')).status, 200, 'and all is as before');
  },
);

t.test('a statement ends with its client', async (t) => {
  await locked(['knowledge_sources'], async () => {
    const leaving = new AbortController();
    const asked = fetch(`${gateway.base}/v1/agent/knowledge-sources`, {
      method: 'POST',
      headers: { authorization: `Bearer ${platform.key}` },
      body: formOf({ source: new File(['left behind'], 'left.txt') }),
      signal: leaving.signal,
    }).catch((error: Error) => error.name);
    await until('it waits', async () => (await waiting()) === 1);
    leaving.abort();
    t.equal(await asked, 'AbortError');
    await until('it has gone', async () => (await waiting()) === 0);
  });
  const { body } = await call('GET', '/v1/agent/knowledge-sources?search=left');
  t.strictSame(body['knowledge_sources'], [], 'and what it had begun is not done');
});

/** The spelling of a number in letters. */
const word = (number: number): string =>
  [...number.toString(26)].map((digit) => String.fromCharCode(97 + parseInt(digit, 26))).join('');

/** Every passage has the common words, and each one has one of its own. */
async function knowledgeOf(passages: number): Promise<string> {
  const source = await platform.source(`needle ${'quince '.repeat(3)}`);
  await sql`
    insert into knowledge_chunks (source_id, revision, position, content, terms)
    select ${source}, 1, n, text, to_tsvector('english', text) from (
      select n, 'own' || n || ' ' || (
        select string_agg('common' || ((n + i) % 400), ' ') from generate_series(1, 120) i) as text
      from generate_series(1000, 999 + ${passages}::int) n) as made`;
  await sql`update knowledge_revisions set chunk_count = ${passages}, size_bytes = 1000000 where source_id = ${source}`;
  await refreshStatistics(sql);
  return source;
}

t.test('after an upload the database knows how frequent the words are, before autovacuum does', async (t) => {
  const known = async (): Promise<boolean> => {
    const rows = await sql`
      select from pg_stats where tablename = 'knowledge_chunks' and attname = 'terms'
        and 'marigold' = any(most_common_elems::text::text[])`;
    return rows.length > 0;
  };
  t.equal(await known(), false);
  await platform.source(`${'marigold '.repeat(125)}\n\n`.repeat(150));
  await until('it knows', known);
});

t.test('a long question over much text is answered within the time of a statement, for all', async (t) => {
  const source = await knowledgeOf(shortOrLong(2000, 40_000));
  const knowledge_base = { enabled: true, knowledge_source_ids: [source] };
  const agent = await platform.agent({ config: { knowledge_base } });
  const filler = Array.from({ length: 900 }, (_, index) => `common${index % 400}`).join(' ');
  const query = `quince ${filler}`.slice(0, LIMITS.knowledge.query);
  const search = (text = query): Promise<Answer> =>
    call('POST', `/v1/agent/agents/${agent}/knowledge/search`, { body: { query: text } });
  const { status, body } = await search();
  t.equal(status, 200);
  t.equal((body['passages'] as Json[]).length, LIMITS.knowledge.passages);
  exactly(t, (await search(`own1234 ${word(7)}`)).body['passages'], [{ text: /^own1234 / }]);

  const order: string[] = [];
  const searches = Array.from({ length: 100 }, async () => {
    const answer = await search();
    order.push('search');
    return answer;
  });
  const meanwhile = async (): Promise<void> => {
    const others = await Promise.all([
      call('GET', '/v1/agent/agents', { key: otherKey }),
      speech(),
      fetch(`${gateway.base}/health`),
    ]);
    t.strictSame(
      others.map((answer) => answer.status),
      [200, 200, 200],
    );
    order.push('others');
  };
  await meanwhile();
  const ended = await Promise.all(searches);
  t.not(order.indexOf('others'), 100, 'the others did not wait for all of the searches');
  for (const { status, headers } of ended)
    if (status !== 200) exactly(t, [status, headers.get('retry-after')], [503, /^\d+$/]);
  t.ok(ended.some((answer) => answer.status === 200));
});
