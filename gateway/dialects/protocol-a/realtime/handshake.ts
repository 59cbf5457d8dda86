/**
 * The handshake of a realtime socket (docs/contract/protocol-a.md 5.1; docs/contract/decisions.md "Protocol A"): who calls, which kind
 * of session, which options. A wrong key refuses the upgrade; what else is wrong is said in band, then 1008.
 */
import { CLIENT_SECRET_PREFIX, type RedeemedSecret } from '../../../../contracts/ports/client-secrets.js';
import { ServiceError } from '../../../../contracts/errors.js';
import { findSynthesisModel, findTranscriptionModel } from '../../../../contracts/models.js';
import type { Caller } from '../../../../contracts/ports/identity.js';
import type { RequestTrace } from '../../../../contracts/ports/trace.js';
import type { NativeOptions } from '../../../../contracts/schemas/native-options.js';
import { hasOptionHeaders } from '../../../../contracts/schemas/option-sources.js';
import { authenticateKey, bearerToken, permitted } from '../../../server/auth.js';
import type { HttpRequest } from '../../../server/port.js';
import type { ProtocolAParts } from '../parts.js';
import { nativeOptions } from '../speech-params.js';
import {
  defaultSettings,
  readModel,
  readTranscription,
  type SessionKind,
  type Settings,
  updated,
} from './settings.js';
import type { RealtimeClient } from './state.js';

/** Answered where it was offered. */
export const SUBPROTOCOL = 'realtime';
const KEY_PROTOCOL = 'openai-insecure-api-key.';

/** Browsers cannot set headers: the key comes among the subprotocols. */
function offeredKey(headers: HttpRequest['headers']): string | undefined {
  const offered = headers.get('sec-websocket-protocol')?.split(/, */) ?? [];
  return offered.find((name) => name.startsWith(KEY_PROTOCOL))?.slice(KEY_PROTOCOL.length);
}

const keyOf = ({ headers, query }: HttpRequest): string | undefined =>
  bearerToken(headers) ?? query.get('api_key') ?? offeredKey(headers);

export interface RealtimeCaller {
  readonly caller: Caller;
  /** The client secret, where the key was one: its session, and how it is given back. */
  readonly secret?: RedeemedSecret;
}

/** Errors: those of `authenticateKey`, `overloaded`. */
export async function callerOf(request: HttpRequest, parts: ProtocolAParts): Promise<RealtimeCaller> {
  const key = keyOf(request);
  if (!key?.startsWith(CLIENT_SECRET_PREFIX))
    return { caller: await authenticateKey(key, parts.keys, request.permission) };
  const secret = await parts.clientSecrets.redeem(key);
  if (!secret) throw new ServiceError('invalid_key');
  try {
    return { caller: permitted(secret.caller, request.permission), secret };
  } catch (error) {
    secret.release();
    throw error;
  }
}

/** The kind is settled by the secret, else by the address: `?intent=transcription`, or a model that transcribes. */
function kindOf({ query }: HttpRequest, secret: RedeemedSecret | undefined, vendor: string): SessionKind {
  const type = secret?.session['type'];
  if (type === 'realtime' || type === 'transcription') return type;
  if (query.get('intent') === 'transcription') return 'transcription';
  return findTranscriptionModel(query.get('model') ?? '', vendor) ? 'transcription' : 'realtime';
}

/** `?model=`; clients that transcribe also name the model that would speak. */
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

function settingsOf(
  request: HttpRequest,
  secret: RedeemedSecret | undefined,
  parts: ProtocolAParts,
): Settings {
  const { vocabulary } = parts;
  const kind = kindOf(request, secret, vocabulary.vendor);
  const settings = { ...defaultSettings(kind, vocabulary), ...namedModel(kind, request, parts) };
  return secret ? updated(settings, secret.session, parts) : settings;
}

const NO_OPTIONS: NativeOptions = {};

/** The client of the session that begins. Errors: `Fault`, `ServiceError`. */
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
    caller,
    generationId,
    trace,
    options: hasOptions ? nativeOptions(headers, undefined, {}, vocabulary) : NO_OPTIONS,
    hasOptionHeaders: hasOptions,
    settings: settingsOf(request, secret, parts),
  };
}
