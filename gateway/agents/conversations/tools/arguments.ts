/** Checks a tool's arguments, as a model wrote them, against those that the tool declares. */
import { isPlainObject } from '../../../../contracts/schemas/plain-object.js';
import type { ToolArgument } from '../../../../contracts/schemas/tool-arguments.js';
import type { ToolDefinition } from '../../../../contracts/schemas/tools.js';
import { chosen, typedValue } from '../../../../contracts/tools/argument-values.js';

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

/** JSON Schema of a tool's arguments. */
export const parametersOf = ({ arguments: declared }: ToolDefinition): object => ({
  type: 'object',
  properties: Object.fromEntries(
    declared.map(({ name, description, type, enum: choices }) => [
      name,
      { type, description, ...(choices && { enum: choices }) },
    ]),
  ),
  required: declared.flatMap(({ name, required }) => (required ? [name] : [])),
  additionalProperties: false,
});

/** The arguments as they are; the model is told the problem. */
export function readArguments(text: string): CheckedArguments {
  if (Buffer.byteLength(text) > MOST_BYTES) return { problem: 'The arguments are too long' };
  const values = parseArguments(text);
  return isPlainObject(values) ? { values } : { problem: 'The arguments must be a JSON object' };
}

const isAbsent = ({ type, enum: choices }: ToolArgument, value: unknown): boolean =>
  value === undefined || value === null || (value === '' && (type !== 'string' || choices !== null));

const KINDS: Readonly<Record<ToolArgument['type'], string>> = {
  string: 'a text',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
};

/** The value as the tool gets it, or what is wrong with it. */
function checkedValue(
  { name, type, enum: choices }: ToolArgument,
  given: unknown,
): { readonly value: unknown } | { readonly problem: string } {
  const value = typedValue(type, given);
  if (value === undefined) return { problem: `${name} must be ${KINDS[type]}` };
  if (!choices) return { value };
  const choice = chosen(choices, value);
  return choice === undefined
    ? { problem: `${name} must be one of ${choices.join(', ')}` }
    : { value: choice };
}

/** Keeps only declared arguments, in their types; those that may be left out and are, are absent. The model is told the problems. */
export function checkArguments(text: string, { arguments: declared }: ToolDefinition): CheckedArguments {
  const read = readArguments(text);
  if ('problem' in read) return read;
  const { values: given } = read;
  const absent = declared.filter((argument) => isAbsent(argument, given[argument.name]));
  const missing = absent.filter(({ required }) => required);
  if (missing.length > 0) return { problem: `Missing: ${missing.map(({ name }) => name).join(', ')}` };
  const values: Record<string, unknown> = {};
  const problems: string[] = [];
  for (const argument of declared.filter((each) => !absent.includes(each))) {
    const checked = checkedValue(argument, given[argument.name]);
    if ('problem' in checked) problems.push(checked.problem);
    else values[argument.name] = checked.value;
  }
  return problems.length > 0 ? { problem: problems.join('; ') } : { values };
}
