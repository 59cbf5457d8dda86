/**
 * JSON that is stored and passed on unchanged. Parsing and writing it would change it: whole numbers beyond
 * 2^53 are rounded, `1.0` becomes `1`, members whose names are numbers move to the front, and of two members with one
 * name the first is lost.
 */
export class RawJson {
  /** `text` is valid JSON. */
  constructor(readonly text: string) {}

  /** Notifies `stringify`, because `JSON.stringify` cannot write it. */
  toJSON(): null {
    met = true;
    return null;
  }
}

/** Whether `JSON.stringify` has met one. */
let met = false;

const isUnwritten = (value: unknown): boolean => value === undefined || typeof value === 'function';

function members(value: object): string {
  const written = Object.entries(value)
    .filter(([, member]) => !isUnwritten(member))
    .map(([name, member]) => `${JSON.stringify(name)}:${splice(member)}`);
  return `{${written.join(',')}}`;
}

function splice(value: unknown): string {
  if (value instanceof RawJson) return value.text;
  if (typeof value !== 'object' || value === null || 'toJSON' in value) return JSON.stringify(value);
  if (!Array.isArray(value)) return members(value);
  return `[${value.map((item: unknown) => (isUnwritten(item) ? 'null' : splice(item))).join(',')}]`;
}

/** `JSON.stringify`, but writes every `RawJson` in the value unchanged; without one it costs no more. */
export function stringify(value: unknown): string {
  met = false;
  const written = JSON.stringify(value);
  return met ? splice(value) : written;
}

const BLANKS = new Set([' ', '\t', '\n', '\r']);

function skipBlanks(text: string, from: number): number {
  let at = from;
  while (BLANKS.has(text.charAt(at))) at += 1;
  return at;
}

/** Index after the closing quote of the string that begins at `from`. */
function endOfString(text: string, from: number): number {
  let at = from + 1;
  while (at < text.length && text.charAt(at) !== '"') at += text.charAt(at) === '\\' ? 2 : 1;
  return at + 1;
}

const DEPTH: Readonly<Record<string, number>> = { '{': 1, '[': 1, '}': -1, ']': -1 };
const BEHIND_SCALAR = /[,\]}\s]/g;

/** Index after the value that begins at `from`. */
function endOfValue(text: string, from: number): number {
  const first = text.charAt(from);
  if (first === '"') return endOfString(text, from);
  if (first !== '{' && first !== '[') {
    BEHIND_SCALAR.lastIndex = from;
    return BEHIND_SCALAR.exec(text)?.index ?? text.length;
  }
  let depth = 0;
  let at = from;
  do {
    if (text.charAt(at) === '"') at = endOfString(text, at);
    else depth += DEPTH[text.charAt(at++)] ?? 0;
  } while (depth > 0 && at < text.length);
  return at;
}

/**
 * The members of an object with the original texts of their values in `text`, which JSON.parse must accept. As in
 * JSON.parse, the last of several members with one name counts, and names may have escapes. Empty for anything but an object.
 */
export function memberTexts(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  let at = skipBlanks(text, 0);
  if (text.charAt(at) !== '{') return found;
  at = skipBlanks(text, at + 1);
  while (text.charAt(at) === '"') {
    const behindName = endOfString(text, at);
    const value = skipBlanks(text, skipBlanks(text, behindName) + 1);
    const end = endOfValue(text, value);
    found.set(JSON.parse(text.slice(at, behindName)) as string, text.slice(value, end));
    const comma = skipBlanks(text, end);
    at = skipBlanks(text, comma + 1);
  }
  return found;
}

/** The text of one member; undefined if there is none. */
export const memberText = (text: string, name: string): string | undefined => memberTexts(text).get(name);
