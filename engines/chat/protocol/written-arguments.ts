/** Arguments of a call that was written as text, as the JSON text of a call that a server tells. */
import type { ChatTool } from '../../../contracts/ports/chat.js';
import { isPlainObject } from '../../../contracts/schemas/plain-object.js';

/** Names of the parameters that are texts. */
function textsOf({ parameters }: ChatTool): ReadonlySet<string> {
  const { properties } = parameters as { readonly properties?: unknown };
  const all = isPlainObject(properties) ? Object.entries(properties) : [];
  return new Set(
    all.flatMap(([name, schema]) => (isPlainObject(schema) && schema['type'] === 'string' ? [name] : [])),
  );
}

/** Formats without types write `7` for the text "7", too. */
export function argumentsText(args: unknown, tool: ChatTool): string {
  if (typeof args === 'string') return args;
  const texts = textsOf(tool);
  return JSON.stringify(args, (name, value: unknown) =>
    texts.has(name) && (typeof value === 'number' || typeof value === 'boolean') ? String(value) : value,
  );
}
