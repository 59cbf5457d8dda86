/**
 * Who watches a call of an agent, and steers it (docs/contract/agent-realtime.md 8): beside a browser and a socket, before the call has
 * begun, from the machine that has the call and from another one; who may, and how many.
 */
import t from '../../fixtures/tap.js';
import { LIMITS } from '../../../contracts/limits.js';
import { randomIds } from '../../../contracts/ids.js';
import { createKey } from '../../../storage/keys/keys.js';
import { createWorkspace } from '../../../storage/workspaces.js';
import { letGo } from '../../fixtures/calls/caller.js';
import { MEDIA, Talks } from '../../fixtures/conversation/conversation.js';
import { said, toolSaid } from '../../fixtures/chat/model.js';
import type { Body } from '../../fixtures/platform/agents.js';
import { exactly } from '../../fixtures/exactly.js';
import { type Gateway, startGateway, TEST_SECRET } from '../../fixtures/gateway.js';
import { startPostgres } from '../../fixtures/database/postgres.js';
import { connectAgent } from '../../fixtures/protocol-a/agent-client.js';
import { RealtimeClient, type ServerEvent } from '../../fixtures/protocol-a/realtime-client.js';
import { RtcClient } from '../../fixtures/protocol-a/rtc-client.js';
import { until } from '../../fixtures/until.js';

t.teardown(letGo);
const postgres = await startPostgres(t);
const shared = { DATABASE_URL: postgres.url, SECRETS_KEY: TEST_SECRET };
const talks = await Talks.start(t, shared);
const { model, gateway } = talks;
const other = await startGateway({ ...MEDIA, ...shared, LLM_BASE_URL: model.url, LOG_LEVEL: 'warn' });
t.teardown(() => other.stop());
model.answer((messages) => {
  const result = toolSaid(messages);
  if (result !== undefined) return `It costs ${result}.`;
  const words = said(messages);
  return words.includes('price') ? { calls: { price: {} } } : `You said: ${words}`;
});

const SPOKEN = { prompt: { first_message_mode: 'fixed', first_message: 'Welcome.' } };
const PRICE = { type: 'function', name: 'price', description: 'The price', parameters: { type: 'object' } };

/** A browser's call, and its id. */
async function browser(config: object = SPOKEN): Promise<{ client: RtcClient; id: string }> {
  const client = new RtcClient();
  t.teardown(() => client.close());
  const response = await client.call(gateway, { query: `?model=${await talks.agent({ ...config })}` });
  t.equal(response.status, 201);
  return { client, id: response.headers.get('location')?.split('/').at(-1) ?? '' };
}

type At = Pick<Gateway, 'base' | 'authorization'>;

const watching = (id: string, at: At = gateway, headers = at.authorization): Promise<RealtimeClient> => {
  const watcher = new RealtimeClient(at, { base: '/v1', query: `?call_id=${id}`, headers });
  t.teardown(() => watcher.leave());
  return watcher.opened();
};

/** What is the same for all who follow a call: everything but what one was told alone. */
const common = (events: readonly ServerEvent[]): string[] =>
  events.filter(({ type }) => !/^(session|error)|audio\.delta$/.test(type)).map(({ event_id: id }) => id);

const untilHeard = (watcher: RealtimeClient, text: string): Promise<unknown> =>
  until(`the watcher is told of ${text}`, () =>
    watcher.of('response.output_audio_transcript.done').some(({ transcript }) => transcript === text),
  );

t.test('a server sets a browser’s call up before it begins, runs its function, and hangs up', async (t) => {
  const { client, id } = await browser();
  const watcher = await watching(id);
  exactly(t, await watcher.next('session.created'), { session: { id } });
  watcher.update({ type: 'realtime', tools: [PRICE] });
  exactly(t, await watcher.next('session.updated'), { session: { tools: [{ name: 'price' }] } });
  client.listen();
  // Its channel may have opened before: then it is told of the change.
  const shown = () => [...client.of('session.created'), ...client.of('session.updated')];
  await until('the browser has it as well', () =>
    shown().some(({ session }) => ((session as Body)['tools'] as Body[])[0]?.['name'] === 'price'),
  );
  await untilHeard(watcher, 'Welcome.');
  watcher.say('What is the price?').respond();
  const { call_id: callId } = await watcher.next('response.function_call_arguments.done');
  watcher.send({
    type: 'conversation.item.create',
    item: { type: 'function_call_output', call_id: callId, output: 'two euros' },
  });
  await untilHeard(watcher, 'It costs two euros.');
  await client.untilHeard('It costs two euros.');
  watcher.append(new Uint8Array(960));
  exactly(t, await watcher.error(), { code: 'unsupported_option' });
  t.strictSame(client.of('error'), [], 'the browser has nothing to do with it');
  t.strictSame(common(watcher.events), common(client.events), 'all else is the same');
  const hangUp = { method: 'POST', headers: other.authorization };
  const { status } = await fetch(`${other.base}/v1/realtime/calls/${id}/hangup`, hangUp);
  t.equal(status, 200, 'at whatever machine');
  t.equal(await watcher.closed(), 1000);
  exactly(t, await talks.ended({ session_id: id }), { ended_reason: 'ended_by_api' });
});

t.test('from another machine: the same events, and the same effects', async (t) => {
  const { client, id } = await browser();
  const watcher = await watching(id, other);
  client.listen();
  await client.untilHeard('Welcome.');
  exactly(t, await watcher.next('session.created'), { session: { id } });
  watcher.say('From afar.').respond();
  await untilHeard(watcher, 'You said: From afar.');
  await client.untilHeard('You said: From afar.');
  watcher.send({ type: 'nothing', event_id: 'own' });
  exactly(t, await watcher.error(), { code: 'unknown_event_type', event_id: 'own' });
  client.close();
  t.equal(await watcher.closed(), 1000);
  exactly(t, await talks.ended({ session_id: id }), { ended_reason: 'hangup' });
});

t.test('beside a socket: no audio, and a watcher that leaves ends nothing', async (t) => {
  const client = await connectAgent(t, talks, await talks.agent());
  await client.next('session.created');
  const watcher = await watching(client.sessionId);
  exactly(t, await watcher.next('session.created'), { session: { id: client.sessionId } });
  client.say('Hello.').respond();
  await client.untilHeard('You said: Hello.');
  await untilHeard(watcher, 'You said: Hello.');
  t.ok(client.audioBytes > 0);
  t.equal(watcher.audio().length, 0);
  watcher.commit();
  exactly(t, await watcher.error(), { code: 'unsupported_option' });
  watcher.leave();
  client.say('Still there?').respond();
  await client.untilHeard('You said: Still there?');
  client.socket.close(1000);
  exactly(t, await talks.ended({ session_id: client.sessionId }), { ended_reason: 'hangup' });
});

t.test('who may not, and what is no call', async (t) => {
  const client = await connectAgent(t, talks, await talks.agent());
  await client.next('session.created');
  client.say('Hello.').respond();
  await client.untilHeard('You said: Hello.');
  const id = client.sessionId;
  const { sql } = await postgres.open();
  const { id: workspaceId } = await createWorkspace(sql, randomIds, 'Elsewhere');
  const { key: foreign } = await createKey(sql, randomIds, { workspaceId, name: 'b', role: 'full' });
  const secret = await fetch(`${gateway.base}/v1/realtime/client_secrets`, {
    method: 'POST',
    headers: { ...gateway.authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ session: { type: 'realtime', model: await talks.agent() } }),
  });
  const { value } = (await secret.json()) as { value: string };
  const refused = async (of: string, at: At, headers: At['authorization']) => {
    const watcher = await watching(of, at, headers);
    return { error: await watcher.error(), code: await watcher.closed() };
  };
  const bearer = (key: string) => ({ authorization: `Bearer ${key}` });
  for (const [what, answer, code] of [
    ['another workspace', await refused(id, gateway, bearer(foreign)), 'not_found'],
    ['the same at another machine', await refused(id, other, bearer(foreign)), 'not_found'],
    ['a client secret', await refused(id, gateway, bearer(value)), 'forbidden'],
    ['no id', await refused('a%20b', gateway, gateway.authorization), 'not_found'],
  ] as const)
    exactly(t, answer, { error: { code }, code: 1008 }, what);
  const wrong = new RealtimeClient(gateway, {
    base: '/v1',
    query: `?call_id=${id}`,
    headers: bearer('wrong'),
  });
  await until('a wrong key refuses the upgrade', () => wrong.refusal?.status === 401);
  client.socket.close(1000);
  await talks.ended({ session_id: id });
  // Its record ends a moment before its connections.
  await until('one that has ended is none', async () => {
    const watcher = await watching(id);
    await watcher.closed();
    const [error] = watcher.of('error');
    return error !== undefined && (error['error'] as Body)['code'] === 'not_found';
  });
});

t.test('no more than a few watch one call', async (t) => {
  const { client, id } = await browser();
  const watchers = await Promise.all(
    Array.from({ length: LIMITS.agentRealtime.watchers }, () => watching(id)),
  );
  for (const watcher of watchers) await watcher.next('session.created');
  const tooMany = await watching(id);
  exactly(t, await tooMany.error(), { code: 'concurrency_exceeded', type: 'rate_limit_error' });
  t.equal(await tooMany.closed(), 1008);
  watchers[0]?.leave();
  await until('its place is free again', async () => {
    const next = await watching(id);
    await until('it is told', () => next.events[0]);
    return next.events[0]?.type === 'session.created';
  });
  client.close();
});
