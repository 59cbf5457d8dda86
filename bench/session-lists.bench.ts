/**
 * Lists of 200,000 sessions of one workspace, by each filter, and with their totals. The bare statement of the same
 * rounds, a read of one row by its id, tells how busy the machine is.
 */
import { createSessions } from '../storage/sessions.js';
import { openDatabase } from '../storage/database.js';
import { startEmbedded } from '../storage/embedded.js';
import { migrate } from '../storage/migrate.js';
import { randomIds } from '../contracts/ids.js';
import type { PageRequest } from '../contracts/ports/page.js';
import type { SessionFilter } from '../contracts/ports/sessions.js';
import { BUSY_WORKSPACE, fillSessions } from '../test/fixtures/many-sessions.js';
import { temporaryFolder } from '../test/fixtures/gateway.js';
import { rm } from 'node:fs/promises';
import { median, row } from './measure.js';

/** Nine in ten are in the workspace. */
const SESSIONS = 222_000;
const ROUNDS = 31;
const DAY_MS = 86_400_000;

const daysAgo = (days: number): Date => new Date(Date.now() - days * DAY_MS);
const FILTERS: Readonly<Record<string, SessionFilter>> = {
  'no filter': {},
  'status=completed': { statuses: ['completed'] },
  'status=failed': { statuses: ['failed'] },
  'status=pending,active': { statuses: ['pending', 'active'] },
  agent_id: { agentId: 'agent_0' },
  caller_number: { callerNumber: '+49300' },
  end_user_id: { endUserId: 'user_0' },
  'created_before, old': { createdBefore: daysAgo(150) },
  'created_after and _before': { createdAfter: daysAgo(100), createdBefore: daysAgo(50) },
  'agent_id, status=failed, created_before': {
    agentId: 'agent_15',
    statuses: ['failed'],
    createdBefore: daysAgo(75),
  },
  'caller_number, end_user_id': { callerNumber: '+49300', endUserId: 'user_0' },
};

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

const folder = await temporaryFolder();
const server = await startEmbedded({ dataDir: folder });
const { sql, close } = await openDatabase({ url: server.url, connections: 1 });
try {
  await migrate(sql);
  await sql`set statement_timeout = 0`;
  await fillSessions(sql, SESSIONS);
  const sessions = createSessions({ sql, ids: randomIds, defaultLimit: 1 });
  const [middle] = await sql<{ position: string }[]>`
    select position::text as position from sessions where workspace_id = ${BUSY_WORKSPACE}
    order by created_at desc, position desc offset ${SESSIONS / 2} limit 1`;
  const page: PageRequest = { size: 30, offset: 0, total: false };
  const list = (filter: SessionFilter, more: Partial<PageRequest>) =>
    timed(() => sessions.list(BUSY_WORKSPACE, filter, { ...page, ...more }));

  for (const [name, filter] of Object.entries(FILTERS)) {
    const rounds: Readonly<Record<'bare' | 'first' | 'cursor' | 'total', number>>[] = [];
    for (let round = 0; round < ROUNDS; round++)
      rounds.push({
        bare: await timed(() => sql`select id from sessions where id = 'sess_000000000000000000000001'`),
        first: await list(filter, {}),
        cursor: await list(filter, { after: middle!.position }),
        total: await list(filter, { total: true }),
      });
    const of = (key: keyof (typeof rounds)[number]): number => median(rounds.map((times) => times[key]));
    row(`${name}: one row by its id, median`, of('bare'), 'ms');
    row(`${name}: newest page, median`, of('first'), 'ms', '5 ms');
    row(`${name}: page behind a cursor, median`, of('cursor'), 'ms', '5 ms');
    row(`${name}: with include_total, median`, of('total'), 'ms', '20 ms');
  }
} finally {
  await close();
  await server.stop();
  await rm(folder, { recursive: true, force: true });
}
