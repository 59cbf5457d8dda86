/**
 * What strangers send to the addresses of telephone providers (docs/phone.md "Security"): forms of every kind, before anybody has
 * checked a signature, and WebSockets that say nothing.
 */
import { once } from 'node:events';
import t from '../../fixtures/tap.js';
import { WebSocket } from 'ws';
import { LIMITS } from '../../../contracts/limits.js';
import { exactly } from '../../fixtures/exactly.js';
import {
  ASKING,
  IncomingCalls,
  newCall,
  type Provider,
  PROVIDERS,
  SECRET,
  STREAMING,
} from '../../fixtures/phone/incoming-calls.js';
import { PhoneLine, type ProviderDialect } from '../../fixtures/phone/line.js';
import { plivoSignature } from '../../fixtures/phone/plivo.js';
import { telnyxHeaders } from '../../fixtures/phone/telnyx.js';
import { twilioSignature } from '../../fixtures/phone/twilio.js';
import { vonageAuthorization } from '../../fixtures/phone/vonage.js';
import { until } from '../../fixtures/until.js';

const calls = await IncomingCalls.start(t);
const { talks } = calls;
const agent = await talks.agent({ prompt: { first_message_mode: 'fixed', first_message: 'Hi.' } });
const { parts, bodyBytes, sockets } = LIMITS.unauthenticated;

type Fields = Readonly<Record<string, string>>;
type Signed = Readonly<Record<string, string>>;

/** Signs a form as each provider does. */
const SIGNERS: Readonly<Record<string, (url: string, fields: Fields, body: string) => Signed>> = {
  twilio: (url, fields) => ({ 'x-twilio-signature': twilioSignature(url, fields, SECRET) }),
  telnyx: (_url, _fields, body) => telnyxHeaders(body, SECRET),
  plivo: (url, fields) => ({
    'x-plivo-signature-v3': plivoSignature(url, fields, SECRET),
    'x-plivo-signature-v3-nonce': '05429567804466091622',
  }),
  vonage: (_url, _fields, body) => ({ authorization: vonageAuthorization(body, SECRET) }),
};

/** Names of each provider for what a webhook says of a call. */
const NAMES = { twilio: 'CallSid', telnyx: 'CallSid', plivo: 'CallUUID', vonage: 'uuid' } as const;
const isJson = ({ name }: Provider): boolean => name === 'vonage';

/** The fields of a webhook about a new call, and so many more that there are `count`. */
function fieldsOf({ name }: Provider, to: string, count = 3): Fields {
  const { callId, from } = newCall(to);
  const sides = name === 'vonage' ? { from, to } : { From: from, To: to };
  const more = Array.from({ length: count - 3 }, (_, at) => [at.toString(36), '']);
  return { [NAMES[name as keyof typeof NAMES]]: callId, ...sides, ...Object.fromEntries(more) };
}

const bodyOf = (provider: Provider, fields: Fields): string =>
  isJson(provider) ? JSON.stringify(fields) : new URLSearchParams(fields).toString();

const post = async (url: string, body: string, headers: Signed = {}): Promise<number> => {
  const response = await fetch(url, { method: 'POST', body, headers });
  await response.arrayBuffer();
  return response.status;
};

for (const provider of ASKING) {
  t.test(
    `${provider.name}: webhooks hold ${parts} fields and 64 KiB before their signature is known`,
    async (t) => {
      const { number, url: own } = await calls.registered(provider, agent);
      for (const url of [own, calls.answerUrl(provider)]) {
        const send = (count: number, headers?: Signed) =>
          post(url, bodyOf(provider, fieldsOf(provider, number, count)), headers);
        const signed = (count: number) => {
          const fields = fieldsOf(provider, number, count);
          const body = bodyOf(provider, fields);
          return post(url, body, SIGNERS[provider.name]?.(url, fields, body));
        };
        t.equal(await send(3), 403, 'no signature');
        t.equal(await signed(3), 200);
        t.equal(await signed(parts - 1), 200, 'many fields');
        t.equal(await signed(parts + 1), 400, 'too many, though signed');
        t.equal(
          await send(16_000),
          bodyOf(provider, fieldsOf(provider, number, 16_000)).length > bodyBytes ? 413 : 400,
        );
        t.equal(await send(5000), 400, 'thousands of short names');
        t.equal(await post(url, 'x'.repeat(bodyBytes + 1)), 413);
        const repeated = bodyOf(provider, fieldsOf(provider, number)) + '&To=1'.repeat(900);
        t.equal(await post(url, repeated), isJson(provider) ? 400 : 403, 'a field again and again');
        const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`;
        t.equal(await post(url, deep), 400, 'nested');
        const junk = { 'x-twilio-signature': ','.repeat(9000), 'x-plivo-signature-v3': ','.repeat(9000) };
        t.equal(await post(url, bodyOf(provider, fieldsOf(provider, number)), junk), 403, 'long signatures');
      }
    },
  );

  t.test(`${provider.name}: a webhook at another number's address is forged`, async (t) => {
    const { number, url } = await calls.registered(provider, agent);
    const wrong = url.replace(/[0-9a-f]{64}$/, 'f'.repeat(64));
    exactly(t, await calls.ring(provider, newCall(number), SECRET, undefined, wrong), { status: 403 });
    exactly(t, await calls.ring(provider, newCall(number), 'another', undefined, url), { status: 403 });
    exactly(t, await calls.ring(provider, newCall('+493099999999'), SECRET, undefined, url), { status: 403 });
    const second = await calls.numberOf(provider, agent);
    exactly(
      t,
      await calls.ring(provider, newCall(second), SECRET, undefined, url),
      { status: 200 },
      'of the same workspace',
    );
  });
}

const streamUrl = ({ name }: Provider): string =>
  `${talks.gateway.base.replace('http', 'ws')}/v1/phone/${name}`;

async function opened(url: string, localAddress?: string): Promise<WebSocket> {
  const socket = new WebSocket(url, { ...(localAddress && { localAddress }) });
  t.teardown(() => socket.terminate());
  socket.on('error', () => undefined);
  await once(socket, 'open');
  return socket;
}

for (const provider of PROVIDERS.filter(({ name }) => name !== 'vonage' && name !== 'genesys'))
  t.test(`${provider.name}: a first message of too many nodes, or nested, closes a stream`, async (t) => {
    const many = JSON.stringify({ event: 'start', start: Array.from({ length: parts + 1 }, () => 0) });
    const deep = `{"event":"start","start":${'['.repeat(1000)}${']'.repeat(1000)}}`;
    for (const message of [many, deep, 'x'.repeat(bodyBytes + 1)]) {
      const socket = await opened(streamUrl(provider));
      socket.send(message);
      const [code] = (await once(socket, 'close')) as [number];
      t.equal(code, 1009, message.slice(0, 30));
    }
  });

const isLetIn = ({ said }: PhoneLine): boolean => said.some(({ type }) => type === 'audio');

/** The stream of a new call, at the number's own address. */
async function lineOf(provider: Provider): Promise<PhoneLine> {
  const { number, url } = await calls.registered(provider, agent);
  const { dialect } = provider;
  const call = newCall(number);
  if (!('ask' in dialect)) {
    const line = await calls.stream({ ...provider, dialect }, call, SECRET, undefined, url);
    for (const message of dialect.begin(call, '')) line.send(message);
    line.listen();
    return line;
  }
  const asking: Provider<ProviderDialect> = { ...provider, dialect };
  const { document } = await calls.ring(asking, call, SECRET, undefined, url);
  const line = await PhoneLine.answered(dialect, call, document);
  t.teardown(() => line.drop());
  return line;
}

t.test('strangers’ WebSockets take no place of streams that can prove themselves', async (t) => {
  const addresses = Array.from(
    { length: sockets.total / sockets.perAddress },
    (_, at) => `127.0.0.${at + 2}`,
  );
  const idle = addresses.flatMap((address) =>
    Array.from({ length: sockets.perAddress }, (_, at) =>
      opened(streamUrl(PROVIDERS[at % PROVIDERS.length]!), address),
    ),
  );
  const crowd = await Promise.all(idle);
  for (const provider of PROVIDERS) {
    const line = await lineOf(provider);
    await until(`${provider.name} is let in`, () => isLetIn(line));
    t.equal(line.closed, undefined);
    line.hangUp();
  }
  for (const socket of crowd) socket.terminate();
});

for (const provider of STREAMING)
  t.test(
    `${provider.name}: at the address of all, credentials of any number count; at a number's, its own`,
    async (t) => {
      const { number, url } = await calls.registered(provider, agent);
      const call = newCall(number);
      const forged = await calls.stream(provider, call, 'another secret', undefined, url);
      for (const message of provider.dialect.begin(call, '')) forged.send(message);
      exactly(t, await forged.untilClosed(), { code: 1008, reason: 'Invalid signature' });
      const shared = await calls.stream(provider, call);
      for (const message of provider.dialect.begin(call, '')) shared.send(message);
      await until('it is let in', () => isLetIn(shared));
      shared.hangUp();
    },
  );

t.test('nothing is left at the workers', async () => {
  await talks.untilNoCalls();
});
