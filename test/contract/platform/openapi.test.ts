/**
 * /openapi.json describes the platform truly: examples fit their schemas, and valid and broken requests made
 * from the schemas cause no server error and are answered in the described shape.
 */
import { readFile } from 'node:fs/promises';
import t from '../../fixtures/tap.js';
import { Compile } from 'typebox/compile';
import { wellFormed } from '../../../contracts/text/text.js';
import { CHECKOUT } from '../../../contracts/places.js';
import { resolved } from '../../fixtures/platform/described.js';
import { exactly } from '../../fixtures/exactly.js';
import { shortOrLong } from '../../fixtures/long.js';
import { formOf, type Json, sharedPlatform } from '../../fixtures/platform/platform.js';
import { Draws } from '../../fixtures/fuzz/draws.js';
import { firstSeed } from '../../fixtures/fuzz/rounds.js';
import { textOf } from '../../fixtures/fuzz/bodies.js';
import { valueOf } from '../../fixtures/fuzz/schemas.js';

const platform = await sharedPlatform(t);
const { call } = platform;

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: Json }>>;
}
interface Operation {
  readonly operationId?: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: Json }[];
  readonly requestBody?: Required<Content> & { readonly required: boolean };
  readonly responses: Readonly<Record<string, Content>>;
  readonly security: readonly object[];
}

interface Document {
  readonly paths: Record<string, Record<string, Operation>>;
  readonly webhooks: Record<string, { post: Operation }>;
  readonly components: { readonly schemas: Readonly<Record<string, Json>> };
}
const document = (await call('GET', '/openapi.json')).body as unknown as Document;
const { paths, webhooks } = resolved(document);
const operations = Object.entries(paths)
  .filter(([path]) => /^\/v1\/agent\/(agents|tools|knowledge-sources|deliveries|redeliveries|tests)/.test(path) && !/(preview|widget)$/.test(path))
  .flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation }))); // oxfmt-ignore

const setup = (name: string): Promise<unknown> => import(new URL(`ops/setup/${name}`, CHECKOUT).href);

t.test('each bound of a request’s field stands on docs/contract/limits.md', async (t) => {
  const { boundLines, PAGE } = (await setup('bounds.mjs')) as {
    boundLines(routes: readonly object[]): string[];
    PAGE: string;
  };
  const schemasOf = (content: Content['content'] = {}) => Object.values(content).map(({ schema }) => schema);
  const routes = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { parameters, requestBody }]) => ({
      ...{ method, path },
      description: { parameters, requestBody: schemasOf(requestBody?.content) },
    })),
  );
  const page = await readFile(new URL(PAGE, CHECKOUT), 'utf8');
  const lines = boundLines(routes);
  t.ok(lines.length > 100);
  // A path may be spelled otherwise there.
  for (const line of lines) t.ok(page.includes(line.split(' | ').slice(0, 2).join(' | ')), line);
});

/** All values under a key, however deep. */
function under(key: string, value: unknown): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, each]) => [
    ...(name === key ? [each] : []),
    ...under(key, each),
  ]);
}

t.test('a type is a name or a flat list of names, as readers of JSON schemas want it', async (t) => {
  const types = under('type', paths).filter((type) => typeof type === 'string' || Array.isArray(type));
  const unreadable = types.filter((type) => [type].flat().some((name) => typeof name !== 'string'));
  t.ok(types.length > 500);
  t.strictSame(unreadable, []);
});

t.test('generators of clients find a name for each operation, and for what clients receive', async (t) => {
  const all = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const ids = all.map(({ operationId = '' }) => operationId);
  t.equal(new Set(ids).size, ids.length, 'each is another one');
  for (const id of ids) t.match(id, /^[a-z][A-Za-z0-9]+$/);
  // They are names in the programs of others: a summary may be worded anew, if its row keeps the id.
  const idOf = (method: string, path: string) => paths[path]?.[method]?.operationId;
  t.equal(idOf('get', '/v1/agent/agents'), 'listAgents');
  t.equal(idOf('patch', '/v1/agent/agents/{agent_id}/config'), 'changeDraftConfiguration');
  t.equal(idOf('post', '/v1/agent/agents/{agent_id}/preview'), 'previewAgent');
  t.equal(idOf('post', '/v1/agent/sessions'), 'createSession');
  t.equal(idOf('get', '/v1/agent/sessions/{session_id}/recording'), 'readSessionRecording');
  const names = Object.keys(document.components.schemas);
  for (const name of [
    ...['Agent', 'AgentConfig', 'Session', 'Turn', 'ErrorBody', 'CallEndedEvent'],
    ...['MessageItem', 'ToolCallItem', 'ToolResultItem', 'EndpointErrorItem', 'RecordingTrack'],
  ])
    t.ok(names.includes(name), name);
  const answer = document.paths['/v1/agent/agents/{agent_id}']?.['get']?.responses['200']?.content;
  t.strictSame(answer?.['application/json']?.schema, { $ref: '#/components/schemas/Agent' });
  t.strictSame(under('analysis', document.components.schemas['Session'])[0], {
    anyOf: [{ $ref: '#/components/schemas/Analysis' }, { type: 'null' }],
  });
});

t.test('every route is described, with its errors and examples', async (t) => {
  const described = operations.map(({ method, path }) => `${method} ${path.replace('/v1/agent', '')}`).sort();
  t.strictSame(described, [
    'DELETE /agents/{agent_id}',
    'DELETE /knowledge-sources/{source_id}',
    'DELETE /tests/runs/{run_id}',
    'DELETE /tests/scenarios/{scenario_id}',
    'DELETE /tests/suites/{suite_id}',
    'DELETE /tools/{tool_id}',
    'GET /agents',
    'GET /agents/{agent_id}',
    'GET /agents/{agent_id}/config',
    'GET /agents/{agent_id}/versions',
    'GET /agents/{agent_id}/versions/{version_number}',
    'GET /deliveries',
    'GET /deliveries/{delivery_id}',
    'GET /knowledge-sources',
    'GET /knowledge-sources/{source_id}',
    'GET /knowledge-sources/{source_id}/agents',
    'GET /redeliveries/{redelivery_id}',
    'GET /tests/runs',
    'GET /tests/runs/compare',
    'GET /tests/runs/{run_id}',
    'GET /tests/runs/{run_id}/results/{scenario_id}',
    'GET /tests/scenarios',
    'GET /tests/scenarios/{scenario_id}',
    'GET /tests/suites',
    'GET /tests/suites/{suite_id}',
    'GET /tools',
    'GET /tools/{tool_id}',
    'GET /tools/{tool_id}/agents',
    'PATCH /agents/{agent_id}',
    'PATCH /agents/{agent_id}/config',
    'PATCH /knowledge-sources/{source_id}',
    'PATCH /tests/scenarios/{scenario_id}',
    'PATCH /tests/suites/{suite_id}',
    'PATCH /tools/{tool_id}',
    'POST /agents',
    'POST /agents/{agent_id}/knowledge/search',
    'POST /agents/{agent_id}/llm/test',
    'POST /agents/{agent_id}/publish',
    'POST /agents/{agent_id}/webhooks/test',
    'POST /deliveries/{delivery_id}/redeliver',
    'POST /knowledge-sources',
    'POST /redeliveries',
    'POST /tests/runs',
    'POST /tests/runs/{run_id}/cancel',
    'POST /tests/scenarios',
    'POST /tests/suites',
    'POST /tools',
    'POST /tools/test',
    'POST /tools/{tool_id}/test',
  ]);
  for (const { method, path, operation } of operations) {
    t.strictSame(operation.security, [{ bearer: [] }]);
    const schemas = [operation.requestBody, ...Object.values(operation.responses)].flatMap((content) =>
      Object.values(content?.content ?? {}).map(({ schema }) => schema),
    );
    for (const schema of schemas) {
      const examples = (schema['examples'] ?? []) as unknown[];
      const isForm = operation.requestBody?.content['multipart/form-data']?.schema === schema;
      t.ok(isForm || examples.length > 0, `${method} ${path} has an example`);
      const compiled = Compile(schema);
      for (const example of examples)
        t.ok(compiled.Check(example), `${method} ${path} ${JSON.stringify(compiled.Errors(example))}`);
    }
    t.ok(
      operation.responses['401'] && Object.keys(operation.responses).some((status) => status.startsWith('2')),
    );
  }
});

t.test('what is sent to webhooks is described, with examples', async (t) => {
  t.strictSame(Object.keys(webhooks), [
    'conversation.init',
    'call.ended',
    'call.analyzed',
    'phone_call.dial_finished',
    'phone_call.ended',
  ]);
  for (const [name, { post }] of Object.entries(webhooks)) {
    const isEvent = name !== 'conversation.init';
    const schema = post.requestBody?.content['application/json']?.schema ?? {};
    const [example] = schema['examples'] as [Json];
    const compiled = Compile(schema);
    t.ok(compiled.Check(example), `${name} ${JSON.stringify(compiled.Errors(example))}`);
    exactly(t, example, { event: name, ...(isEvent && { event_id: /^evt_/ }) });
    t.strictSame(
      post.parameters?.map((header) => header.name),
      [...(isEvent ? ['X-Svc-Webhook-Event-Id'] : []), 'X-Svc-Webhook-Signature'],
    );
    t.strictSame(post.security, []);
  }
});

const draws = new Draws(firstSeed());
const chance = (share: number): boolean => draws.chance(share);
const whole = (below: number): number => draws.below(below);

const ids = { agent_id: '', tool_id: '', source_id: '', version_number: '1' };
const renew = async (): Promise<void> => {
  ids.agent_id = await platform.agent();
  ids.tool_id = await platform.tool();
  ids.source_id = await platform.source();
};

const pathOf = (path: string): string =>
  path.replace(/\{(\w+)\}/g, (_, name: keyof typeof ids) =>
    encodeURIComponent(chance(0.1) ? draws.pick(['x', '\0', '%', 'ü', 'x'.repeat(300)]) : ids[name]),
  );

const queryOf = ({ parameters = [] }: Operation): string => {
  const members = parameters.filter((row) => row.in === 'query' && chance(0.3));
  const query = new URLSearchParams();
  for (const { name, schema } of members) query.set(name, wellFormed(textOf(valueOf(draws, schema, 0.2))));
  return query.toString();
};

function bodyOf(
  { requestBody }: Operation,
  broken: number,
): { raw?: string | FormData; headers?: Record<string, string> } {
  if (!requestBody || (!requestBody.required && chance(0.3))) return {};
  const [[type, { schema }] = ['', { schema: {} }]] = Object.entries(requestBody.content);
  if (type === 'multipart/form-data') {
    const fields = { name: 'Name', description: 'x', [chance(broken) ? 'other' : 'source']: new File(['text '.repeat(whole(50))], chance(broken) ? 'a.exe' : 'a.txt') }; // oxfmt-ignore
    return { raw: formOf(fields) };
  }
  const text = JSON.stringify(valueOf(draws, schema, broken));
  return { raw: chance(broken / 4) ? text.slice(1) : text, headers: { 'content-type': type } };
}

t.test(`requests out of the description are answered as it says, from seed ${firstSeed()}`, async (t) => {
  const schemas = new Map<Json, ReturnType<typeof Compile>>();
  const compiled = (schema: Json) => {
    const known = schemas.get(schema) ?? Compile(schema);
    schemas.set(schema, known);
    return known;
  };
  await renew();
  const statuses = new Map<number, number>();
  for (let round = 0; round < shortOrLong(15, 60); round++) {
    if (round % 5 === 4) await renew();
    for (const { path, method, operation } of operations) {
      const query = queryOf(operation);
      const sent = bodyOf(operation, draws.pick([0, 0, 0.05, 0.3]));
      const answer = await call(method, `${pathOf(path)}?${query}`, sent);
      statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
      const shown = `${method} ${path}?${query.slice(0, 80)} ${String(sent.raw).slice(0, 300)} → ${answer.status} ${answer.text.slice(0, 200)}`;
      const response = operation.responses[String(answer.status)];
      const schema = response?.content?.['application/json']?.schema;
      if (answer.status >= 500 || !response) t.fail(shown);
      else if (schema ? !compiled(schema).Check(answer.body) : answer.text !== '')
        t.fail(`another shape: ${shown}`);
    }
  }
  for (const status of [200, 201, 204, 400, 404, 422])
    t.ok((statuses.get(status) ?? 0) > 5, `${status}: ${statuses.get(status)}`);
});
