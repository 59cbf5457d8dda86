/**
 * Fields that are ignored where somebody may wonder why: one warning a request names them. Names only, and of those
 * only what looks like one, because a client's names are a client's text.
 */
import type { Log } from '../../contracts/log.js';
import { isPlainObject } from '../../contracts/plain-object.js';

const NAME = /^[A-Za-z_][\w.-]{0,63}$/;
const UNNAMED = '?';
/** Most names told of one request; the others are counted. */
const MOST = 8;

/** The names of an object's fields that say something and are none of those known. */
export function unknownFields(value: unknown, known: Readonly<Record<string, unknown>>): readonly string[] {
  if (!isPlainObject(value)) return [];
  return Object.entries(value).flatMap(([name, field]) =>
    field === null || field === undefined || Object.hasOwn(known, name) ? [] : [name],
  );
}

/** Says nothing where there are none. */
export function warnOfIgnored(fields: readonly string[], generationId: string, log: Log): void {
  if (fields.length === 0) return;
  const named = fields.slice(0, MOST).map((name) => (NAME.test(name) ? name : UNNAMED));
  log.warn({ generationId, fields: named, count: fields.length }, 'fields of a request were ignored');
}
