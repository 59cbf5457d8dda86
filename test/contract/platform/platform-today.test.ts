/**
 * The described platform of today (test/contract/platform/platform-today.openapi.json): /openapi.json promises all that a client of it
 * reads, takes all that one sends, and a gateway answers so. Clients generated from it: test/acceptance/described-client.test.mjs.
 */
import t from '../../fixtures/tap.js';
import { checker } from '../../../contracts/schemas/check.js';
import type { TSchema } from '../../../contracts/schemas/type.js';
import { resolved } from '../../fixtures/platform/described.js';
import { fullConfig, membersOf } from '../../fixtures/platform/full-config.js';
import { misfits } from '../../fixtures/platform/misfits.js';
import { type Json, sharedPlatform } from '../../fixtures/platform/platform.js';
import { DESCRIBED, type Described, OPERATIONS, schemaIn } from '../../fixtures/platform/platform-today.js';

const platform = await sharedPlatform(t);
const { call } = platform;
const ours = resolved((await call('GET', '/openapi.json')).body as unknown as Described);

/** What only those meet who use what the described platform has not: chats, MCP servers. */
const ADDED = { added: new Set(['chat', 'mcp']) };

const ORIGIN = 'https://bakery.example.com';
const [tool, source] = [await platform.tool(), await platform.source()];
const agent = await platform.agent();
const CONFIG = `/v1/agent/agents/${agent}/config`;
const sample = fullConfig(tool, source);
const changed = await call('PATCH', CONFIG, { body: sample });
await call('PATCH', `/v1/agent/agents/${agent}`, {
  body: { public_enabled: true, allowed_origins: [ORIGIN] },
});
await call('POST', `/v1/agent/agents/${agent}/publish`);
const made = await call('POST', '/v1/agent/sessions', {
  body: { agent_id: agent, dynamic_variables: { name: 'Ada' }, metadata: { order: 7 } },
});
const number = await call('POST', '/v1/agent/phone-numbers', {
  body: {
    ...{ provider: 'twilio', phone_number: '+4930123456', agent_id: agent },
    credentials: { auth_token: '0123456789abcdef0123456789abcdef' },
  },
});
const IDS: Readonly<Record<string, string>> = {
  ...{ agent_id: agent, tool_id: tool, source_id: source, version_number: '1' },
  session_id: String(made.body['session_id']),
  phone_number_id: String(number.body['phone_number_id']),
};
/** Sessions that nobody has joined are listed on request, and have no recording. */
const QUERIES: Readonly<Record<string, string>> = { listSessions: '?status=pending' };
const STATUSES: Readonly<Record<string, number>> = { readRecording: 404 };

for (const { path, method, operation } of OPERATIONS)
  t.test(`${method.toUpperCase()} ${path} is ours as it is described`, async (t) => {
    const own = ours.paths[path]?.[method];
    if (!own) return t.fail('there is no such route');
    const names = (own.parameters ?? []).map(({ name }) => name);
    for (const { name } of operation.parameters ?? []) t.ok(names.includes(name), `parameter ${name}`);
    const [sent, taken] = [schemaIn(operation.requestBody), schemaIn(own.requestBody)];
    if (sent) t.strictSame(misfits(sent, taken ?? {}, 'sent'), []);
    for (const [status, response] of Object.entries(operation.responses)) {
      const schema = schemaIn(response);
      const answer = own.responses[status];
      const isSuccess = status.startsWith('2');
      if (isSuccess) t.ok(answer, `answers ${status}`);
      if (schema && answer) t.strictSame(misfits(schemaIn(answer) ?? {}, schema, status, ADDED), []);
    }
  });

for (const [name, { post }] of Object.entries(DESCRIBED.webhooks))
  t.test(`${name} is told as it is described, by its name`, async (t) => {
    const own = schemaIn(ours.webhooks[name]?.post.requestBody) ?? {};
    t.strictSame(misfits(own, schemaIn(post.requestBody) ?? {}, '', ADDED), []);
    t.ok(Object.hasOwn(ours.components.schemas, String(own['title'])), 'a schema of /openapi.json');
  });

t.test('a schema that does not fit is found', async (t) => {
  const misfit = (narrow: Json, wide: Json) => misfits(narrow, wide, 'x');
  const text = { type: 'string' };
  const cases: readonly (readonly [Json, Json, readonly string[]])[] = [
    [{ type: ['string', 'null'] }, text, ['x may be of type null']],
    [{ enum: ['a', 'b'] }, { type: 'string', enum: ['a'] }, ['x may be "b"']],
    [text, { const: 'a' }, ['x is any string']],
    [{ type: 'number' }, { type: 'integer' }, ['x may be of type number']],
    [{}, text, ['x is anything']],
    [text, { type: 'string', format: 'date-time' }, ['x is no date-time']],
    [{ type: 'string', maxLength: 9 }, { type: 'string', maxLength: 8 }, ['x: maxLength 9 is beyond 8']],
    [
      { type: 'object', properties: { a: text } },
      { type: 'object', required: ['a'], properties: { a: { type: 'null' } } },
      ['x.a may be absent', 'x.a may be of type string'],
    ],
    [
      { type: 'object', properties: { a: text } },
      { type: 'object', additionalProperties: false },
      ['x.a is unknown'],
    ],
    [
      { type: 'array', items: text },
      { type: 'array', items: { anyOf: [{ type: 'null' }, { type: 'integer' }] } },
      ['x[] may be of type string'],
    ],
  ];
  for (const [narrow, wide, found] of cases) t.strictSame(misfit(narrow, wide), found);
  t.strictSame(
    misfit({ anyOf: [{ enum: [null, 'a'] }, { type: 'integer' }] }, { type: ['number', 'string', 'null'] }),
    [],
  );
});

for (const { path, operation } of OPERATIONS.filter(({ method }) => method === 'get'))
  t.test(`GET ${path} answers as it is described`, async (t) => {
    const { operationId: id, responses, security } = operation;
    const asked = path.replace(/\{(\w+)\}/g, (_, name: string) => IDS[name] ?? name) + (QUERIES[id] ?? '');
    const visitor = security?.length === 0 && { key: null, headers: { origin: ORIGIN } };
    const { status, body } = await call('GET', asked, { ...visitor });
    t.equal(status, STATUSES[id] ?? 200);
    const schema = schemaIn(responses[String(status)]);
    const checked = checker(schema as TSchema)(body);
    t.strictSame('problems' in checked ? checked.problems : [], []);
    const rows = Object.values(body).find((value) => Array.isArray(value)) as readonly unknown[] | undefined;
    if ('has_more' in body) t.ok(rows && rows.length > 0, 'a list has rows to be read');
  });

t.test('a configuration of its shape is taken, and what is read of it is taken again', async (t) => {
  t.equal(changed.status, 200, changed.text);
  const read = (await call('GET', CONFIG)).body;
  t.equal((await call('PATCH', CONFIG, { body: read })).status, 200);
  const { updated_at: _, ...after } = (await call('GET', CONFIG)).body;
  const { updated_at: __, ...before } = read;
  t.strictSame(after, before);
  const known = new Set(membersOf(propertiesIn(DESCRIBED.components.schemas['ConfigChanges'] ?? {})));
  t.strictSame(new Set(membersOf(sample)), known, 'every member has a value');
});

/** A value with all members of a schema. */
function propertiesIn(schema: Json): unknown {
  const { properties, items } = schema as {
    readonly properties?: Record<string, Json>;
    readonly items?: Json;
  };
  if (items) return [propertiesIn(items)];
  if (!properties) return '';
  return Object.fromEntries(Object.entries(properties).map(([name, each]) => [name, propertiesIn(each)]));
}
