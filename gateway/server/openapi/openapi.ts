/** `/openapi.json`: OpenAPI 3.1 from the descriptions that routes carry (docs/contract/decisions.md 25). */
import { randomUUID } from 'node:crypto';
import { type Permission, rolesOf } from '../../../contracts/permissions.js';
import type { Dialect, Route, RouteDescription } from '../port.js';
import type { PermissionOf } from '../router.js';

type Schema = object;
type Content = Readonly<Record<string, Schema>>;

const PARAMETER = /\{(\w+)\??\}/g;
export const INFO = { title: 'Speech gateway', version: '1' };
const BEARER = { bearer: { type: 'http', scheme: 'bearer' } };

const wrapContent = (content: Content): object =>
  Object.fromEntries(Object.entries(content).map(([type, schema]) => [type, { schema }]));

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

const responsesOf = ({ responses }: RouteDescription, permission: Permission): object =>
  Object.fromEntries(
    Object.entries(withRefusedRoles(responses, permission)).map(([status, { description, content }]) => [
      status,
      content ? { description, content: wrapContent(content) } : { description },
    ]),
  );

function operationOf(
  dialect: Dialect,
  path: string,
  description: RouteDescription,
  permission: Permission,
): object {
  const { summary, requestBody, bodyIsOptional = false, tags = [dialect.name], auth = true } = description;
  const parameters = parametersOf(path, description);
  return {
    summary,
    ...(description.description === undefined ? {} : { description: description.description }),
    tags,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(requestBody ? { requestBody: { required: !bodyIsOptional, content: wrapContent(requestBody) } } : {}),
    responses: responsesOf(description, permission),
    security: auth ? [{ bearer: [] }] : [],
  };
}

function pathsOf(
  dialects: readonly Dialect[],
  permissionOf: PermissionOf,
): Record<string, Record<string, object>> {
  const paths: Record<string, Record<string, object>> = {};
  const add = (dialect: Dialect, { method, path, description }: Route): void => {
    if (!description) return;
    const shown = path.replace(PARAMETER, '{$1}');
    const permission = permissionOf(method, path) ?? 'manage';
    (paths[shown] ??= {})[method.toLowerCase()] = operationOf(dialect, shown, description, permission);
  };
  for (const dialect of dialects) for (const route of dialect.routes) add(dialect, route);
  return paths;
}

const webhooksOf = (dialects: readonly Dialect[]): Record<string, object> =>
  Object.fromEntries(
    dialects.flatMap((dialect) =>
      Object.entries(dialect.webhooks ?? {}).map(([name, description]) => [
        name,
        { post: operationOf(dialect, '', description, 'open') },
      ]),
    ),
  );

/**
 * The description as bytes, which are made once: a megabyte takes tens of milliseconds, and whoever asks needs no key. Only the
 * address is put in for each client.
 */
export function interfaceBytes(describe: (baseUrl: string) => object): (baseUrl: string) => Uint8Array {
  let around: readonly Buffer[] | undefined;
  const made = (): readonly Buffer[] => {
    const place = randomUUID();
    return JSON.stringify(describe(place))
      .split(JSON.stringify(place))
      .map((part) => Buffer.from(part));
  };
  return (baseUrl) => {
    const [before, after] = (around ??= made());
    return Buffer.concat([before ?? Buffer.of(), Buffer.from(JSON.stringify(baseUrl)), after ?? Buffer.of()]);
  };
}

/** The description, built when it is first asked for; the returned function adds the address that the client used. */
export function describeInterface(
  dialects: readonly Dialect[],
  permissionOf: PermissionOf = () => undefined,
): (baseUrl: string) => object {
  let paths: ReturnType<typeof pathsOf> | undefined;
  const webhooks = webhooksOf(dialects);
  return (baseUrl) => ({
    openapi: '3.1.0',
    info: INFO,
    servers: [{ url: baseUrl }],
    components: { securitySchemes: BEARER },
    paths: (paths ??= pathsOf(dialects, permissionOf)),
    ...(Object.keys(webhooks).length > 0 && { webhooks }),
  });
}
