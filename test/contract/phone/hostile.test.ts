/**
 * Refusals to telephone providers, with doubles of them (docs/phone.md): webhooks and handshakes that are forged or
 * replayed, calls that nobody can answer, and streams with messages that are not allowed.
 */
import t from '../../fixtures/tap.js';
import { exactly } from '../../fixtures/exactly.js';
import {
  ASKING,
  IncomingCalls,
  newCall,
  newNumber,
  type Provider,
  PROVIDERS,
  SECRET,
  STREAMING,
} from '../../fixtures/phone/incoming-calls.js';
import type { PhoneLine } from '../../fixtures/phone/line.js';
import { until } from '../../fixtures/until.js';

const calls = await IncomingCalls.start(t);
const { talks } = calls;
const { call: ask, gateway } = talks;

/** An agent with a number at each provider, which greets whoever is let in. */
const agent = await talks.agent({ prompt: { first_message_mode: 'fixed', first_message: 'Hi.' } });
const numbers = new Map<string, string>();
for (const provider of PROVIDERS) numbers.set(provider.name, await calls.numberOf(provider, agent));
const numberAt = ({ name }: Provider): string => numbers.get(name) ?? '';

/** Whether the gateway has sent sound on the line: its call has begun. */
const isLetIn = ({ said }: PhoneLine): boolean => said.some(({ type }) => type === 'audio');

/** The line of a call to the agent, on which nothing was sent yet. */
const opened = (provider: Provider, forged?: string) => calls.opened(provider, numberAt(provider), forged);

for (const provider of ASKING) {
  t.test(`${provider.name}: a webhook that is forged, or replayed, begins nothing`, async (t) => {
    const number = numberAt(provider);
    exactly(t, await calls.ring(provider, newCall(number), 'another secret'), { status: 403 });
    exactly(
      t,
      await calls.ring(provider, newCall(newNumber())),
      { status: 403 },
      'an unknown number is the same',
    );
    const call = newCall(number);
    exactly(t, await calls.ring(provider, call), { status: 200 });
    exactly(t, await calls.ring(provider, call), { status: 409 });
    const url = calls.answerUrl(provider);
    t.equal((await fetch(url, { method: 'POST' })).status, 400, 'a webhook about nothing');
    t.equal((await fetch(url, { method: 'POST', body: 'x'.repeat(65 * 1024) })).status, 413);
    t.equal((await fetch(`${gateway.base}/v1/phone/nobody/answer`, { method: 'POST' })).status, 404);
  });

  t.test(`${provider.name}: a call that nobody can answer is rejected`, async (t) => {
    const agentId = await talks.agent();
    const archived = await calls.numberOf(provider, agentId);
    await ask(`agents/${agentId}`, { method: 'PATCH', body: { status: 'archived' } });
    const closed = [
      archived,
      await calls.numberOf(provider, null),
      await calls.numberOf(provider, agent, { enabled: false }),
    ];
    for (const number of closed) {
      const { status, document } = await calls.ring(provider, newCall(number));
      t.equal(status, 200);
      t.equal(provider.dialect.streamOf(document), undefined, document);
    }
  });

  t.test(`${provider.name}: a withheld or invalid number is no caller's number`, async (t) => {
    const agentId = await talks.agent();
    const number = await calls.numberOf(provider, agentId);
    const withheld = ['anonymous', '', '+266696687', 'sip:anonymous@anonymous.invalid'];
    for (const from of [...withheld, '266696687x', 'x'.repeat(2000)]) {
      exactly(t, await calls.ring(provider, newCall(number, from)), { status: 200 });
      const { body } = await ask(`sessions/${await calls.sessionOf(agentId)}`);
      exactly(t, body, { caller_number: null, dialed_number: number });
    }
  });

  t.test(`${provider.name}: a stream without its session is refused`, async (t) => {
    const other = await opened(provider);
    for (const token of ['', 'nonsense', `sess_0123456789abcdef01234567.${'A'.repeat(43)}`, other.token]) {
      const { line, begin } = await opened(provider, token);
      begin();
      exactly(t, await line.untilClosed(), { code: 1008, reason: 'no session waits for this stream' }, token);
    }
  });
}

for (const provider of ASKING.filter(({ signsTime }) => signsTime))
  t.test(`${provider.name}: a webhook counts for five minutes, and once`, async (t) => {
    const call = newCall(numberAt(provider));
    const now = Math.floor(Date.now() / 1000);
    const ringAt = async (secondsAgo: number) =>
      (await calls.ring(provider, call, SECRET, now - secondsAgo)).status;
    t.same(
      [await ringAt(3600), await ringAt(-3600), await ringAt(60), await ringAt(0)],
      [403, 403, 200, 409],
    );
  });

for (const provider of STREAMING) {
  const { name, dialect } = provider;
  const now = (): number => Math.floor(Date.now() / 1000);

  /** Opens a stream; resolves with its close, undefined if the call goes on. */
  async function tried(number: string, secret = SECRET, at?: number, call = newCall(number)) {
    const line = await calls.stream(provider, call, secret, at);
    for (const message of dialect.begin(call, '')) line.send(message);
    await until('it is refused or let in', () => line.closed !== undefined || isLetIn(line));
    const { closed } = line;
    line.hangUp();
    return closed && { ...closed, call };
  }

  t.test(`${name}: a handshake that is forged, or replayed, begins nothing`, async (t) => {
    const number = numberAt(provider);
    const forged = { code: 1008, reason: 'Invalid signature' };
    exactly(t, await tried(number, 'another secret'), forged);
    exactly(t, await tried(newNumber()), forged, 'an unknown number is the same');
    const call = newCall(number);
    t.equal(await tried(number, SECRET, undefined, call), undefined);
    exactly(t, await tried(number, SECRET, undefined, call), { code: 1008, reason: /answered already/ });
    const { status } = await fetch(calls.answerUrl(provider), { method: 'POST' });
    t.equal(status, 404, 'it asks nobody');
    if (!provider.signsTime) return;
    exactly(
      t,
      [await tried(number, SECRET, now() - 3600), await tried(number, SECRET, now() + 3600)],
      [forged, forged],
    );
  });

  t.test(`${name}: a call that nobody can answer is refused`, async (t) => {
    const agentId = await talks.agent();
    const archived = await calls.numberOf(provider, agentId);
    await ask(`agents/${agentId}`, { method: 'PATCH', body: { status: 'archived' } });
    const closed = await calls.numberOf(provider, agent, { enabled: false });
    for (const number of [archived, closed]) exactly(t, await tried(number), { code: 1008 });
    exactly(t, await tried(await calls.numberOf(provider, null)), { code: 1013 }, 'it is busy');
  });
}

for (const provider of PROVIDERS) {
  const { name, dialect } = provider;

  t.test(`${name}: a second stream for one call is refused, and the first continues`, async (t) => {
    const { line, begin, call, again, token } = await opened(provider);
    begin();
    line.listen();
    const second = await again();
    await until('the first has its session', () => isLetIn(line));
    for (const message of dialect.begin(call, token)) second.send(message);
    exactly(t, await second.untilClosed(), { code: 1008 });
    t.equal(line.closed, undefined);
    line.hangUp();
  });

  t.test(`${name}: a stream that claims another format is refused`, async (t) => {
    for (const wrong of dialect.wrongFormats) {
      const { line, begin } = await opened(provider);
      begin(wrong);
      exactly(t, await line.untilClosed(), { code: 1003 }, JSON.stringify(wrong));
    }
  });

  t.test(`${name}: nothing may come before the start of a stream, and it starts once`, async (t) => {
    const early = await opened(provider);
    early.line.send(dialect.media(new Uint8Array(160), 1));
    exactly(t, await early.line.untilClosed(), { code: 1008, reason: 'the stream has not started' });
    const twice = await opened(provider);
    twice.begin();
    twice.begin();
    exactly(t, await twice.line.untilClosed(), { code: 1008, reason: 'the stream has started already' });
  });

  t.test(`${name}: a frame that is no message ends the stream`, async (t) => {
    for (const [message, code] of dialect.faults) {
      const { line, begin } = await opened(provider);
      begin();
      line.send(message);
      exactly(t, await line.untilClosed(), { code }, JSON.stringify(message).slice(0, 40));
    }
  });

  t.test(`${name}: messages that need not be understood are ignored`, async (t) => {
    const { line, begin } = await opened(provider);
    begin();
    for (const message of dialect.passed) line.send(message);
    line.listen();
    await until('the call goes on', () => isLetIn(line));
    t.equal(line.closed, undefined);
    line.hangUp();
  });

  t.test(`${name}: a flood of marks ends the stream`, async (t) => {
    const { line, begin } = await opened(provider);
    begin();
    for (let mark = 0; mark < 3000; mark += 1) line.send(dialect.marked(String(mark)));
    exactly(t, await line.untilClosed(), { code: 1008, reason: 'too many messages' });
  });
}

t.test('nothing is left at the workers', async () => {
  await talks.untilNoCalls();
});
