/**
 * A session's request as it is worked with: its shape checked, `metadata` as the text that came, a timezone that the
 * browser hints at only where it is one (docs/contract/platform.md 6.6: invalid values are ignored).
 */
import { LIMITS } from '../../../../contracts/limits.js';
import { isPlainObject } from '../../../../contracts/plain-object.js';
import { memberText, RawJson } from '../../../../contracts/raw-json.js';
import type { TSchema } from '../../../../contracts/schemas/type.js';
import { isTimezone } from '../../../../contracts/timezones.js';
import type { JsonBody } from '../bodies.js';
import { checked } from '../checked.js';
import { PreviewRequest, SessionRequest } from './schema.js';

export type WithRawMetadata<Request> = Omit<Request, 'metadata'> & { readonly metadata: RawJson };

/** All but the agent. */
export type Wanted = WithRawMetadata<Omit<SessionRequest, 'agent_id'>>;

const isHint = (value: unknown): boolean =>
  typeof value === 'string' && value.length <= LIMITS.session.timezone && isTimezone(value);

function withoutBadHint(body: unknown): unknown {
  if (!isPlainObject(body) || !('client_timezone' in body)) return body;
  const { client_timezone: hint, ...rest } = body;
  return isHint(hint) ? body : rest;
}

/** JSON.parse has checked that it is an object, or null, which is as good as none. */
function metadataIn(text: string): RawJson {
  const found = memberText(text, 'metadata') ?? 'null';
  return new RawJson(found === 'null' ? '{}' : found);
}

/** Errors of the result: `validation_failed`. */
export function reader<S extends TSchema>(schema: S) {
  const check = checked(schema);
  return ({ value, text }: JsonBody) => ({
    ...(check(withoutBadHint(value)) as object),
    metadata: metadataIn(text),
  });
}

export const sessionRequest = reader(SessionRequest) as (body: JsonBody) => WithRawMetadata<SessionRequest>;
export const previewRequest = reader(PreviewRequest) as (
  body: JsonBody,
) => Wanted & { readonly version_number?: number | null };
