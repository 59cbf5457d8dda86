/** A caller's `metadata` is returned everywhere as exactly the text that was sent (docs/contract/platform.md 6.6). */
import t from '../../fixtures/tap.js';
import { LIMITS } from '../../../contracts/limits.js';
import { exactly } from '../../fixtures/exactly.js';
import { places, sharedPlatform } from '../../fixtures/platform/platform.js';
import { isSignedBy, startReceiver } from '../../fixtures/platform/receiver.js';
import { until } from '../../fixtures/until.js';

const platform = await sharedPlatform(t, 'speech');
const { call, database } = platform;
const { url, seen } = await startReceiver(t);
const SESSIONS = '/v1/agent/sessions';

const agentId = await platform.agent({ config: { webhooks: { post_call: { url, secret: 'sesame' } } } });
await call('POST', `/v1/agent/agents/${agentId}/publish`);

/** Creates a session with a hand-written body. */
const send = (members: string) =>
  call('POST', SESSIONS, {
    raw: `{"agent_id":"${agentId}",${members}}`,
    headers: { 'content-type': 'application/json' },
  });
const idOf = async (members: string): Promise<string> => {
  const { status, text, body } = await send(members);
  if (status !== 201) throw new Error(`${status} ${text}`);
  return body['session_id'] as string;
};
/** The body of a read of the session. */
const shown = async (id: string) => (await call('GET', `${SESSIONS}/${id}`)).text;

/** Integers beyond 2^53, spellings of numbers, members out of order and repeated, escapes, white space. */
const METADATA =
  '{ "order": 12345678901234567890, "price":1.0,"e":1E+2,\n"2":"b", "1":"a", "2":"again", "ü":"\\u00fc\\/", "__proto__": {"x":-0.0} }';

t.test('sessions, lists and signed webhooks return it to the letter', async (t) => {
  const id = await idOf(`"metadata":${METADATA}, "name":"Call"`);
  t.ok((await shown(id)).includes(`"metadata":${METADATA},`), 'read');
  t.ok((await call('GET', `${SESSIONS}?status=pending`)).text.includes(`"metadata":${METADATA}}`), 'list');
  await database.sql`update sessions set status = 'active', started_at = now() where id = ${id}`;
  await call('POST', `${SESSIONS}/${id}/end`);
  await until('both events are there', () => seen.length === 2);
  for (const event of seen) {
    t.ok(event.body.includes(`"metadata":${METADATA},`), 'webhook');
    t.ok(isSignedBy('sesame', event), 'signed as it was sent');
    exactly(t, JSON.parse(event.body), { session: { id, metadata: { price: 1 } } });
  }
  t.ok((await shown(id)).includes(`"metadata":${METADATA},`), 'once it has ended');
});

t.test('characters that are no text elsewhere are stored and returned', async (t) => {
  for (const metadata of ['{"a":"\\ud800"}', '{"a":{"b":"\\u0000"}}', '{"\\udc00":["\\u0000"]}']) {
    const id = await idOf(`"metadata":${metadata}`);
    t.ok((await shown(id)).includes(`"metadata":${metadata},`), metadata);
    t.ok((await call('GET', `${SESSIONS}?status=pending`)).text.includes(`"metadata":${metadata}`), 'list');
    t.equal((await call('POST', `${SESSIONS}/${id}/end`)).status, 204);
    t.ok((await shown(id)).includes(`"metadata":${metadata},`), 'once it has ended');
  }
});

t.test('lists nested 63 deep are stored and returned', async (t) => {
  const metadata = `{"a":${'['.repeat(63)}1.0${']'.repeat(63)}}`;
  const id = await idOf(`"metadata":${metadata}`);
  t.ok((await shown(id)).includes(`"metadata":${metadata},`));
});

t.test('of several members of that name the last counts, however it is written', async (t) => {
  const cases: [string, string][] = [
    ['"metadata":{"a":1},"metadata":{"a":2.0}', '{"a":2.0}'],
    ['"meta\\u0064ata":{"a":1.0}', '{"a":1.0}'],
    ['"metadata":{"a":1},"meta\\u0064ata":{"a":3.0}', '{"a":3.0}'],
    ['"meta\\u0064ata":7,"metadata":{}', '{}'],
    ['"metadata":{"a":1},"metadata":null', '{}'],
    ['"dynamic_variables":{"metadata":"{}"},"metadata":{"metadata":{"b":1.0}}', '{"metadata":{"b":1.0}}'],
    ['"name":"no metadata"', '{}'],
  ];
  for (const [members, metadata] of cases)
    t.ok((await shown(await idOf(members))).includes(`"metadata":${metadata},`), members);
  t.strictSame(places(await send('"metadata":{},"meta\\u0064ata":7')), ['metadata'], 'the last is no object');
});

t.test('an object, of so many bytes as they came, not too deep, of text', async (t) => {
  const most = LIMITS.session.metadataBytes;
  const sized = (bytes: number) => `"metadata":{"a":"${'x'.repeat(bytes - '{"a":""}'.length)}"}`;
  t.equal((await send(sized(most))).status, 201);
  t.equal((await send(`"metadata":{${' '.repeat(most - 2)}}`)).status, 201);
  for (const members of [sized(most + 1), `"metadata":{${' '.repeat(most - 1)}}`, `"metadata":{"a":"${'ü'.repeat(8200)}"}`])
    t.strictSame(places(await send(members)), ['metadata']); // oxfmt-ignore
  for (const value of ['[]', '7', '"x"', 'true'])
    t.strictSame(places(await send(`"metadata":${value}`)), ['metadata']);
  const deep = (levels: number) => `"metadata":${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
  // The body itself is one level.
  t.equal((await send(deep(LIMITS.body.depth - 1))).status, 201);
  t.equal((await send(deep(LIMITS.body.depth))).status, 400);
  t.equal((await send(deep(50_000))).status, 400);
});
