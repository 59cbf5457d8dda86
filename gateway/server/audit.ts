/**
 * Requests that leave an entry in the audit trail of their workspace. Rows of route tables declare which do, and what is told of
 * them; here entries are made of that, for all dialects. A request that was refused, or failed, leaves none.
 */
import { isPlainObject } from '../../contracts/schemas/plain-object.js';
import type { Audited, AuditTrail, NewAuditEntry } from '../../contracts/ports/accounts/audit.js';
import { LIMITS } from '../../contracts/limits.js';
import type { Dialect, HttpRequest, Reply, Route } from './port.js';

const { text: longest } = LIMITS.audit;

/** The members of a JSON answer; none of any other. Answers of audited routes are short. */
function membersOf({ body, headers }: Reply): Readonly<Record<string, unknown>> {
  if (typeof body !== 'string' || headers?.['content-type'] !== 'application/json') return {};
  const value: unknown = JSON.parse(body);
  return isPlainObject(value) ? value : {};
}

/** A short text; null if it is something else. */
const told = (value: unknown): string | null =>
  typeof value === 'string' || typeof value === 'number' ? String(value).slice(0, longest) : null;

function entryOf(
  { action, subject, detail }: Audited,
  { params, facts, clientAddress }: HttpRequest,
  reply: Reply,
): NewAuditEntry | undefined {
  const { workspaceId, keyId, fields = [] } = facts;
  if (workspaceId === undefined || keyId === undefined) return undefined;
  const members = membersOf(reply);
  return {
    ...{ workspaceId, keyId, action, fields, address: clientAddress },
    subjectId: subject === undefined ? null : told(params[subject] ?? members[subject]),
    subjectName: told(members['name'] ?? members['title'] ?? members['phone_number']),
    detail: detail === undefined ? null : told(members[detail]),
  };
}

/** From here on it is an error. */
const REFUSED = 400;

const auditedRoute = (route: Route, trail: AuditTrail): Route => {
  const { audit, handler } = route;
  if (!audit) return route;
  return {
    ...route,
    async handler(request) {
      const reply = await handler(request);
      const entry = reply.status < REFUSED ? entryOf(audit, request, reply) : undefined;
      if (entry) await trail.note(entry);
      return reply;
    },
  };
};

export const auditedDialect = (dialect: Dialect, trail: AuditTrail): Dialect => ({
  ...dialect,
  routes: dialect.routes.map((route) => auditedRoute(route, trail)),
});

/** Notes the names of what a body sends, for the audit trail. */
export function noteFields(facts: HttpRequest['facts'] | undefined, value: unknown): void {
  if (!facts || !isPlainObject(value)) return;
  const { fields, text } = LIMITS.audit;
  facts.fields = Object.keys(value)
    .slice(0, fields)
    .map((name) => name.slice(0, text));
}
