/** Matches tool calls with the tools (by function or tool name) and arguments that tests name. */
import { functionNames } from '../../../contracts/tools/function-names.js';
import { isPlainObject } from '../../../contracts/schemas/plain-object.js';

export type WantedArguments = Readonly<Record<string, string | number | boolean>>;

const functionOf = (name: string): string => functionNames([{ id: '', name }]).get('') ?? name;

export const isTool = (named: string, functionName: string): boolean =>
  named === functionName || functionOf(named) === functionName;

/** The arguments in a call's JSON text; none if it is no object. */
export function argumentsIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text === '' ? '{}' : text);
    return isPlainObject(value) ? value : {};
  } catch {
    return {};
  }
}

/** Whether every wanted value is there; models write numbers as text, and the reverse. */
export const fits = (given: Readonly<Record<string, unknown>>, wanted: WantedArguments = {}): boolean =>
  Object.entries(wanted).every(([name, value]) => {
    const found = Object.hasOwn(given, name) ? given[name] : undefined;
    return found !== undefined && typeof found !== 'object' && String(found) === String(value);
  });
