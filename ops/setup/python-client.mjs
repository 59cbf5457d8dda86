/**
 * client/python/openapi.json: the part of /openapi.json from which the Python package is made when it is built (client/python/hatch_build.py):
 * the routes of the agent platform, without what only readers want. It is kept in git so that pip needs nothing of ours to build the
 * package, and so that a change of the API is seen by whoever reads the change.
 */
import fs from 'node:fs';
import { built } from './command.mjs';
import { buildConsole } from './console-build.mjs';
import { inRoot } from './paths.mjs';
import { productVersion } from './versions.mjs';

export const DESCRIPTION = 'client/python/openapi.json';

const IS_OURS = /^\/v1\/agent\//;
/** Keywords that no class or function is made of, and headers, which are the same in all answers. */
const LEFT_OUT = /^(examples|headers|x-.*|pattern|patternProperties)$/;

const isObject = (value) => typeof value === 'object' && value !== null;

/** A copy whose objects are changed, innermost first; but for those that hold schemas by the names of properties. */
function mapped(value, change, isByName = false) {
  if (Array.isArray(value)) return value.map((each) => mapped(each, change));
  if (!isObject(value)) return value;
  const parts = Object.entries(value).map(([key, part]) => [
    key,
    mapped(part, change, key === 'properties' && !isByName),
  ]);
  const copy = Object.fromEntries(parts);
  return isByName ? copy : change(copy);
}

const lean = (object) => Object.fromEntries(Object.entries(object).filter(([key]) => !LEFT_OUT.test(key)));

/** New values may be added to what clients receive: there, one of a list of words is a text. */
function withOpenSets({ enum: values, ...schema }) {
  if (values === undefined) return schema;
  const types = [...new Set(values.map((value) => (value === null ? 'null' : typeof value)))];
  return { ...schema, type: types.length === 1 ? types[0] : types };
}

const received = (schema) => mapped(schema, withOpenSets);

const operations = (methods) =>
  Object.fromEntries(
    Object.entries(methods).map(([method, operation]) => [
      method,
      { ...operation, responses: received(operation.responses) },
    ]),
  );

/** Of the whole description. */
export function pythonDescription({ openapi, info, paths, components }) {
  const ours = Object.entries(paths).filter(([path]) => IS_OURS.test(path));
  const { bearer } = components.securitySchemes;
  return {
    openapi,
    info: { ...info, version: productVersion() },
    paths: Object.fromEntries(ours.map(([path, methods]) => [path, operations(mapped(methods, lean))])),
    components: { schemas: received(mapped(components.schemas, lean)), securitySchemes: { bearer } },
  };
}

export async function generateDescription() {
  if (!fs.existsSync(inRoot('client', 'console', 'dist', 'index.html'))) await buildConsole();
  const { declaredDialects } = await import(built('dist', 'gateway', 'declared-routes.js'));
  const { describeInterface } = await import(built('dist', 'gateway', 'server', 'openapi', 'openapi.js'));
  const whole = describeInterface(declaredDialects())('');
  return `${JSON.stringify(pythonDescription(whole), null, 1)}\n`;
}
