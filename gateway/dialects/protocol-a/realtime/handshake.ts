/**
 * The handshake of a realtime socket (docs/contract/protocol-a.md 5.1; docs/contract/decisions.md "Protocol A"): the caller, the kind
 * of session, the options. A wrong key refuses the upgrade; any other error is sent in band, then the socket closes with 1008.
 */
import { LRUCache } from 'lru-cache';
import {
  CLIENT_SECRET_PREFIX,
  type RedeemedSecret,
} from '../../../../contracts/ports/accounts/client-secrets.js';
import { ServiceError } from '../../../../contracts/errors.js';
import { inOrder } from '../../../../contracts/options/mapping.js';
import { findSynthesisModel, findTranscriptionModel } from '../../../../contracts/speech/models.js';
import { type Caller, live } from '../../../../contracts/ports/accounts/identity.js';
import type { RequestTrace } from '../../../../contracts/ports/trace.js';
import type { NativeOptions } from '../../../../contracts/schemas/native-options.js';
import { hasOptionHeaders } from '../../../../contracts/schemas/option-sources.js';
import { authenticateKey, bearerToken, permitted } from '../../../server/auth.js';
import type { HttpRequest } from '../../../server/port.js';
import type { ProtocolAParts } from '../parts.js';
import { carriedOptions } from '../speech-params.js';
import {
  defaultSettings,
  readModel,
  readTranscription,
  type SessionKind,
  type Settings,
  updated,
} from './settings.js';
import type { RealtimeClient } from './state.js';

/** Selected if the client offers it. */
export const SUBPROTOCOL = 'realtime';
const KEY_PROTOCOL = 'openai-insecure-api-key.';

/** The key among the offered subprotocols: browsers cannot set headers. */
function offeredKey(headers: HttpRequest['headers']): string | undefined {
  const offered = headers.get('sec-websocket-protocol')?.split(/, */) ?? [];
  return offered.find((name) => name.startsWith(KEY_PROTOCOL))?.slice(KEY_PROTOCOL.length);
}

export const keyOf = ({ headers, query }: HttpRequest): string | undefined =>
  bearerToken(headers) ?? query.get('api_key') ?? offeredKey(headers);

export interface RealtimeCaller {
  readonly caller: Caller;
  /** The client secret, if the key was one: its session, and how to release it. */
  readonly secret?: RedeemedSecret;
}

type Redeeming = Pick<ProtocolAParts, 'clientSecrets'>;

/** The client secret, if the key is one; at once if it is none. Errors: `invalid_key`, `overloaded`. */
export function redeemed(request: HttpRequest, parts: Redeeming): Promise<RedeemedSecret> | undefined {
  const key = keyOf(request);
  return key?.startsWith(CLIENT_SECRET_PREFIX) ? redeem(key, parts) : undefined;
}

async function redeem(key: string, { clientSecrets }: Redeeming): Promise<RedeemedSecret> {
  const secret = await clientSecrets.redeem(key);
  if (!secret) throw new ServiceError('invalid_key');
  return secret;
}

/** Errors: those of `authenticateKey`. */
export async function callerOf(
  request: HttpRequest,
  secret: RedeemedSecret | undefined,
  { keys }: Pick<ProtocolAParts, 'keys'>,
): Promise<RealtimeCaller> {
  if (!secret) return { caller: await authenticateKey(keyOf(request), keys, request.permission) };
  try {
    return { caller: permitted(secret.caller, request.permission), secret };
  } catch (error) {
    secret.release();
    throw error;
  }
}

/** The kind of session: that of the secret, else by the address (`?intent=transcription`, or a model that transcribes). */
function kindOf({ query }: HttpRequest, secret: RedeemedSecret | undefined, vendor: string): SessionKind {
  const type = secret?.session['type'];
  if (type === 'realtime' || type === 'transcription') return type;
  if (query.get('intent') === 'transcription') return 'transcription';
  return findTranscriptionModel(query.get('model') ?? '', vendor) ? 'transcription' : 'realtime';
}

/** The model of `?model=`. In a transcription session, a model that speaks is ignored: some clients name one there. */
function namedModel(
  kind: SessionKind,
  { query }: HttpRequest,
  { vocabulary }: ProtocolAParts,
): Partial<Settings> {
  const name = query.get('model');
  if (!name) return {};
  if (kind === 'realtime') return { model: readModel(name, vocabulary, 'model') };
  if (findSynthesisModel(name, vocabulary.vendor)) return {};
  return { transcription: readTranscription({ model: name }, vocabulary, 'model') };
}

/** Settings that sessions begin with, by vendor, kind and named model: one object for all of them (`shownText`). */
const beginnings = new LRUCache<string, Settings>({ max: 64 });

function beginningOf(kind: SessionKind, request: HttpRequest, parts: ProtocolAParts): Settings {
  const { vocabulary } = parts;
  const key = `${vocabulary.vendor} ${kind} ${request.query.get('model') ?? ''}`;
  const known = beginnings.get(key);
  if (known) return known;
  const made = { ...defaultSettings(kind, vocabulary), ...namedModel(kind, request, parts) };
  beginnings.set(key, made);
  return made;
}

function settingsOf(
  request: HttpRequest,
  secret: RedeemedSecret | undefined,
  parts: ProtocolAParts,
): Settings {
  const kind = kindOf(request, secret, parts.vocabulary.vendor);
  const settings = beginningOf(kind, request, parts);
  return secret ? updated(settings, secret.session, parts) : settings;
}

const NO_OPTIONS: NativeOptions = {};

/** The client of a new session. Errors: `Fault`, `ServiceError`. */
export function clientOf(
  request: HttpRequest,
  { caller, secret }: RealtimeCaller,
  parts: ProtocolAParts,
  trace: RequestTrace,
): RealtimeClient {
  const { headers, generationId } = request;
  const { vocabulary } = parts;
  const hasOptions = hasOptionHeaders(headers, vocabulary.headerPrefix);
  return {
    caller: live(caller),
    generationId,
    trace,
    options: hasOptions ? inOrder(carriedOptions(headers, undefined, vocabulary)) : NO_OPTIONS,
    hasOptionHeaders: hasOptions,
    settings: settingsOf(request, secret, parts),
  };
}
