/** Who gets to an agent, by its socket or by WebRTC (docs/contract/agent-realtime.md 1 and 7). */
import {
  CLIENT_SECRET_PREFIX,
  type RedeemedSecret,
} from '../../../contracts/ports/accounts/client-secrets.js';
import { ServiceError } from '../../../contracts/errors.js';
import type { Caller } from '../../../contracts/ports/accounts/identity.js';
import { carriedHere, type SocketCalls } from '../../../contracts/ports/calls/socket-calls.js';
import type { SocketClient, SocketSession } from '../../../contracts/ports/sessions/socket-sessions.js';
import type { PlainObject } from '../../../contracts/schemas/plain-object.js';
import { authenticateKey, permitted } from '../../server/auth.js';
import { networkOf } from '../../server/client-address.js';
import type { HttpRequest } from '../../server/port.js';
import { keyOf } from '../protocol-a/realtime/handshake.js';
import type { AgentRealtimeParts } from './parts.js';
import { type AgentSettings, changed, DEFAULT_SETTINGS, wantedOf } from './settings.js';

/** Who calls: the workspace of a key, or of the key that issued a secret, or a client without one. Errors: those of `authenticateKey`. */
export async function clientOf(
  request: HttpRequest,
  secret: RedeemedSecret | undefined,
  { keys }: AgentRealtimeParts,
): Promise<SocketClient & Partial<Pick<Caller, 'keyId'>>> {
  if (secret) return permitted(secret.caller, 'sessions');
  const key = keyOf(request);
  if (key === undefined) return { address: networkOf(request.clientAddress), headers: request.headers };
  if (key.startsWith(CLIENT_SECRET_PREFIX)) throw new ServiceError('invalid_key');
  return authenticateKey(key, keys, 'sessions');
}

/** The workspace of a key: strangers, and pages with a secret, have no business with calls that go on. Errors: those of `authenticateKey`. */
export function workspaceOf(request: HttpRequest, { keys }: AgentRealtimeParts): Promise<Caller> {
  const key = keyOf(request);
  if (key?.startsWith(CLIENT_SECRET_PREFIX))
    throw new ServiceError('forbidden', { message: 'A call is watched with a key of its workspace' });
  return authenticateKey(key, keys, 'sessions');
}

/** The settings that a client wishes before its call begins. Errors: `Fault`, those of `settle`. */
export async function settled(fields: PlainObject, session: SocketSession): Promise<AgentSettings> {
  const settings = changed(DEFAULT_SETTINGS, fields);
  const { overrides } = await session.settle(wantedOf(fields));
  return { ...settings, overrides };
}

export interface Ready {
  readonly session: SocketSession;
  readonly settings: AgentSettings;
  readonly calls: SocketCalls;
}

/** All checks, in the order of sessions. `wished`: fields of a session, beside those of the secret. Errors: those of creating a session, `Fault`. */
export async function ready(
  agentId: string,
  client: SocketClient,
  secret: RedeemedSecret | undefined,
  parts: AgentRealtimeParts,
  wished?: PlainObject,
): Promise<Ready> {
  if (secret && secret.session['model'] !== agentId)
    throw new ServiceError('forbidden', { message: 'This client secret is for another model' });
  const session = await parts.sessions.find(agentId, client);
  const settings =
    secret || wished ? await settled({ ...secret?.session, ...wished }, session) : DEFAULT_SETTINGS;
  const calls = carriedHere(parts.calls);
  calls.checkRoom();
  return { session, settings, calls };
}
