/**
 * Existing sessions: lists, ending them by API, tokens and their sockets, and random requests to all routes according to the
 * interface description (docs/contract/platform.md 6.6, 6.7; decisions 5, 13).
 */
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { AccessToken, TokenVerifier } from 'livekit-server-sdk';
import t from '../../fixtures/tap.js';
import { Compile } from 'typebox/compile';
import { WebSocket } from 'ws';
import { systemClock } from '../../../contracts/clock.js';
import { LIMITS } from '../../../contracts/limits.js';
import { createJoinTokens } from '../../../gateway/agents/calls/join-tokens.js';
import { type Body, makeAgent } from '../../fixtures/platform/agents.js';
import { resolved } from '../../fixtures/platform/described.js';
import { exactly } from '../../fixtures/exactly.js';
import { startSessions } from '../../fixtures/platform/sessions.js';
import { pick, seeded } from '../../fixtures/random.js';
import { until } from '../../fixtures/until.js';

const { gateway, sql, key, call, agentId, create, read, endAll } = await startSessions(t);

t.test('lists: newest first, filters, both paging modes', async (t) => {
  const id = await makeAgent(call, { name: 'Listed' });
  const names = ['a', 'b', 'c', 'd', 'e'];
  for (const name of names) await create({ agent_id: id, name });
  const list = async (query: string) => {
    const { status, body } = await call(`sessions?${query}`);
    t.equal(status, 200, query);
    return body as { sessions: Body[]; has_more: boolean; next_cursor: string | null; total: number | null };
  };
  const namesOf = ({ sessions }: { sessions: Body[] }) => sessions.map(({ name }) => name).join('');
  t.equal(namesOf(await list(`agent_id=${id}`)), '', 'pending ones only where they are asked for');
  await sql`update sessions set status = 'completed', ended_at = now(), ended_reason = 'hangup', caller_number = '+1' || name
    where agent_id = ${id} and name in ('a', 'b', 'c')`;
  await sql`update sessions set status = 'active', started_at = now() where agent_id = ${id} and name = 'd'`;
  t.equal(namesOf(await list(`agent_id=${id}`)), 'dcba');
  t.equal(namesOf(await list(`agent_id=${id}&status=pending`)), 'e');
  t.equal(namesOf(await list(`agent_id=${id}&status=pending,active`)), 'ed');
  t.equal(namesOf(await list(`agent_id=${id}&status=failed,unknown`)), '');
  t.equal(namesOf(await list(`agent_id=${id}&caller_number=%2B1b`)), 'b');
  t.equal(namesOf(await list(`agent_id=${id}&caller_number=+1b`)), 'b', 'a plus that was not encoded');
  await sql`update sessions set direction = 'outbound', caller_number = '+49301', dialed_number = '+491700000' where
    agent_id = ${id} and name = 'c'`;
  for (const number of ['%2B491700000', '+491700000', '491700000'])
    t.equal(
      namesOf(await list(`agent_id=${id}&caller_number=${number}`)),
      'c',
      `the person who was called: ${number}`,
    );
  t.equal(namesOf(await list(`agent_id=${id}&caller_number=49301`)), '', 'no number of the workspace');
  t.equal(namesOf(await list(`agent_id=${id}&direction=outbound`)), 'c');
  t.equal(namesOf(await list(`agent_id=${id}&direction=inbound`)), 'dba', 'sessions of clients, too (D2)');
  t.equal(namesOf(await list('agent_id=nobody')), '');
  const { sessions } = await list(`agent_id=${id}&status=completed`);
  const [third, second, first] = sessions as [Body, Body, Body];
  const moment = (session: Body) => encodeURIComponent(String(session['created_at']));
  t.equal(namesOf(await list(`agent_id=${id}&created_after=${moment(second)}&status=completed`)), 'cb');
  t.equal(namesOf(await list(`agent_id=${id}&created_before=${moment(second)}`)), 'ba');
  t.equal(
    namesOf(await list(`agent_id=${id}&created_after=2020-01-01&created_before=${moment(first)}`)),
    'a',
  );
  t.equal(
    namesOf(
      await list(
        `agent_id=${id}&created_after=${String(third['created_at']).replace('Z', '+00:00')}&status=completed`,
      ),
    ),
    'c',
  );
  await sql`
    insert into session_items (session_id, type, turn_id, created_at, content)
    select id, 'message', 1, now(), '{"role":"user","content":"Lamps in ' || name || '"}' from sessions where agent_id = ${id}`;
  await sql`update sessions set ended_at = now() - interval '1 minute' where agent_id = ${id} and ended_at is not null`;
  const said = await until('what was said can be searched', async () => {
    const found = namesOf(await list(`agent_id=${id}&search=lamp&status=completed`));
    return found === 'cba' && found;
  });
  t.equal(said, 'cba');
  t.equal((await call(`sessions?search=${'x'.repeat(201)}`)).status, 400);
  const page = await list(`agent_id=${id}&page_size=3`);
  exactly(t, page, { has_more: true, total: null });
  t.equal(namesOf(page), 'dcb');
  const rest = await list(`agent_id=${id}&page_size=3&cursor=${page.next_cursor}&include_total=true`);
  exactly(t, rest, { has_more: false, next_cursor: null, total: 4 });
  t.equal(namesOf(rest), 'a');
  const second2 = await list(`agent_id=${id}&page_size=3&page=2`);
  exactly(t, second2, { has_more: false, total: 4 });
  t.equal(namesOf(second2), 'a');
  for (const query of [
    'page_size=100',
    'page=100001&page_size=1',
    `agent_id=${'x'.repeat(128)}&caller_number=${'1'.repeat(64)}`,
  ])
    await list(query);
  for (const query of ['page=1&cursor=x', 'cursor=x', 'page_size=0', 'page_size=101', 'page=0', 'page=100002&page_size=1', 'status=lost',
    'status=pending,', 'created_after=yesterday', 'created_after=', 'created_before=', 'created_before=2026-01-01&created_before=', 'created_before=2026-13-01', 'created_before=2026-02-30', 'created_after=0000-01-01', 'created_before=9999-12-31T23:59:59-01:00', 'include_total=maybe', 'direction=up', `agent_id=${'x'.repeat(129)}`, `caller_number=${'1'.repeat(65)}`])
    t.equal((await call(`sessions?${query}`)).status, 400, query); // oxfmt-ignore
  const row = page.sessions[0]!;
  t.notOk('items' in row || 'analysis' in row || 'overrides' in row, 'rows are the short form');
});

t.test(
  'a session is ended from outside: 204, once for its record, never a second time (decision 13)',
  async (t) => {
    const { body } = await create({});
    const id = String(body['session_id']);
    const end = () => call(`sessions/${id}/end`, { method: 'POST' });
    t.equal((await end()).status, 204);
    const ended = await read(id);
    exactly(t, ended, {
      status: 'failed',
      ended_reason: 'ended_by_api',
      started_at: null,
      duration_seconds: null,
    });
    t.equal((await end()).status, 204);
    t.same(await read(id), ended, 'an ended session stays as it ended');
    t.equal(
      (await sql`select 1 from deliveries where session_id = ${id}`).length,
      0,
      'nobody is told of a call that was none',
    );
    const { body: live } = await create({});
    await sql`update sessions set status = 'active', started_at = now() - interval '90.7 seconds' where id = ${String(live['session_id'])}`;
    t.equal((await call(`sessions/${String(live['session_id'])}/end`, { method: 'POST' })).status, 204);
    exactly(t, await read(live['session_id']), {
      status: 'completed',
      ended_reason: 'ended_by_api',
      duration_seconds: 90,
    });
    for (const wrong of ['none', 'sess_000000000000000000000000', '%00', 'a b', 'x'.repeat(200)])
      t.equal((await call(`sessions/${wrong}/end`, { method: 'POST' })).status, 404, wrong);
  },
);

t.test('a session that was not recorded has no recording', async (t) => {
  const { body } = await create({});
  const answer = await call(`sessions/${String(body['session_id'])}/recording`);
  t.same([answer.status, answer.body], [404, { status: 404, message: 'Recording not found' }]);
});

t.test('join tokens: ours only, unchanged', async (t) => {
  const key = { id: 'gateway', secret: 'a'.repeat(64) };
  const tokens = createJoinTokens(key, systemClock);
  const claims = { sessionId: 'sess_1', identity: 'user', use: 'join' } as const;
  const soon = new Date(Date.now() + 60_000);
  const token = await tokens.issue(claims, soon);
  t.same(await tokens.verify(token), claims);
  exactly(
    t,
    await new TokenVerifier(key.id, key.secret).verify(token),
    { video: { room: 'sess_1' } },
    'for a cluster too',
  );
  const again = await tokens.issue({ ...claims, use: 'rejoin' }, soon);
  t.equal((await tokens.verify(again))?.use, 'rejoin');
  const [head, payload, signature] = token.split('.');
  const none = Buffer.from('{"alg":"none"}').toString('base64url');
  const other = createJoinTokens({ ...key, secret: 'b'.repeat(64) }, systemClock);
  const foreign = new AccessToken(key.id, key.secret, { identity: 'user' });
  foreign.addGrant({ roomJoin: true, room: 'sess_1' });
  for (const [what, wrong] of [
    ['garbage', 'x'],
    ['empty', ''],
    ['huge', 'x'.repeat(100_000)],
    ['unsigned', `${none}.${payload}.`],
    ['another signature', `${head}.${payload}.${signature!.slice(1)}A`],
    ['of another installation', await other.issue(claims, soon)],
    ['without a use', await foreign.toJwt()],
  ] as const)
    t.equal(await tokens.verify(wrong), undefined, what);
});

/** The token as an issuer makes it whose clock is ahead by so many seconds. */
function issuedAhead(token: string, secret: string, seconds: number): string {
  const [head = '', payload = ''] = token.split('.');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { nbf: number; exp: number };
  const moved = { ...claims, nbf: claims.nbf + seconds, exp: claims.exp + seconds };
  const signedText = `${head}.${Buffer.from(JSON.stringify(moved)).toString('base64url')}`;
  return `${signedText}.${createHmac('sha256', secret).update(signedText).digest('base64url')}`;
}

t.test('join tokens: a clock that was set, or that differs, keeps nobody out of a call', async (t) => {
  const key = { id: 'gateway', secret: 'a'.repeat(64) };
  const tokens = createJoinTokens(key, systemClock);
  const claims = { sessionId: 'sess_1', identity: 'user', use: 'rejoin' } as const;
  const token = await tokens.issue(claims, new Date(Date.now() + 60_000));
  for (const seconds of [30, 3600, -3600])
    t.same(await tokens.verify(issuedAhead(token, key.secret, seconds)), claims, `${seconds} s`);
});

t.test('a signalling frame over 1 MiB ends its socket with 1009 (decision 5)', async (t) => {
  const { body } = await create({});
  const socket = new WebSocket(`${String(body['media_url'])}/rtc/v1?access_token=${String(body['token'])}`);
  t.teardown(() => socket.terminate());
  let [pongs, code] = [0, 0];
  socket.on('pong', () => (pongs += 1));
  socket.on('close', (closed) => (code = closed));
  await once(socket, 'open');
  socket.send(new Uint8Array(LIMITS.socket.rtcFrameBytes));
  socket.ping();
  await until('the largest frame has arrived', () => pongs === 1);
  t.equal(code, 0, 'which says nothing, and ends nothing');
  socket.send(new Uint8Array(LIMITS.socket.rtcFrameBytes + 1));
  await until('the socket is closed', () => code !== 0);
  t.equal(code, 1009);
  await call(`sessions/${String(body['session_id'])}/end`, { method: 'POST' });
});

interface Described {
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Body }>> };
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, { readonly schema: Body }>> }>
  >;
}

t.test('requests out of the description, whole and broken, are answered as it says', async (t) => {
  const { paths } = resolved(
    (await (await fetch(`${gateway.base}/openapi.json`)).json()) as {
      paths: Record<string, Record<string, Described>>;
    },
  );
  const operations = Object.entries(paths)
    .filter(([path]) => /^\/v1\/agent\/(sessions|.*(preview|widget)$)/.test(path))
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    );
  t.equal(operations.length, 9);
  const random = seeded(20_260_102);
  const junk = [
    null,
    0,
    -1,
    1.5,
    true,
    '',
    'x',
    'UTC',
    'en',
    '{{a}}',
    '\0',
    '\ud800',
    [],
    {},
    { a: 1 },
    { a: { b: [] } },
    'x'.repeat(5000),
  ] as const;
  const fields = ['agent_id', 'name', 'overrides', 'dynamic_variables', 'metadata', 'timezone', 'client_timezone', 'tool_events', 'end_user_id', 'colour'] as const; // oxfmt-ignore
  const inner = [
    'language',
    'first_message',
    'first_message_prompt',
    'system_prompt',
    'voice_id',
    'colour',
  ] as const;
  const bodyOf = (): unknown => {
    const body: Body = { agent_id: agentId };
    if (random() < 0.3) return body;
    for (let changes = 0; changes < 3; changes++) body[pick(random, fields)] = pick(random, junk);
    if (random() < 0.5) body['overrides'] = { [pick(random, inner)]: pick(random, junk) };
    return random() < 0.05 ? pick(random, junk) : body;
  };
  const compiled = new Map<Body, ReturnType<typeof Compile>>();
  const fits = (schema: Body, value: unknown): boolean => {
    const known = compiled.get(schema) ?? Compile(schema);
    compiled.set(schema, known);
    return known.Check(value);
  };
  const ids: string[] = [String((await create({})).body['session_id'])];
  const seen = new Map<number, number>();
  for (let round = 0; round < 100; round++) {
    if (round % 10 === 9) await endAll();
    for (const { path, method, operation } of operations) {
      const session = random() < 0.2 ? pick(random, ['x', '%00', '%25', 'ü']) : (ids.at(-1) ?? '');
      const at = path
        .replace('/v1/agent/', '')
        .replace('{session_id}', session)
        .replace('{agent_id}', random() < 0.1 ? 'x' : agentId);
      const query = (operation.parameters ?? [])
        .filter((row) => row.in === 'query' && random() < 0.2)
        .map(
          ({ name }) =>
            `${name}=${encodeURIComponent(pick(random, ['1', 'x', '', '2026-01-01', 'pending', 'true', '100000000', 'Ö']))}`,
        );
      const answer = await call(`${at}?${query.join('&')}`, {
        method: method.toUpperCase(),
        key: random() < 0.2 ? null : key,
        ...(random() < 0.3 && { headers: { origin: 'https://www.example.com' } }),
        ...(operation.requestBody && { body: bodyOf() }),
      });
      seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1);
      const shown = `${method} ${at}?${query.join('&')} → ${answer.status} ${JSON.stringify(answer.body).slice(0, 200)}`;
      const response = operation.responses[String(answer.status)];
      const schema = response?.content?.['application/json']?.schema;
      if (answer.status >= 500 || !response) t.fail(shown);
      else if (schema && !fits(schema, answer.body)) t.fail(`another shape: ${shown}`);
      if (answer.status === 201) ids.push(String(answer.body['session_id']));
    }
  }
  for (const status of [200, 201, 204, 400, 401, 403, 404, 422])
    t.ok((seen.get(status) ?? 0) > 3, `${status}: ${seen.get(status)}`);
});
