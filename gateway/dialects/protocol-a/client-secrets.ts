/**
 * `POST …/realtime/client_secrets`: a short-lived key for a browser, good for one realtime socket at a time, and the
 * session that it opens (protocol-a.md 5.7; decisions.md "Protocol A"). The session is checked here, as
 * `session.update` would, and completed when the socket opens.
 */
import { LIMITS } from '../../../contracts/limits.js';
import { CLIENT_SECRET_PREFIX, type SecretSession } from '../../../contracts/ports/client-secrets.js';
import { checker, withoutNulls } from '../../../contracts/schemas/check.js';
import { invalid, valid } from '../../../contracts/schemas/valid.js';
import type { Vocabulary } from '../../../contracts/vocabulary.js';
import { authenticate } from '../../server/auth.js';
import { readJson } from '../../server/body.js';
import type { HttpRequest, Reply } from '../../server/port.js';
import type { Base } from './bases.js';
import { Fault } from './realtime/faults.js';
import { defaultSettings, type Settings, showSession, updated } from './realtime/settings.js';
import { suffixOf } from './realtime/state.js';
import type { ProtocolAParts } from './routes.js';
import { ClientSecretBody } from './schema.js';

export const isClientSecret = (key: string): boolean => key.startsWith(CLIENT_SECRET_PREFIX);

const checkBody = checker(ClientSecretBody);

/** What the session is set to. Errors: `invalid_request` for what `session.update` would refuse. */
export function secretSettings(session: SecretSession, vocabulary: Vocabulary): Settings {
  const kind = session['type'] === 'transcription' ? 'transcription' : 'realtime';
  try {
    return updated(defaultSettings(kind, vocabulary), session, vocabulary);
  } catch (error) {
    throw error instanceof Fault ? invalid(error.message, error.param ?? 'session') : error;
  }
}

/** Errors: `invalid_request`. */
function secretRequest(value: unknown): { readonly session: SecretSession; readonly ttlSeconds: number } {
  const { expires_after: wanted } = valid(checkBody(withoutNulls(value)));
  // As it came: in a session, null says more than that a field is absent.
  const { session } = value as { readonly session?: SecretSession | null };
  return {
    session: session ?? {},
    ttlSeconds: wanted?.seconds ?? LIMITS.clientSecret.ttlSeconds.default,
  };
}

export async function issueClientSecret(
  request: HttpRequest,
  _base: Base,
  parts: ProtocolAParts,
): Promise<Reply> {
  const caller = await authenticate(request, parts.keys);
  const body = await readJson(request, LIMITS.clientSecret.bodyBytes);
  const { session, ttlSeconds } = secretRequest(body);
  const settings = secretSettings(session, parts.vocabulary);
  const kept = { ...session, type: settings.kind };
  const { value, expiresAt } = await parts.clientSecrets.issue(caller, kept, ttlSeconds);
  const expires = Math.floor(expiresAt.getTime() / 1000);
  const shown = showSession(settings, `sess_${suffixOf(request.generationId)}`, expires);
  return {
    status: 200,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
    body: JSON.stringify({ value, expires_at: expires, session: shown }),
  };
}
