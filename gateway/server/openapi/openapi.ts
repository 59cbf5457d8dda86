/** `/openapi.json`: OpenAPI 3.1 from the descriptions that routes carry (docs/contract/decisions.md 25). */
import { type Permission, rolesOf } from '../../../contracts/permissions.js';
import type { Dialect, Route, RouteDescription } from '../port.js';
import { NamedSchemas, operationIds } from './openapi-names.js';

type Schema = object;
type Content = Readonly<Record<string, Schema>>;

const PARAMETER = /\{(\w+)\??\}/g;
export const INFO = { title: 'Speech gateway', version: '1' };
const BEARER = { bearer: { type: 'http', scheme: 'bearer' } };

const GENERATION_ID = 'X-Generation-Id';
/** Headers of every response (rule 15). */
const HEADERS = {
  [GENERATION_ID]: { description: 'Names the request; the log has it, too', schema: { type: 'string' } },
};
const RESPONSE_HEADERS = { [GENERATION_ID]: { $ref: `#/components/headers/${GENERATION_ID}` } };

/** Name of the scheme for a dialect's own key header. */
const keyOf = ({ name }: Dialect): string => `${name}-key`;

/** How a request may carry its key: in the dialect's own header, if it has one, or as a bearer token. */
const securityOf = (dialect: Dialect): object[] => [
  ...(dialect.keyHeader === undefined ? [] : [{ [keyOf(dialect)]: [] }]),
  { bearer: [] },
];

const schemesOf = (dialects: readonly Dialect[]): object =>
  Object.fromEntries(
    dialects.flatMap((dialect) =>
      dialect.keyHeader === undefined
        ? []
        : [[keyOf(dialect), { type: 'apiKey', in: 'header', name: dialect.keyHeader }]],
    ),
  );

type Shown = (schema: Schema) => Schema;
const asItIs: Shown = (schema) => schema;

const wrapContent = (content: Content, shown: Shown): object =>
  Object.fromEntries(Object.entries(content).map(([type, schema]) => [type, { schema: shown(schema) }]));

const pathParameter = (name: string): object => ({
  name,
  in: 'path',
  required: true,
  schema: { type: 'string' },
});

function parametersOf(path: string, description: RouteDescription): object[] {
  const described = description.parameters ?? [];
  const inPath = [...path.matchAll(PARAMETER)].map((match) => match[1] ?? '');
  const missing = inPath.filter((name) => !described.some((row) => row.in === 'path' && row.name === name));
  return [...missing.map(pathParameter), ...described];
}

/** Adds the 403 for a key of another role, in the format of the 401; a route may have more reasons for 403. */
function withRefusedRoles(
  responses: RouteDescription['responses'],
  permission: Permission,
): RouteDescription['responses'] {
  const { 401: unknown, 403: own } = responses;
  if (permission === 'open' || !unknown) return responses;
  const roles = `The key is not of role ${rolesOf(permission).join(' or ')}`;
  const description = own ? `${own.description}. ${roles}` : roles;
  return { ...responses, 403: { ...unknown, ...own, description } };
}

/** `headers`: those of every response. */
const responsesOf = (
  { responses }: RouteDescription,
  permission: Permission,
  headers: object | undefined,
  shown: Shown,
): object =>
  Object.fromEntries(
    Object.entries(withRefusedRoles(responses, permission)).map(([status, { description, content }]) => [
      status,
      { description, ...(headers && { headers }), ...(content && { content: wrapContent(content, shown) }) },
    ]),
  );

/** What clients receive is shown by its name: answers, and the bodies of webhooks. */
function operationOf(
  dialect: Dialect,
  path: string,
  description: RouteDescription,
  permission: Permission,
  named: NamedSchemas,
): object {
  const { summary, requestBody, bodyIsOptional = false, tags = [dialect.name], auth = true } = description;
  const parameters = parametersOf(path, description);
  const received: Shown = (schema) => named.refer(schema);
  // A webhook has no path; somebody else answers it.
  const isWebhook = path === '';
  const body = requestBody && wrapContent(requestBody, isWebhook ? received : asItIs);
  return {
    summary,
    ...(description.description === undefined ? {} : { description: description.description }),
    tags,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(body && { requestBody: { required: !bodyIsOptional, content: body } }),
    responses: responsesOf(description, permission, isWebhook ? undefined : RESPONSE_HEADERS, received),
    security: auth ? securityOf(dialect) : [],
  };
}

function pathsOf(dialects: readonly Dialect[], named: NamedSchemas): Record<string, Record<string, object>> {
  const paths: Record<string, Record<string, object>> = {};
  const idOf = operationIds();
  const add = (dialect: Dialect, { method, path, permission, description }: Route): void => {
    if (!description) return;
    const shown = path.replace(PARAMETER, '{$1}');
    (paths[shown] ??= {})[method.toLowerCase()] = {
      operationId: idOf(description, shown),
      ...operationOf(dialect, shown, description, permission, named),
    };
  };
  for (const dialect of dialects) for (const route of dialect.routes) add(dialect, route);
  return paths;
}

const webhooksOf = (dialects: readonly Dialect[], named: NamedSchemas): Record<string, object> =>
  Object.fromEntries(
    dialects.flatMap((dialect) =>
      Object.entries(dialect.webhooks ?? {}).map(([name, description]) => [
        name,
        { post: operationOf(dialect, '', description, 'open', named) },
      ]),
    ),
  );

/** What does not depend on the client. */
function describe(dialects: readonly Dialect[]): object {
  const named = new NamedSchemas();
  const paths = pathsOf(dialects, named);
  const webhooks = webhooksOf(dialects, named);
  const schemas = named.all();
  return {
    components: {
      securitySchemes: { ...BEARER, ...schemesOf(dialects) },
      headers: HEADERS,
      ...(Object.keys(schemas).length > 0 && { schemas }),
    },
    paths,
    ...(Object.keys(webhooks).length > 0 && { webhooks }),
  };
}

/** The description, built when it is first asked for; the returned function adds the address that the client used. */
export function describeInterface(dialects: readonly Dialect[]): (baseUrl: string) => object {
  let described: object | undefined;
  return (baseUrl) => ({
    openapi: '3.1.0',
    info: INFO,
    servers: [{ url: baseUrl }],
    ...(described ??= describe(dialects)),
  });
}
