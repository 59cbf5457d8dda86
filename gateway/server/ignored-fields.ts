/**
 * Reports ignored fields, so that nobody has to wonder why they have no effect: one warning per request with their names, and for a socket
 * one for each name, however often its client repeats it.
 * Only names that look like identifiers are logged, since they are a client's text.
 */
import type { Log } from '../../contracts/log.js';
import { isPlainObject } from '../../contracts/schemas/plain-object.js';

const NAME = /^[A-Za-z_][\w.-]{0,63}$/;
const UNNAMED = '?';
/** Most names logged per request; the others are only counted. */
const MOST = 8;
/** Most names of which a socket's log tells. */
const MOST_OF_SOCKET = 32;

const named = (field: string): string => (NAME.test(field) ? field : UNNAMED);

/** Names of an object's fields that are neither empty (null, undefined) nor known. */
export function unknownFields(value: unknown, known: Readonly<Record<string, unknown>>): readonly string[] {
  if (!isPlainObject(value)) return [];
  const isEmpty = (field: unknown): boolean => field === null || field === undefined;
  return Object.keys(value).filter((name) => !Object.hasOwn(known, name) && !isEmpty(value[name]));
}

/** Logs nothing if there are none. */
export function warnOfIgnored(fields: readonly string[], generationId: string, log: Log): void {
  if (fields.length === 0) return;
  const names = fields.slice(0, MOST).map(named);
  log.warn({ generationId, fields: names, count: fields.length }, 'fields of a request were ignored');
}

/** What a socket's client has sent without effect. */
export class IgnoredOnce {
  readonly #told = new Set<string>();

  /** The names of those fields of which nothing was told yet. */
  fresh(fields: readonly string[]): readonly string[] {
    const left = MOST_OF_SOCKET - this.#told.size;
    const names = [...new Set(fields.map(named))].filter((name) => !this.#told.has(name)).slice(0, left);
    for (const name of names) this.#told.add(name);
    return names;
  }
}
