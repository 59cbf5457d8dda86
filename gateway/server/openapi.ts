/** `/openapi.json`: OpenAPI 3.1 from the descriptions that routes carry (decisions.md, fine point 25). */
import type { Dialect, Route, RouteDescription } from './port.js';

type Schema = object;
type Content = Readonly<Record<string, Schema>>;

const PARAMETER = /\{(\w+)\??\}/g;
const INFO = { title: 'Speech gateway', version: '1' };
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

const responsesOf = ({ responses }: RouteDescription): object =>
  Object.fromEntries(
    Object.entries(responses).map(([status, { description, content }]) => [
      status,
      content ? { description, content: wrapContent(content) } : { description },
    ]),
  );

function operationOf(dialect: Dialect, path: string, description: RouteDescription): object {
  const { summary, requestBody, bodyIsOptional = false, tags = [dialect.name], auth = true } = description;
  const parameters = parametersOf(path, description);
  return {
    summary,
    ...(description.description === undefined ? {} : { description: description.description }),
    tags,
    ...(parameters.length > 0 ? { parameters } : {}),
    ...(requestBody ? { requestBody: { required: !bodyIsOptional, content: wrapContent(requestBody) } } : {}),
    responses: responsesOf(description),
    security: auth ? [{ bearer: [] }] : [],
  };
}

function pathsOf(dialects: readonly Dialect[]): Record<string, Record<string, object>> {
  const paths: Record<string, Record<string, object>> = {};
  const add = (dialect: Dialect, { method, path, description }: Route): void => {
    if (!description) return;
    const shown = path.replace(PARAMETER, '{$1}');
    (paths[shown] ??= {})[method.toLowerCase()] = operationOf(dialect, shown, description);
  };
  for (const dialect of dialects) for (const route of dialect.routes) add(dialect, route);
  return paths;
}

/** Builds the description once; the result adds the address that it is asked by. */
export function describeInterface(dialects: readonly Dialect[]): (baseUrl: string) => object {
  const paths = pathsOf(dialects);
  return (baseUrl) => ({
    openapi: '3.1.0',
    info: INFO,
    servers: [{ url: baseUrl }],
    components: { securitySchemes: BEARER },
    paths,
  });
}
