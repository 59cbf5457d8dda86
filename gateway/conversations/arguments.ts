/** What a model wrote as a tool's arguments, checked against what the tool declares. */
import type { ToolDefinition } from '../../contracts/schemas/tools.js';

/** Of all arguments together: a client tool's must fit in a message to the client. */
const MOST_BYTES = 64 * 1024;

export type CheckedArguments =
  { readonly values: Readonly<Record<string, unknown>> } | { readonly problem: string };

function parse(text: string): unknown {
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

/** Only what is declared is kept; the problem is told to the model. */
export function checkArguments(text: string, { arguments: declared }: ToolDefinition): CheckedArguments {
  if (Buffer.byteLength(text) > MOST_BYTES) return { problem: 'The arguments are too long' };
  const given = parse(text);
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return { problem: 'The arguments must be a JSON object' };
  const values = given as Record<string, unknown>;
  const missing = declared.filter(({ name }) => values[name] === undefined || values[name] === null);
  if (missing.length > 0) return { problem: `Missing: ${missing.map(({ name }) => name).join(', ')}` };
  return { values: Object.fromEntries(declared.map(({ name }) => [name, values[name]])) };
}
