/**
 * Two gateways on one database, as on two machines, of which the first says that all of its processors are in use
 * (contracts/admission/placement.ts): where calls begin.
 */
import t from '../../fixtures/tap.js';
import { Caller, letGo } from '../../fixtures/calls/caller.js';
import { type Invite, MEDIA, Talks } from '../../fixtures/conversation/conversation.js';
import { exactly } from '../../fixtures/exactly.js';
import { freePort } from '../../fixtures/free-port.js';
import { type Gateway, startGateway, TEST_SECRET } from '../../fixtures/gateway.js';
import { startPostgres } from '../../fixtures/database/postgres.js';
import { until } from '../../fixtures/until.js';

/** A gateway that measures such a share of the processors in use. */
function busy(share: number) {
  const source = `
    import os from 'node:os';
    import { syncBuiltinESMExports } from 'node:module';
    os.cpus = () => [{ times: { user: ${share} * Date.now(), nice: 0, sys: 0, irq: 0, idle: ${1 - share} * Date.now() } }];
    syncBuiltinESMExports();`;
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(source)}` };
}

t.teardown(letGo);
const postgres = await startPostgres(t);
const { sql } = await postgres.open();
const shared = { DATABASE_URL: postgres.url, SECRETS_KEY: TEST_SECRET };
const talks = await Talks.start(t, { ...shared, ...busy(1) });
const { gateway: first, model } = talks;
const port = await freePort();
// By another name, as nodes of one address are one machine.
const url = `http://localhost:${port}`;
const second = await startGateway({
  ...{ ...MEDIA, ...shared, ...busy(0.05), LLM_BASE_URL: model.url, LOG_LEVEL: 'warn' },
  ...{ PORT: String(port), NODE_URL: url },
});
t.teardown(() => second.stop());

/** The node that owns a session's call. */
async function ownerOf({ session_id: id }: Invite): Promise<string | undefined> {
  const [row] = await sql<{ url: string }[]>`
    select o.url from sessions s join session_owners o on o.process_id = s.owner_id where s.id = ${id}`;
  return row?.url;
}

interface Listed {
  readonly url: string;
  readonly load: number;
  readonly call_cost: number;
}

async function nodes({ base, authorization }: Gateway): Promise<readonly Listed[]> {
  const response = await fetch(`${base}/nodes`, { headers: authorization });
  return ((await response.json()) as { nodes: Listed[] }).nodes;
}

t.test('nodes tell how loaded their machines are, and what a call takes of them', async (t) => {
  await until('both do', async () => {
    const [one, other] = await nodes(second);
    return one !== undefined && other !== undefined && one.load > 0.9 && other.load < 0.1;
  });
  for (const { call_cost: cost } of await nodes(second)) t.ok(cost > 0 && cost <= 1, `${cost}`);
});

t.test('a call begins at the machine that has room, and is carried there', async (t) => {
  const agent = await talks.agent({ prompt: { first_message_mode: 'fixed', first_message: 'Good day.' } });
  const { caller, invite } = await until('one does', async () => {
    const meeting = { invite: await talks.session(agent), caller: undefined as Caller | undefined };
    meeting.caller = await Caller.join(meeting.invite);
    if ((await ownerOf(meeting.invite)) === url) return meeting as typeof meeting & { caller: Caller };
    meeting.caller.hangUp();
    await talks.ended(meeting.invite);
    return undefined;
  });
  await until('the agent greets', () => caller.shown.some(({ text }) => text === 'Good day.'));
  caller.hangUp();
  exactly(t, await talks.ended(invite), { ended_reason: 'hangup' });
});

t.test('one that drains gets none, although it has room: calls begin where they come', async (t) => {
  const agent = await talks.agent();
  const held = await talks.session(agent);
  const staying = await Caller.join(held);
  t.equal(await ownerOf(held), url);
  second.kill('SIGTERM');
  await until('it drains', async () => (await sql`select from session_owners where draining`).length === 1);
  const invite = await talks.session(agent);
  const caller = await Caller.join(invite);
  t.equal(await ownerOf(invite), first.base);
  t.equal(await ownerOf(held), url, 'its own call goes on');
  for (const each of [caller, staying]) each.hangUp();
  await talks.ended(invite);
});
