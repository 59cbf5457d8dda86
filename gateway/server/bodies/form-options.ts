/** Fields of a multipart form that hold more than text: JSON, or a path spelled out with brackets. */
import { parseJson } from './body.js';
import type { PlainObject } from '../../../contracts/schemas/plain-object.js';

/** The value of a field with JSON; undefined if it is not JSON, or exceeds the bounds of a body's JSON. */
export function jsonOf(text: string): unknown {
  try {
    return parseJson(Buffer.from(text));
  } catch {
    return undefined;
  }
}

/** The form's `provider.options`; undefined if it has none. */
export function providerOptionsOf(form: ReadonlyMap<string, readonly string[]>): unknown {
  const spelled = [...form].flatMap(([name, values]) => {
    const vendor = /^provider\[options\]\[([^\]]+)\]/.exec(name)?.[1];
    return vendor === undefined ? [] : [[vendor, values] as const];
  });
  if (spelled.length > 0) return Object.fromEntries(spelled);
  const provider = jsonOf(form.get('provider')?.at(-1) ?? 'null') as PlainObject | null | undefined;
  return provider?.['options'];
}
