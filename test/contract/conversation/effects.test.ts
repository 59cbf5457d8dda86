/**
 * Tools with an effect against a real endpoint that counts its orders (docs/contract/platform.md 6.5): whatever a caller does while
 * one runs, there is exactly one request, and its result is told.
 */
import type { IncomingMessage } from 'node:http';
import { httpDouble } from '../../fixtures/http-double.js';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import t from '../../fixtures/tap.js';
import { letGo } from '../../fixtures/calls/caller.js';
import { type Meeting, Talks } from '../../fixtures/conversation/conversation.js';
import { exactly } from '../../fixtures/exactly.js';
import { toolSaid } from '../../fixtures/chat/model.js';
import { until } from '../../fixtures/until.js';

/** How long an order takes: longer than all that its caller does meanwhile. */
const TAKES_MS = 1500;

const orders = new Map<string, IncomingMessage[]>();
const cutOff: string[] = [];
const shop = httpDouble((request, response) => {
  const place = request.url ?? '';
  orders.set(place, [...(orders.get(place) ?? []), request]);
  response.on('close', () => response.writableFinished || cutOff.push(place));
  setTimeout(() => response.end('ordered'), TAKES_MS);
}).listen(0, '127.0.0.1');
await once(shop, 'listening');
t.teardown(() => void shop.close());
const host = `127.0.0.1:${(shop.address() as AddressInfo).port}`;

t.teardown(letGo);
t.jobs = 4;
const { talks } = await Talks.shared(t);

/** A model that orders whenever it is asked, until it is told that it has. */
talks.model.answer((messages) => {
  const knows = toolSaid(messages) ?? messages.map(({ content }) => content).join(' ');
  return knows.includes('answered: ordered') || toolSaid(messages) === 'ordered'
    ? 'It is ordered.'
    : { calls: { Order: {} } };
});

const MEANWHILE: Readonly<Record<string, (meeting: Meeting) => void>> = {
  'types a line': ({ caller }) => caller.send({ type: 'user.message', text: 'Hello?' }),
  'presses a key': ({ caller }) => caller.send({ type: 'user.dtmf', digits: '5' }),
  interrupts: ({ caller }) => caller.send({ type: 'user.interrupt' }),
};

for (const [at, [what, does]] of Object.entries(MEANWHILE).entries())
  t.test(`an order is made once though its caller ${what} meanwhile`, async (t) => {
    const place = `/order/${at}`;
    const definition = {
      name: 'Order',
      description: 'Orders',
      url: `http://${host}${place}`,
      method: 'POST',
    };
    const made = await talks.call('tools', { body: { ...definition, arguments: [] } });
    t.equal(made.status, 201);
    const meeting = await talks.meet({ tools: { tool_ids: [made.body['tool_id']] } });
    meeting.caller.send({ type: 'user.message', text: 'Order it' });
    await until('it is ordered', () => orders.has(place));
    does(meeting);
    await until('the caller is told', () =>
      meeting.caller.shown.some(({ final, text }) => final && text.includes('It is ordered.')),
    );
    exactly(
      t,
      orders.get(place)?.map(({ headers }) => headers['idempotency-key']),
      [/^[0-9a-f]{64}$/],
      'one request, with its key',
    );
    t.notOk(cutOff.includes(place));
    meeting.caller.hangUp();
    const { items } = await talks.ended(meeting.invite);
    const results = items.filter(({ type }) => type === 'tool_result');
    t.ok(
      results.length > 0 &&
        results.every(({ status, output }) => status === 'completed' && output === 'ordered'),
    );
  });
