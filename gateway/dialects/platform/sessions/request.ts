/**
 * Reads a session's request: checks its shape, keeps `metadata` as the received text and long whole numbers among the
 * variables with all their digits, and drops an invalid timezone hint of the browser (docs/contract/platform.md 6.6:
 * invalid values are ignored).
 */
import { LIMITS } from '../../../../contracts/limits.js';
import { isPlainObject } from '../../../../contracts/schemas/plain-object.js';
import { memberTexts, RawJson } from '../../../../contracts/text/raw-json.js';
import type { TSchema } from '../../../../contracts/schemas/type.js';
import { isTimezone } from '../../../../contracts/time/timezones.js';
import type { JsonBody } from '../bodies.js';
import { checked } from '../checked.js';
import { PreviewRequest, SessionRequest } from './schema.js';

export type WithRawMetadata<Request> = Omit<Request, 'metadata'> & { readonly metadata: RawJson };

/** The request without its agent. */
export type SessionFields = WithRawMetadata<Omit<SessionRequest, 'agent_id'>>;

const isHint = (value: unknown): boolean =>
  typeof value === 'string' && value.length <= LIMITS.session.timezone && isTimezone(value);

function withoutBadHint(body: unknown): unknown {
  if (!isPlainObject(body) || !('client_timezone' in body)) return body;
  const { client_timezone: hint, ...rest } = body;
  return isHint(hint) ? body : rest;
}

/** The body with its metadata empty: what is kept as text may hold characters that no other text does. */
const withoutContent = (body: unknown): unknown =>
  isPlainObject(body) && isPlainObject(body['metadata']) ? { ...body, metadata: {} } : body;

/** The metadata's text, known to be an object or null; null counts as absent. */
function metadataIn(members: ReadonlyMap<string, string>): RawJson {
  const found = members.get('metadata') ?? 'null';
  return new RawJson(found === 'null' ? '{}' : found);
}

const isRounded = (value: unknown): boolean => Number.isInteger(value) && !Number.isSafeInteger(value);
const DIGITS = /^-?\d+$/;

/** Replaces whole numbers beyond 2^53, which JSON.parse rounds, by their received digits: agents read them out. */
export function withAllDigits(variables: unknown, members: ReadonlyMap<string, string>): unknown {
  if (!isPlainObject(variables) || !Object.values(variables).some(isRounded)) return variables;
  const texts = memberTexts(members.get('dynamic_variables') ?? '');
  const exact = (name: string, value: unknown): unknown => {
    const text = texts.get(name) ?? '';
    return isRounded(value) && DIGITS.test(text) ? text : value;
  };
  return Object.fromEntries(Object.entries(variables).map(([name, value]) => [name, exact(name, value)]));
}

/** Errors of the result: `validation_failed`. */
export function reader<S extends TSchema>(schema: S) {
  const check = checked(schema);
  return ({ value, text }: JsonBody) => {
    const request = check(withoutBadHint(withoutContent(value))) as { readonly dynamic_variables?: unknown };
    const members = memberTexts(text);
    const variables = withAllDigits(request.dynamic_variables, members);
    return { ...request, dynamic_variables: variables, metadata: metadataIn(members) };
  };
}

export const sessionRequest = reader(SessionRequest) as (body: JsonBody) => WithRawMetadata<SessionRequest>;
export const previewRequest = reader(PreviewRequest) as (
  body: JsonBody,
) => SessionFields & { readonly version_number?: number | null };
