/**
 * docs/contract/limits.md: written by hand, but for the table of the bounds of fields, which is made from the descriptions
 * of the routes (those of /openapi.json), so that none can be missing.
 */
import fs from 'node:fs';
import { built } from './command.mjs';
import { inRoot } from './paths.mjs';

export const PAGE = 'docs/contract/limits.md';
const FROM = '<!-- bounds of fields: made by npm run generate -->\n';
const TO = '\n<!-- end of bounds -->';

const dialect = async (...path) => import(built('dist', 'gateway', 'dialects', ...path));

/** All routes that clients may call, with their descriptions; nothing is opened for them. */
async function routes() {
  const { defaultVocabulary: vocabulary } = await import(built('dist', 'contracts', 'vocabulary.js'));
  const parts = { vocabulary, pcmRates: new Map() };
  const [native, a, b, voices, platform, sessions, chats, calls, tests, numbers, operation] =
    await Promise.all([
      dialect('native', 'index.js'),
      dialect('protocol-a', 'index.js'),
      dialect('protocol-b', 'index.js'),
      dialect('voices', 'index.js'),
      dialect('platform', 'index.js'),
      dialect('platform', 'sessions', 'index.js'),
      dialect('platform', 'chats', 'index.js'),
      dialect('platform', 'calls', 'index.js'),
      dialect('platform', 'tests', 'index.js'),
      dialect('platform', 'phone-numbers.js'),
      dialect('operation', 'index.js'),
    ]);
  return [
    ...native.nativeDialect(parts).routes,
    ...a.protocolADialect(parts).routes.filter(({ path }) => path.startsWith('/v1/')),
    ...b.protocolBDialect(parts).routes,
    ...voices.voicesDialect(parts).routes,
    ...platform.platformDialect(parts).routes,
    ...sessions.sessionRoutes(parts),
    ...chats.chatRoutes(parts),
    ...calls.callRoutes(parts),
    ...tests.testRoutes(parts),
    ...numbers.phoneNumberRoutes(parts),
    ...operation.operationDialect(parts).routes,
  ];
}

const figure = (value) => value.toLocaleString('en-US', { maximumFractionDigits: 20 });

/** `1 to 120`, `at most 50`, `at least 1`. */
function span(min, max) {
  if (min !== undefined && max !== undefined) return `${figure(min)} to ${figure(max)}`;
  return max === undefined ? `at least ${figure(min)}` : `at most ${figure(max)}`;
}

/** Keywords of JSON Schema that bound a value, and what they count. */
const BOUNDS = [
  { min: 'minLength', max: 'maxLength', of: ' characters' },
  { min: 'minItems', max: 'maxItems', of: ' items' },
  { min: 'minProperties', max: 'maxProperties', of: ' entries' },
  { min: 'minimum', max: 'maximum', of: '' },
  { min: 'exclusiveMinimum', max: 'exclusiveMaximum', of: ', exclusive' },
];

const isOne = (schema, min, max) => (schema[max] ?? schema[min]) === 1;

const boundsOf = (schema) =>
  BOUNDS.filter(({ min, max }) => schema[min] > 0 || schema[max] !== undefined)
    .map(
      ({ min, max, of }) =>
        span(schema[min], schema[max]) + (isOne(schema, min, max) ? of.replace(/s$/, '') : of),
    )
    .join(', ');

/** The bounded values within a schema: their path in the document, and their bounds. */
function boundedIn(schema, path = '') {
  if (typeof schema !== 'object' || schema === null) return [];
  const bounds = boundsOf(schema);
  const within = (name) => (path === '' ? name : `${path}.${name}`);
  return [
    ...(bounds === '' ? [] : [{ path, bounds }]),
    ...Object.entries(schema.properties ?? {}).flatMap(([name, each]) => boundedIn(each, within(name))),
    ...Object.values(schema.patternProperties ?? {}).flatMap((each) => boundedIn(each, within('*'))),
    ...boundedIn(schema.additionalProperties, within('*')),
    ...boundedIn(schema.items, `${path}[]`),
    ...[schema.anyOf, schema.oneOf, schema.allOf].flatMap((some) =>
      (some ?? []).flatMap((each) => boundedIn(each, path)),
    ),
  ];
}

/** A configuration and a tool are the same wherever they stand. */
const fieldOf = (path) => path.replace(/^(config|tool)\./, '');

/** Request fields of one route with their bounds. `description` as in gateway/server/port.ts. */
const fieldsOf = ({ description }) =>
  [
    ...(description?.parameters ?? []).flatMap(({ name, in: place, schema }) =>
      boundedIn(schema, place === 'query' ? `?${name}` : name),
    ),
    ...Object.values(description?.requestBody ?? {}).flatMap((schema) => boundedIn(schema)),
  ].map(({ path, bounds }) => `| \`${fieldOf(path)}\` | ${bounds} |`);

const shownRoute = ({ method, path }) => `\`${method} ${path.replace('/v1/agent/', '…/')}\``;

/** The table's lines, each a field, its bounds, and the requests that have it. */
export function boundLines(described) {
  const found = new Map();
  for (const route of described)
    for (const row of fieldsOf(route)) found.set(row, new Set(found.get(row)).add(shownRoute(route)));
  return [...found].map(([row, where]) => `${row} ${[...where].join(', ')} |`);
}

/** The page with the table made anew. Throws where its place is missing. */
export async function generateBounds() {
  const page = fs.readFileSync(inRoot(PAGE), 'utf8');
  const [start, end] = [page.indexOf(FROM), page.indexOf(TO)];
  if (start < 0 || end < start) throw new Error(`${PAGE} has no place for the bounds of fields`);
  const table = ['| field | bounds | requests |', '| --- | --- | --- |', ...boundLines(await routes())];
  return `${page.slice(0, start)}${FROM}\n${table.join('\n')}\n${page.slice(end)}`;
}
