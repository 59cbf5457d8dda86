/** Checks a tool's arguments, as a model wrote them, against those that the tool declares. */
import { isPlainObject } from '../../../../contracts/schemas/plain-object.js';
import type { ToolDefinition } from '../../../../contracts/schemas/tools.js';

/** Most bytes of all arguments together: a client tool's must fit in a message to the client. */
const MOST_BYTES = 64 * 1024;

export type CheckedArguments =
  | { readonly values: Readonly<Record<string, unknown>> }
  | { readonly problem: string };

/** Parses JSON text; empty text stands for no arguments. Undefined if it is invalid or too long. */
export function parseArguments(text: string): unknown {
  if (Buffer.byteLength(text) > MOST_BYTES) return undefined;
  try {
    return JSON.parse(text === '' ? '{}' : text) as unknown;
  } catch {
    return undefined;
  }
}

/** JSON Schema of a tool's arguments: all are text, and all are required. */
export const parametersOf = ({ arguments: declared }: ToolDefinition): object => ({
  type: 'object',
  properties: Object.fromEntries(
    declared.map(({ name, description }) => [name, { type: 'string', description }]),
  ),
  required: declared.map(({ name }) => name),
  additionalProperties: false,
});

/** The arguments as they are; the model is told the problem. */
export function readArguments(text: string): CheckedArguments {
  if (Buffer.byteLength(text) > MOST_BYTES) return { problem: 'The arguments are too long' };
  const values = parseArguments(text);
  return isPlainObject(values) ? { values } : { problem: 'The arguments must be a JSON object' };
}

/** Keeps only declared arguments. */
export function checkArguments(text: string, { arguments: declared }: ToolDefinition): CheckedArguments {
  const read = readArguments(text);
  if ('problem' in read) return read;
  const { values: given } = read;
  const missing = declared.filter(({ name }) => given[name] === undefined || given[name] === null);
  if (missing.length > 0) return { problem: `Missing: ${missing.map(({ name }) => name).join(', ')}` };
  return { values: Object.fromEntries(declared.map(({ name }) => [name, given[name]])) };
}
