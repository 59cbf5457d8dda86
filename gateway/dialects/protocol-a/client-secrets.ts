/**
 * `POST …/realtime/client_secrets`: issues a short-lived key for a browser, valid for one realtime socket at a time, with the
 * session that it opens (docs/contract/protocol-a.md 5.7; docs/contract/decisions.md "Protocol A"). The session is checked here as
 * in `session.update`, and completed when the socket opens.
 */
import { LIMITS } from '../../../contracts/limits.js';
import type { SecretSession } from '../../../contracts/ports/accounts/client-secrets.js';
import { checker, withoutNulls } from '../../../contracts/schemas/check.js';
import { invalid, valid } from '../../../contracts/schemas/valid.js';
import { authenticate } from '../../server/auth.js';
import { readJson } from '../../server/bodies/body.js';
import { answers } from '../../server/openapi/openapi-parts.js';
import { json } from '../../server/replies.js';
import { Fault } from './realtime/faults.js';
import {
  defaultSettings,
  type Settings,
  type SettingsParts,
  showSession,
  updated,
} from './realtime/settings.js';
import { suffixOf } from './realtime/state.js';
import { checkVoice } from './realtime/voice-check.js';
import { FAILURES, type ProtocolAHandler, type ProtocolARow } from './rows.js';
import { ClientSecret, ClientSecretBody } from './schema.js';

const checkBody = checker(ClientSecretBody);

const refused = (error: unknown): unknown =>
  error instanceof Fault ? invalid(error.message, error.param ?? 'session') : error;

/** The session's settings. Errors: `invalid_request` for what `session.update` would refuse. */
export function secretSettings(session: SecretSession, parts: SettingsParts): Settings {
  const kind = session['type'] === 'transcription' ? 'transcription' : 'realtime';
  try {
    return updated(defaultSettings(kind, parts.vocabulary), session, parts);
  } catch (error) {
    throw refused(error);
  }
}

/** Errors: `invalid_request`. */
function secretRequest(value: unknown): { readonly session: SecretSession; readonly ttlSeconds: number } {
  const { expires_after: wanted } = valid(checkBody(withoutNulls(value)));
  // Nulls stay: in a session, null can mean something other than absent.
  const { session } = value as { readonly session?: SecretSession | null };
  return {
    session: session ?? {},
    ttlSeconds: wanted?.seconds ?? LIMITS.clientSecret.ttlSeconds.default,
  };
}

const issueClientSecret: ProtocolAHandler = async (request, parts) => {
  const caller = await authenticate(request, parts.keys);
  const body = await readJson(request, LIMITS.clientSecret.bodyBytes);
  const { session, ttlSeconds } = secretRequest(body);
  const settings = secretSettings(session, parts);
  await checkVoice(settings, caller, parts).catch((error: unknown) => {
    throw refused(error);
  });
  const kept = { ...session, type: settings.kind };
  const { value, expiresAt } = await parts.clientSecrets.issue(caller, kept, ttlSeconds);
  const expires = Math.floor(expiresAt.getTime() / 1000);
  const shown = showSession(settings, `sess_${suffixOf(request.generationId)}`, expires);
  return json(200, { value, expires_at: expires, session: shown }, { 'cache-control': 'no-store' });
};

export const CLIENT_SECRET_ROWS: readonly ProtocolARow[] = [
  {
    method: 'POST',
    path: '/realtime/client_secrets',
    permission: 'speech',
    handler: issueClientSecret,
    description: {
      summary: 'Issue a short-lived key for a browser (protocol A, realtime)',
      requestBody: { 'application/json': ClientSecretBody },
      responses: {
        ...answers(200, 'The key, and the session it opens', ClientSecret),
        ...FAILURES,
      },
    },
  },
];
