/** Names of tools as models write them, brought back to the names under which the tools were offered. */

/** Tokens of a template that ended up in a name: `weather<|channel|>commentary`. */
const TOKENS = /<[|｜][^]*$/u;
/** Kimi numbers its calls in the name: `functions.weather:0`. */
const NUMBER = /:\d+$/;
const CALLED = /\(\s*\)$/;

/** Names of our own tools have letters, digits, `_` and `-`; models put a namespace in front of them. */
const NAMESPACE = /^.*[.:/]/s;

const alike = (name: string): string => name.toLowerCase().replace(/-/g, '_');

/** The offered name that is meant; undefined if there is none, or more than one. */
export function offeredName(written: string, offered: readonly string[]): string | undefined {
  if (offered.includes(written)) return written;
  const bare = written.replace(TOKENS, '').trim().replace(NUMBER, '').replace(CALLED, '');
  const last = bare.replace(NAMESPACE, '');
  for (const name of [bare, last]) if (offered.includes(name)) return name;
  const like = offered.filter((name) => alike(name) === alike(last));
  return like.length === 1 ? like[0] : undefined;
}
