/** How much is read of a client before anybody knows who it is (docs/contract/limits.md), through a whole gateway. */
import t from '../../fixtures/tap.js';
import { LIMITS } from '../../../contracts/limits.js';
import { exactly } from '../../fixtures/exactly.js';
import { TEST_KEY } from '../../fixtures/gateway.js';
import { type Call, type Json, sharedPlatform } from '../../fixtures/platform/platform.js';
import { SpeechSocketClient } from '../../fixtures/protocol-b/speech-socket.js';
import { until } from '../../fixtures/until.js';

const platform = await sharedPlatform(t);
const { call, gateway } = platform;
const { bodyBytes, frameBytes, parts } = LIMITS.unauthenticated;

const SESSIONS = '/v1/agent/sessions';
const agentId = await platform.agent();

/** Metadata with so many members. */
const metadata = (count: number): Json =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [at.toString(36), 1]));
const wanted = (count: number): Json => ({ agent_id: agentId, metadata: metadata(count) });
const long = (): Json => ({ agent_id: agentId, metadata: { long: 'x'.repeat(bodyBytes) } });

for (const [who, more] of [
  ['without a key', { key: null }],
  ['with a wrong key', { key: 'wrong' }],
  ['with half a header', { key: null, headers: { authorization: 'Basic eDp5' } }],
] as [string, Call][])
  t.test(`session requests ${who} hold 64 KiB and 1,000 nodes`, async (t) => {
    const post = async (body: Json) => (await call('POST', SESSIONS, { body, ...more })).status;
    const refused = who === 'without a key' ? [403, 409, 404] : [401];
    t.ok(refused.includes(await post(wanted(parts - 10))));
    t.equal(await post(wanted(parts + 10)), 400);
    t.equal(await post(long()), 413);
  });

t.test('with a key they hold as much as ever', async (t) => {
  t.not((await call('POST', SESSIONS, { body: wanted(parts + 10) })).status, 400);
  t.equal((await call('POST', SESSIONS, { body: long() })).status, 422, 'read, and too long');
});

t.test('a malformed body is told before a wrong key', async (t) => {
  const malformed = { raw: '{', key: 'wrong', headers: { 'content-type': 'application/json' } };
  t.equal((await call('POST', SESSIONS, malformed)).status, 400);
  t.equal((await call('POST', `/v1/agent/agents/${agentId}/preview`, malformed)).status, 400);
});

t.test('a query holds 1,000 fields', async (t) => {
  const get = async (count: number) =>
    (
      await call(
        'GET',
        `/v1/agent/agents?${Array.from({ length: count }, (_, at) => at.toString(36)).join('&')}`,
      )
    ).status;
  t.equal(await get(parts), 200);
  t.equal(await get(parts + 1), 400);
});

for (const path of ['stream-input', 'multi-stream-input'] as const) {
  /** The fault of a socket whose first frame has no key in the handshake. */
  async function faultOf(frame: object, headers: Readonly<Record<string, string>> = {}) {
    const client = await new SpeechSocketClient(gateway, { path, headers }).opened();
    client.send(frame);
    const { code } = await until('it is closed', () => client.closed);
    return { code, error: client.frames.at(-1)?.error };
  }
  const nodes = (count: number) => Array.from({ length: count }, () => 0);

  t.test(`${path}: the frame that brings the key holds 64 KiB and 1,000 nodes`, async (t) => {
    const large = { code: 1009, error: 'message_too_large' };
    exactly(t, await faultOf({ text: 'x'.repeat(frameBytes), xi_api_key: TEST_KEY }), large);
    exactly(
      t,
      await faultOf({ text: 'x'.repeat(1_200_000), xi_api_key: TEST_KEY }),
      large,
      'twenty times as much',
    );
    exactly(t, await faultOf({ text: ' ', other: nodes(parts), xi_api_key: TEST_KEY }), large);
    exactly(t, await faultOf({ text: ' ', xi_api_key: 'wrong' }), { code: 1008 });
  });

  t.test(`${path}: once the key is known frames are as large as ever`, async (t) => {
    const client = await new SpeechSocketClient(gateway, { path, headers: {} }).opened();
    client.send({ text: 'Hello there, world. ', flush: true, xi_api_key: TEST_KEY });
    await until('the key is known', () => client.frames.length > 0);
    client.send(
      { text: `Hello. ${' '.repeat(frameBytes)}`, other: nodes(parts * 2) },
      { text: '', close_socket: true },
    );
    const { code } = await until('it is closed', () => client.closed);
    t.equal(code, 1000);
    t.notOk(client.frames.some(({ error }) => error));
  });
}

t.test('the interface description names the address that it was asked at', async (t) => {
  const { status, body } = await call('GET', '/openapi.json', { key: null });
  t.equal(status, 200);
  t.strictSame(body['servers'], [{ url: gateway.base }]);
  t.ok(Object.keys(body['paths'] as object).length > 50);
});
