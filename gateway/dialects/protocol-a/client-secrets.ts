/**
 * `POST …/realtime/client_secrets`: issues a short-lived key for a browser, valid for one realtime socket at a time, with the
 * session that it opens (docs/contract/protocol-a.md 5.7; docs/contract/decisions.md "Protocol A"). The session is checked here as
 * in `session.update`, and completed when the socket opens.
 */
import { LIMITS } from '../../../contracts/limits.js';
import type { SecretSession } from '../../../contracts/ports/accounts/client-secrets.js';
import type { Caller, Identity } from '../../../contracts/ports/accounts/identity.js';
import { checker, withoutNulls } from '../../../contracts/schemas/check.js';
import { invalid, valid } from '../../../contracts/schemas/valid.js';
import { bearerToken, identify, permitted } from '../../server/auth.js';
import { readJson } from '../../server/bodies/body.js';
import { answers } from '../../server/openapi/openapi-parts.js';
import type { HttpRequest } from '../../server/port.js';
import { json } from '../../server/replies.js';
import { agentIn } from './agent-door.js';
import type { BaseParts } from './parts.js';
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

/** The session that a secret opens: as it is kept, and as it is shown. */
interface OpenedSession {
  readonly kept: SecretSession;
  show(expiresAt: number): object;
}

/** Errors: `invalid_request`. */
async function speechSession(
  session: SecretSession,
  caller: Caller,
  request: HttpRequest,
  parts: BaseParts,
): Promise<OpenedSession> {
  const settings = secretSettings(session, parts);
  await checkVoice(settings, caller, parts).catch((error: unknown) => {
    throw refused(error);
  });
  const id = `sess_${suffixOf(request.generationId)}`;
  return {
    kept: { ...session, type: settings.kind },
    show: (expiresAt) => showSession(settings, id, expiresAt),
  };
}

/** What the body asks for, and the agent that it is for. A key that may not issue speech secrets learns that before anything else. */
async function asked(request: HttpRequest, identity: Identity, { base, agents }: BaseParts) {
  try {
    const wanted = secretRequest(await readJson(request, LIMITS.clientSecret.bodyBytes));
    const agentId = base.agents ? agentIn(wanted.session['model']) : undefined;
    return { ...wanted, agent: agentId === undefined || !agents ? undefined : { agentId, agents } };
  } catch (error) {
    permitted(identity, request.permission);
    throw error;
  }
}

/** For a model that speaks or transcribes, or for a session with an agent, which takes a key that may make one. */
const issueClientSecret: ProtocolAHandler = async (request, parts) => {
  const identity = await identify(bearerToken(request.headers), parts.keys);
  request.authenticated(identity);
  const { session, ttlSeconds, agent } = await asked(request, identity, parts);
  const caller = permitted(identity, agent ? 'sessions' : request.permission);
  const { kept, show } = agent
    ? await agent.agents.secretSession(agent.agentId, session, caller).catch((error: unknown) => {
        throw refused(error);
      })
    : await speechSession(session, caller, request, parts);
  const { value, expiresAt } = await parts.clientSecrets.issue(caller, kept, ttlSeconds);
  const expires = Math.floor(expiresAt.getTime() / 1000);
  return json(200, { value, expires_at: expires, session: show(expires) }, { 'cache-control': 'no-store' });
};

export const CLIENT_SECRET_ROWS: readonly ProtocolARow[] = [
  {
    method: 'POST',
    path: '/realtime/client_secrets',
    permission: 'speech',
    handler: issueClientSecret,
    description: {
      summary: 'Issue a short-lived key for a browser (protocol A, realtime)',
      description:
        'Below `/v1`, an agent’s id as `session.model` makes it a key for a call with that agent: that takes a key that may create ' +
        'sessions.',
      requestBody: { 'application/json': ClientSecretBody },
      responses: {
        ...answers(200, 'The key, and the session it opens', ClientSecret),
        ...FAILURES,
      },
    },
  },
];
