/**
 * Reports ignored fields, so that nobody has to wonder why they have no effect: one warning per request with their names.
 * Only names that look like identifiers are logged, since they are a client's text.
 */
import type { Log } from '../../contracts/log.js';
import { isPlainObject } from '../../contracts/schemas/plain-object.js';

const NAME = /^[A-Za-z_][\w.-]{0,63}$/;
const UNNAMED = '?';
/** Most names logged per request; the others are only counted. */
const MOST = 8;

/** Names of an object's fields that are neither empty (null, undefined) nor known. */
export function unknownFields(value: unknown, known: Readonly<Record<string, unknown>>): readonly string[] {
  if (!isPlainObject(value)) return [];
  const isEmpty = (field: unknown): boolean => field === null || field === undefined;
  return Object.keys(value).filter((name) => !Object.hasOwn(known, name) && !isEmpty(value[name]));
}

/** Logs nothing if there are none. */
export function warnOfIgnored(fields: readonly string[], generationId: string, log: Log): void {
  if (fields.length === 0) return;
  const named = fields.slice(0, MOST).map((name) => (NAME.test(name) ? name : UNNAMED));
  log.warn({ generationId, fields: named, count: fields.length }, 'fields of a request were ignored');
}
