/**
 * Telephones that call a gateway in livekit mode, and are called by it, through real programs: livekit-server, livekit-sip, Redis
 * and baresip (docs/sip.md). Runs if they are on the PATH.
 */
import { dispose } from '@livekit/rtc-node';
import { SipClient } from 'livekit-server-sdk';
import t from '../../fixtures/tap.js';
import type { Body } from '../../fixtures/platform/agents.js';
import { messagesOf, type Record, Talks } from '../../fixtures/conversation/conversation.js';
import { exactly } from '../../fixtures/exactly.js';
import { startRedis } from '../../fixtures/livekit/nodes.js';
import { startServer } from '../../fixtures/livekit/server.js';
import { toolSaid } from '../../fixtures/chat/model.js';
import { startSip, Telephone, withoutSip } from '../../fixtures/livekit/sip.js';
import { loudMs } from '../../fixtures/media/tones.js';
import { until } from '../../fixtures/until.js';

t.setTimeout(600_000);

const CALLER = '+14155550123';
const CALLED = '+491701234567';
const RATE = 8000;

t.test('telephones through a real SIP service', { skip: withoutSip }, async (t) => {
  const redis = `127.0.0.1:${await startRedis(t)}`;
  const server = await startServer({ redis, autoCreate: true });
  t.teardown(() => server.stop());
  const service = await startSip(t, server, redis);
  const telephone = await Telephone.start(t, CALLER);
  const talks = await Talks.start(t, {
    ...{ LIVEKIT_URL: server.url, LIVEKIT_API_KEY: server.key, LIVEKIT_API_SECRET: server.secret },
    ...{ LIVEKIT_ROOM_PROCESSES: '1', LOG_LEVEL: 'info' },
  });
  t.teardown(() => dispose());
  const { call: ask, model } = talks;
  model.answer(() => 'Yes.');

  let numbers = 0;
  /** Registers a number that an agent answers, and from which it calls the telephone at the address `at`. */
  async function numberOf(agentId: string | null, at?: string): Promise<Body> {
    const phone_number = `+4930${String((numbers += 1)).padStart(7, '0')}`;
    const places = at !== undefined && { server: at, username: 'trunk', password: 'trunk-secret' };
    const credentials = { allowed_addresses: '127.0.0.1/32', ...places };
    const { status, body } = await ask('phone-numbers', {
      body: { provider: 'sip', phone_number, agent_id: agentId, credentials },
    });
    if (status !== 201) throw new Error(`phone number: ${status} ${JSON.stringify(body)}`);
    return body;
  }
  const recordOf = async (id: string) => (await ask(`sessions/${id}`)).body as unknown as Record & Body;
  const endOf = (id: string) => talks.ended({ session_id: id } as never) as Promise<Record & Body>;
  const untilSaid = (id: string, line: RegExp) =>
    until(`${line.source} is in the record`, async () =>
      messagesOf(await recordOf(id)).some((message) => line.test(message)),
    );
  /** The telephone calls that number; resolves with its session once it is connected. */
  async function ringUp(number: Body, agentId: string): Promise<string> {
    const calls = telephone.events.filter(({ type }) => type === 'CALL_ESTABLISHED').length;
    telephone.call(String(number['phone_number']), service);
    await telephone.seen('CALL_ESTABLISHED', calls + 1);
    const { body } = await ask(`sessions?agent_id=${agentId}&status=active,completed,failed,pending`);
    return String((body['sessions'] as Body[])[0]?.['session_id']);
  }
  const closed = () => telephone.events.filter(({ type }) => type === 'CALL_CLOSED').length;
  const greeting = (text: string) => ({ prompt: { first_message_mode: 'fixed', first_message: text } });

  await t.test('a caller is greeted, understood and answered, presses keys and hangs up', async (t) => {
    const agent = await talks.agent(greeting('hello {{caller_number}}'));
    const id = await ringUp(await numberOf(agent), agent);
    await until('the greeting is heard', async () => loudMs(await telephone.heard(), RATE) > 300);
    exactly(t, await recordOf(id), {
      ...{ caller_number: CALLER, dialed_number: '+49300000001', direction: 'inbound', source: 'phone' },
      status: 'active',
    });
    await until('the question is understood', async () => {
      await telephone.say(await talks.speech('what is new', RATE));
      return until('there is an answer', () => model.asked.length > 0, 8000).catch(() => false);
    });
    await untilSaid(id, /^assistant: Yes/);
    telephone.press('42#');
    await untilSaid(id, /^user: \[keypad: 42\]/);
    telephone.tell('hangup');
    const ended = await endOf(id);
    exactly(t, ended, { status: 'completed', ended_reason: 'hangup' });
    t.match(messagesOf(ended)[0], `assistant: hello ${CALLER}`);
  });

  await t.test('the end of a session hangs up, and a number that goes is forgotten', async (t) => {
    const agent = await talks.agent(greeting('hello'));
    const number = await numberOf(agent);
    const id = await ringUp(number, agent);
    const before = closed();
    await ask(`sessions/${id}/end`, { method: 'POST' });
    await telephone.seen('CALL_CLOSED', before + 1);
    t.equal((await endOf(id)).ended_reason, 'ended_by_api');
    t.equal(
      (await ask(`phone-numbers/${String(number['phone_number_id'])}`, { method: 'DELETE' })).status,
      204,
    );
    const { key, secret } = server;
    const sip = new SipClient(server.url.replace('ws', 'http'), key, secret);
    const [trunks, rules] = await Promise.all([sip.listSipInboundTrunk(), sip.listSipDispatchRule()]);
    t.equal(trunks.length, 1, 'the number of the other test');
    t.equal(rules[0]?.trunkIds[0], trunks[0]?.sipTrunkId);
  });

  await t.test('a caller whom nobody can answer is rejected', async (t) => {
    const agent = await talks.agent();
    const number = await numberOf(agent);
    await ask(`agents/${agent}`, { method: 'PATCH', body: { status: 'archived' } });
    const before = closed();
    const connected = telephone.events.filter(({ type }) => type === 'CALL_ESTABLISHED').length;
    telephone.call(String(number['phone_number']), service);
    await telephone.seen('CALL_CLOSED', before + 1);
    t.equal(telephone.events.filter(({ type }) => type === 'CALL_ESTABLISHED').length, connected);
    await until('the log says why', () =>
      /Agent is archived.*a phone call was rejected/.test(talks.gateway.stderr()),
    );
  });

  /** Calls an agent that transfers the call to that destination once a key is pressed; resolves with its session. */
  const callForSales = async (destination: string): Promise<string> => {
    const agent = await talks.agent({
      ...greeting('hello'),
      conversation: { transfer_destinations: [{ label: 'Sales', phone_number: destination }] },
    });
    const id = await ringUp(await numberOf(agent), agent);
    model.answer((messages) =>
      toolSaid(messages) === undefined
        ? { text: 'One moment.', calls: { transfer_call: { destination: 'Sales' } } }
        : 'It did not work.',
    );
    telephone.press('1#');
    return id;
  };

  await t.test('a caller is handed over by REFER', async (t) => {
    const colleague = await Telephone.start(t, 'colleague');
    const destination = `sip:colleague@${colleague.address}`;
    const id = await callForSales(destination);
    await colleague.seen('CALL_ESTABLISHED');
    const ended = await endOf(id);
    model.answer(() => 'Yes.');
    t.equal(ended.ended_reason, 'transferred');
    exactly(t, ended['transfers'], [{ mode: 'cold', label: 'Sales', to: destination, state: 'connected' }]);
    exactly(
      t,
      ended.items.filter(({ type }) => type === 'tool_result'),
      [{ tool_name: 'transfer_call', status: 'completed' }],
    );
    telephone.tell('hangup');
    telephone.tell('hangup');
  });

  await t.test(
    'a colleague who is busy leaves the caller with the agent, and the record says so',
    async (t) => {
      const colleague = await Telephone.start(t, 'busy', { answers: false });
      const destination = `sip:busy@${colleague.address}`;
      const id = await callForSales(destination);
      await colleague.seen('CALL_INCOMING');
      colleague.tell('hangup');
      await untilSaid(id, /^assistant: It did not work/);
      model.answer(() => 'Yes.');
      const { transfers } = await recordOf(id);
      exactly(t, transfers, [{ mode: 'cold', label: 'Sales', to: destination, returned_at: /^20/ }]);
      t.match((transfers as Body[])[0]?.['state'], /^(busy|refused|failed)$/);
      await ask(`sessions/${id}/end`, { method: 'POST' });
      await endOf(id);
    },
  );

  const place = async (number: Body, agent: string, more: Body = {}) => {
    const from = number['phone_number'];
    const { status, body } = await ask('calls', { body: { agent_id: agent, from, to: CALLED, ...more } });
    if (status !== 201) throw new Error(`call: ${status} ${JSON.stringify(body)}`);
    return { id: String(body['call_id']), session: String(body['session_id']) };
  };
  const inState = ({ id }: { readonly id: string }, ...states: string[]) =>
    until(`the call is ${states.join(' or ')}`, async () => {
      const { body } = await ask(`calls/${id}`);
      return states.includes(String(body['state'])) ? body : undefined;
    });

  await t.test('somebody is called, answers, hears keys, and is hung up on', async (t) => {
    const called = await Telephone.start(t, CALLED);
    const agent = await talks.agent({
      ...greeting('good morning'),
      tools: { system_tools: { send_digits: true } },
    });
    const call = await place(await numberOf(agent, called.address), agent);
    await called.seen('CALL_ESTABLISHED');
    await inState(call, 'answered');
    await until('the greeting is heard', async () => loudMs(await called.heard(), RATE) > 300);
    model.answer((messages) =>
      toolSaid(messages) === undefined ? { calls: { send_digits: { digits: '7' } } } : 'Done.',
    );
    called.press('1#');
    await untilSaid(call.session, /^assistant: Done/);
    model.answer(() => 'Yes.');
    exactly(t, await recordOf(call.session), { direction: 'outbound', caller_number: CALLED });
    t.ok(
      called.events.some(({ type, param = '' }) => type === 'CALL_DTMF_START' && param === '7'),
      'it is pressed',
    );
    await ask(`calls/${call.id}/cancel`, { method: 'POST' });
    await called.seen('CALL_CLOSED');
    exactly(t, await inState(call, 'ended'), { state: 'ended' });
  });

  await t.test('busy, not answered, cancelled, and no such server', async (t) => {
    const called = await Telephone.start(t, CALLED, { answers: false });
    const agent = await talks.agent(greeting('good morning'));
    const number = await numberOf(agent, called.address);
    const busy = await place(number, agent);
    await called.seen('CALL_INCOMING');
    await inState(busy, 'ringing');
    called.tell('hangup');
    exactly(t, await inState(busy, 'busy', 'failed', 'no_answer'), { state: 'busy' });
    t.equal((await endOf(busy.session)).ended_reason, 'not_joined');

    const ignored = await place(number, agent, { max_ring_seconds: 5 });
    exactly(t, await inState(ignored, 'busy', 'failed', 'no_answer'), { state: 'no_answer', reason: null });

    const cancelled = await place(number, agent);
    await called.seen('CALL_INCOMING', 3);
    exactly(t, await ask(`calls/${cancelled.id}/cancel`, { method: 'POST' }), {
      body: { state: 'cancelled' },
    });
    await called.seen('CALL_CLOSED', 3);

    const nowhere = await place(await numberOf(agent, '127.0.0.1:9'), agent, { max_ring_seconds: 5 });
    const failed = await inState(nowhere, 'busy', 'failed', 'no_answer');
    t.match(failed['state'], /failed|no_answer/);
  });
});
