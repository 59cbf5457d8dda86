/**
 * /openapi.json describes the platform truly: examples fit their schemas, and valid and broken requests made
 * from the schemas cause no server error and are answered in the described shape.
 */
import t from 'tap';
import { Compile } from 'typebox/compile';
import { shortOrLong } from '../fixtures/long.js';
import { formOf, type Json, sharedPlatform } from '../fixtures/platform.js';
import { pick, seeded } from '../fixtures/random.js';

const platform = await sharedPlatform(t);
const { call } = platform;

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema: Json }>>;
}
interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string; readonly schema: Json }[];
  readonly requestBody?: Required<Content> & { readonly required: boolean };
  readonly responses: Readonly<Record<string, Content>>;
  readonly security: readonly object[];
}

const { paths, webhooks } = (await call('GET', '/openapi.json')).body as {
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: Operation }>;
};
const operations = Object.entries(paths)
  .filter(([path]) => /^\/v1\/agent\/(agents|tools|knowledge-sources|deliveries|redeliveries|tests)/.test(path) && !/(preview|widget)$/.test(path))
  .flatMap(([path, methods]) => Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation }))); // oxfmt-ignore

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
  t.strictSame(Object.keys(webhooks), ['call.ended', 'call.analyzed', 'phone_call.ended']);
  for (const [name, { post }] of Object.entries(webhooks)) {
    const schema = post.requestBody?.content['application/json']?.schema ?? {};
    const [example] = schema['examples'] as [Json];
    const compiled = Compile(schema);
    t.ok(compiled.Check(example), `${name} ${JSON.stringify(compiled.Errors(example))}`);
    t.match(example, { event: name, event_id: /^evt_/ });
    t.strictSame(
      post.parameters?.map((header) => header.name),
      ['X-Svc-Webhook-Event-Id', 'X-Svc-Webhook-Signature'],
    );
    t.strictSame(post.security, []);
  }
});

const random = seeded(20_260_101);
const chance = (share: number): boolean => random() < share;
const whole = (below: number): number => Math.floor(random() * below);

const JUNK: readonly [unknown, ...unknown[]] = [null, 0, -1, 1.5, 1e308, true, '', 'x', '\0', '\ud800', '‮', [], {}, [null], { a: { b: [1] } }, 'x'.repeat(5000)]; // oxfmt-ignore

/** A value that roughly fits a schema; `broken` is the probability of a part that does not. */
function valueOf(schema: Json, broken: number): unknown {
  if (chance(broken)) return pick(random, JUNK);
  const { enum: values, const: constant, type } = schema;
  if (Array.isArray(values)) return pick(random, values as [unknown]);
  if (constant !== undefined) return constant;
  const kind = Array.isArray(type) ? pick(random, type as [string]) : type;
  switch (kind) {
    case 'object': {
      const properties = Object.entries((schema['properties'] ?? {}) as Record<string, Json>);
      const required = (schema['required'] ?? []) as string[];
      const kept = properties.filter(([name]) => required.includes(name) || chance(0.4));
      const members = kept.map(([name, inner]) => [name, valueOf(inner, broken)]);
      return Object.fromEntries(chance(broken) ? [...members, ['colour', 1]] : members);
    }
    case 'array': {
      const least = (schema['minItems'] as number | undefined) ?? 0;
      const most = Math.min(schema['maxItems'] as number, least + 3);
      return Array.from({ length: least + whole(most - least + 1) }, () =>
        valueOf(schema['items'] as Json, broken),
      );
    }
    case 'string': {
      if (schema['pattern'] !== undefined) return `a${whole(100)}`;
      const most = (schema['maxLength'] as number | undefined) ?? 30;
      const length = chance(0.1) ? most : whole(Math.min(most, 30)) + 1;
      return pick(random, ['https://a.example/', 'text ', '{{a}}', '漢字👍', '%2e']).repeat(200).slice(0, Math.min(length, 1000)); // oxfmt-ignore
    }
    case 'integer':
      return chance(0.5) ? (schema['minimum'] ?? 0) : (schema['maximum'] ?? 9);
    case 'boolean':
      return chance(0.5);
    case 'null':
      return null;
    default:
      return pick(random, JUNK);
  }
}

const ids = { agent_id: '', tool_id: '', source_id: '', version_number: '1' };
const renew = async (): Promise<void> => {
  ids.agent_id = await platform.agent();
  ids.tool_id = await platform.tool();
  ids.source_id = await platform.source();
};

const pathOf = (path: string): string =>
  path.replace(/\{(\w+)\}/g, (_, name: keyof typeof ids) =>
    encodeURIComponent(chance(0.1) ? pick(random, ['x', '\0', '%', 'ü', 'x'.repeat(300)]) : ids[name]),
  );

const queryOf = ({ parameters = [] }: Operation): string => {
  const members = parameters.filter((row) => row.in === 'query' && chance(0.3));
  const query = new URLSearchParams();
  for (const { name, schema } of members)
    query.set(name, String(valueOf(schema, 0.2)).replace(/[\ud800-\udfff]/gu, ''));
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
  const text = JSON.stringify(valueOf(schema, broken));
  return { raw: chance(broken / 4) ? text.slice(1) : text, headers: { 'content-type': type } };
}

t.test('requests out of the description are answered as it says', async (t) => {
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
      const sent = bodyOf(operation, pick(random, [0, 0, 0.05, 0.3]));
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
