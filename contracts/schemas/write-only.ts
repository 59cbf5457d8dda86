/**
 * Write-only secrets: reads show `has_secret` instead of a value, and the result of a read can be written back
 * (docs/contract/decisions.md 14).
 */
import { Type } from './type.js';

export const HasSecret = Type.Boolean({
  description: 'As reads show it: true with null or no value keeps the secret, false removes it.',
});

/**
 * Reads a secret out of a change: a new one, null to remove it, undefined to keep it. Absent keeps it; null is
 * how reads show it beside `has_secret: true`, and removes it otherwise; so does `has_secret: false`. An empty secret
 * is none.
 */
export function secretChange(
  value: string | null | undefined,
  hasSecret: boolean | undefined,
): string | null | undefined {
  if (value) return value;
  const isUntouched = value === undefined && hasSecret !== false;
  const isAsRead = value === null && hasSecret === true;
  return isUntouched || isAsRead ? undefined : null;
}

const IGNORED = 'May be sent as it was read, and is not looked at.';
const OWN = 'May be sent as it was read; another one is refused.';

/** Read-only members that a change may contain, so that the result of a read can be sent back whole. */
export const readOnly = {
  text: Type.Optional(Type.String({ readOnly: true, description: IGNORED })),
  flag: Type.Optional(Type.Boolean({ readOnly: true, description: IGNORED })),
  count: Type.Optional(Type.Integer({ readOnly: true, description: IGNORED })),
  /** An id of the changed object: see `foreignMembers`. */
  own: Type.Optional(Type.String({ readOnly: true, description: OWN })),
};

/** Members of `sent` that differ from `own`: such a change is meant for another object. */
export const foreignMembers = (sent: object, own: Readonly<Record<string, string>>): readonly string[] =>
  Object.keys(own).filter((name) => {
    const value = (sent as Readonly<Record<string, unknown>>)[name];
    return value !== undefined && value !== own[name];
  });
