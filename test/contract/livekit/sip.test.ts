/**
 * Telephones that call a gateway in livekit mode, and are called by it, through real programs: livekit-server, livekit-sip, Redis
 * and baresip (docs/sip.md). Runs if they are on the PATH.
 */
import { dispose } from '@livekit/rtc-node';
import type { Test } from 'tap';
import { SipClient } from 'livekit-server-sdk';
import t from '../../fixtures/tap.js';
import type { Body } from '../../fixtures/platform/agents.js';
import { messagesOf, type Record as CallRecord, Talks } from '../../fixtures/conversation/conversation.js';
import { exactly } from '../../fixtures/exactly.js';
import { startRedis } from '../../fixtures/livekit/nodes.js';
import { type RealServer, startServer } from '../../fixtures/livekit/server.js';
import { toolSaid } from '../../fixtures/chat/model.js';
import { startSip, Telephone, withoutSip } from '../../fixtures/livekit/sip.js';
import { loudMs } from '../../fixtures/media/tones.js';
import { until } from '../../fixtures/until.js';

t.setTimeout(600_000);

const CALLER = '+14155550123';
const CALLED = '+491701234567';
const RATE = 8000;

const greeting = (text: string) => ({ prompt: { first_message_mode: 'fixed', first_message: text } });

/** A call that an agent has placed. */
interface Placed {
  readonly id: string;
  readonly session: string;
}

/** A gateway whose calls come and go through the SIP service, and the telephone of somebody who calls it. */
class Exchange {
  #numbers = 0;

  private constructor(
    readonly server: RealServer,
    /** Address of the SIP service. */
    readonly service: string,
    readonly telephone: Telephone,
    readonly talks: Talks,
  ) {}

  static async start(t: Test): Promise<Exchange> {
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
    talks.model.answer(() => 'Yes.');
    return new Exchange(server, service, telephone, talks);
  }

  /** Registers a number that an agent answers, and from which it calls the telephone at the address `at`. */
  async numberOf(agentId: string | null, at?: string): Promise<Body> {
    const phone_number = `+4930${String((this.#numbers += 1)).padStart(7, '0')}`;
    const places = at !== undefined && { server: at, username: 'trunk', password: 'trunk-secret' };
    const credentials = { allowed_addresses: '127.0.0.1/32', ...places };
    const { status, body } = await this.talks.call('phone-numbers', {
      body: { provider: 'sip', phone_number, agent_id: agentId, credentials },
    });
    if (status !== 201) throw new Error(`phone number: ${status} ${JSON.stringify(body)}`);
    return body;
  }

  recordOf(id: string): Promise<CallRecord & Body> {
    return this.talks.record({ session_id: id });
  }

  endOf(id: string): Promise<CallRecord & Body> {
    return this.talks.ended({ session_id: id });
  }

  untilSaid(id: string, line: RegExp): Promise<boolean> {
    return until(`${line.source} is in the record`, async () =>
      messagesOf(await this.recordOf(id)).some((message) => line.test(message)),
    );
  }

  /** How many calls of the telephone have come to that event. */
  count(event: string): number {
    return this.telephone.events.filter(({ type }) => type === event).length;
  }

  /** The telephone calls that number; resolves with its session once it is connected. */
  async ringUp(number: Body, agentId: string): Promise<string> {
    const calls = this.count('CALL_ESTABLISHED');
    this.telephone.call(String(number['phone_number']), this.service);
    await this.telephone.seen('CALL_ESTABLISHED', calls + 1);
    const { body } = await this.talks.call(
      `sessions?agent_id=${agentId}&status=active,completed,failed,pending`,
    );
    return String((body['sessions'] as Body[])[0]?.['session_id']);
  }

  /** Calls an agent that transfers the call to that destination once a key is pressed; resolves with its session. */
  async callForSales(destination: string): Promise<string> {
    const { model } = this.talks;
    const agent = await this.talks.agent({
      ...greeting('hello'),
      conversation: { transfer_destinations: [{ label: 'Sales', phone_number: destination }] },
    });
    const id = await this.ringUp(await this.numberOf(agent), agent);
    model.answer((messages) =>
      toolSaid(messages) === undefined
        ? { text: 'One moment.', calls: { transfer_call: { destination: 'Sales' } } }
        : 'It did not work.',
    );
    this.telephone.press('1#');
    return id;
  }

  /** The agent calls somebody from that number. */
  async place(number: Body, agent: string, more: Body = {}): Promise<Placed> {
    const from = number['phone_number'];
    const asked = { agent_id: agent, from, to: CALLED, ...more };
    const { status, body } = await this.talks.call('calls', { body: asked });
    if (status !== 201) throw new Error(`call: ${status} ${JSON.stringify(body)}`);
    return { id: String(body['call_id']), session: String(body['session_id']) };
  }

  /** The placed call, once it is in one of the states. */
  inState({ id }: Placed, ...states: string[]): Promise<Body> {
    return until(`the call is ${states.join(' or ')}`, async () => {
      const { body } = await this.talks.call(`calls/${id}`);
      return states.includes(String(body['state'])) ? body : undefined;
    });
  }
}

/** In this order: the agents' numbers are counted. */
const CASES: Readonly<Record<string, (t: Test, exchange: Exchange) => Promise<void>>> = {
  'a caller is greeted, understood and answered, presses keys and hangs up': async (t, exchange) => {
    const { talks, telephone } = exchange;
    const agent = await talks.agent(greeting('hello {{caller_number}}'));
    const id = await exchange.ringUp(await exchange.numberOf(agent), agent);
    await until('the greeting is heard', async () => loudMs(await telephone.heard(), RATE) > 300);
    exactly(t, await exchange.recordOf(id), {
      ...{ caller_number: CALLER, dialed_number: '+49300000001', direction: 'inbound', source: 'phone' },
      status: 'active',
    });
    await until('the question is understood', async () => {
      await telephone.say(await talks.speech('what is new', RATE));
      return until('there is an answer', () => talks.model.asked.length > 0, 8000).catch(() => false);
    });
    await exchange.untilSaid(id, /^assistant: Yes/);
    telephone.press('42#');
    await exchange.untilSaid(id, /^user: \[keypad: 42\]/);
    telephone.tell('hangup');
    const ended = await exchange.endOf(id);
    exactly(t, ended, { status: 'completed', ended_reason: 'hangup' });
    t.match(messagesOf(ended)[0], `assistant: hello ${CALLER}`);
  },

  'the end of a session hangs up, and a number that goes is forgotten': async (t, exchange) => {
    const { server, talks, telephone } = exchange;
    const agent = await talks.agent(greeting('hello'));
    const number = await exchange.numberOf(agent);
    const id = await exchange.ringUp(number, agent);
    const before = exchange.count('CALL_CLOSED');
    await talks.call(`sessions/${id}/end`, { method: 'POST' });
    await telephone.seen('CALL_CLOSED', before + 1);
    t.equal((await exchange.endOf(id)).ended_reason, 'ended_by_api');
    t.equal(
      (await talks.call(`phone-numbers/${String(number['phone_number_id'])}`, { method: 'DELETE' })).status,
      204,
    );
    const { key, secret } = server;
    const sip = new SipClient(server.url.replace('ws', 'http'), key, secret);
    const [trunks, rules] = await Promise.all([sip.listSipInboundTrunk(), sip.listSipDispatchRule()]);
    t.equal(trunks.length, 1, 'the number of the other test');
    t.equal(rules[0]?.trunkIds[0], trunks[0]?.sipTrunkId);
  },

  'a caller whom nobody can answer is rejected': async (t, exchange) => {
    const { service, talks, telephone } = exchange;
    const agent = await talks.agent();
    const number = await exchange.numberOf(agent);
    await talks.call(`agents/${agent}`, { method: 'PATCH', body: { status: 'archived' } });
    const before = exchange.count('CALL_CLOSED');
    const connected = exchange.count('CALL_ESTABLISHED');
    telephone.call(String(number['phone_number']), service);
    await telephone.seen('CALL_CLOSED', before + 1);
    t.equal(exchange.count('CALL_ESTABLISHED'), connected);
    await until('the log says why', () =>
      /Agent is archived.*a phone call was rejected/.test(talks.gateway.stderr()),
    );
  },

  'a caller is handed over by REFER': async (t, exchange) => {
    const { talks, telephone } = exchange;
    const colleague = await Telephone.start(t, 'colleague');
    const destination = `sip:colleague@${colleague.address}`;
    const id = await exchange.callForSales(destination);
    await colleague.seen('CALL_ESTABLISHED');
    const ended = await exchange.endOf(id);
    talks.model.answer(() => 'Yes.');
    t.equal(ended.ended_reason, 'transferred');
    exactly(t, ended['transfers'], [{ mode: 'cold', label: 'Sales', to: destination, state: 'connected' }]);
    exactly(
      t,
      ended.items.filter(({ type }) => type === 'tool_result'),
      [{ tool_name: 'transfer_call', status: 'completed' }],
    );
    telephone.tell('hangup');
    telephone.tell('hangup');
  },

  'a colleague who is busy leaves the caller with the agent, and the record says so': async (t, exchange) => {
    const { talks } = exchange;
    const colleague = await Telephone.start(t, 'busy', { answers: false });
    const destination = `sip:busy@${colleague.address}`;
    const id = await exchange.callForSales(destination);
    await colleague.seen('CALL_INCOMING');
    colleague.tell('hangup');
    await exchange.untilSaid(id, /^assistant: It did not work/);
    talks.model.answer(() => 'Yes.');
    const { transfers } = await exchange.recordOf(id);
    exactly(t, transfers, [{ mode: 'cold', label: 'Sales', to: destination, returned_at: /^20/ }]);
    t.match((transfers as Body[])[0]?.['state'], /^(busy|refused|failed)$/);
    await talks.call(`sessions/${id}/end`, { method: 'POST' });
    await exchange.endOf(id);
  },

  'somebody is called, answers, hears keys, and is hung up on': async (t, exchange) => {
    const { talks } = exchange;
    const called = await Telephone.start(t, CALLED);
    const agent = await talks.agent({
      ...greeting('good morning'),
      tools: { system_tools: { send_digits: true } },
    });
    const call = await exchange.place(await exchange.numberOf(agent, called.address), agent);
    await called.seen('CALL_ESTABLISHED');
    await exchange.inState(call, 'answered');
    await until('the greeting is heard', async () => loudMs(await called.heard(), RATE) > 300);
    talks.model.answer((messages) =>
      toolSaid(messages) === undefined ? { calls: { send_digits: { digits: '7' } } } : 'Done.',
    );
    called.press('1#');
    await exchange.untilSaid(call.session, /^assistant: Done/);
    talks.model.answer(() => 'Yes.');
    exactly(t, await exchange.recordOf(call.session), { direction: 'outbound', caller_number: CALLED });
    t.ok(
      called.events.some(({ type, param = '' }) => type === 'CALL_DTMF_START' && param === '7'),
      'it is pressed',
    );
    await talks.call(`calls/${call.id}/cancel`, { method: 'POST' });
    await called.seen('CALL_CLOSED');
    exactly(t, await exchange.inState(call, 'ended'), { state: 'ended' });
  },

  'busy, not answered, cancelled, and no such server': async (t, exchange) => {
    const { talks } = exchange;
    const called = await Telephone.start(t, CALLED, { answers: false });
    const agent = await talks.agent(greeting('good morning'));
    const number = await exchange.numberOf(agent, called.address);
    const busy = await exchange.place(number, agent);
    await called.seen('CALL_INCOMING');
    await exchange.inState(busy, 'ringing');
    called.tell('hangup');
    exactly(t, await exchange.inState(busy, 'busy', 'failed', 'no_answer'), { state: 'busy' });
    t.equal((await exchange.endOf(busy.session)).ended_reason, 'not_joined');

    const ignored = await exchange.place(number, agent, { max_ring_seconds: 5 });
    exactly(t, await exchange.inState(ignored, 'busy', 'failed', 'no_answer'), {
      state: 'no_answer',
      reason: null,
    });

    const cancelled = await exchange.place(number, agent);
    await called.seen('CALL_INCOMING', 3);
    exactly(t, await talks.call(`calls/${cancelled.id}/cancel`, { method: 'POST' }), {
      body: { state: 'cancelled' },
    });
    await called.seen('CALL_CLOSED', 3);

    const nowhere = await exchange.place(await exchange.numberOf(agent, '127.0.0.1:9'), agent, {
      max_ring_seconds: 5,
    });
    const failed = await exchange.inState(nowhere, 'busy', 'failed', 'no_answer');
    t.match(failed['state'], /failed|no_answer/);
  },
};

t.test('telephones through a real SIP service', { skip: withoutSip }, async (t) => {
  const exchange = await Exchange.start(t);
  for (const [name, holds] of Object.entries(CASES)) await t.test(name, (t) => holds(t, exchange));
});
