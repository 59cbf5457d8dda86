/** `/v1/phone/{provider}`: webhooks and media streams of telephone providers (docs/phone.md). */
import { ServiceError } from '../../contracts/errors.js';
import { LIMITS } from '../../contracts/limits.js';
import type { PhoneProvider } from '../../contracts/phone/phone.js';
import { nativeError } from '../server/native-error.js';
import type { Dialect, HttpRequest, Route, SocketRoute } from '../server/port.js';
import { admit, answer, type AnsweringParts } from './answering.js';
import { answerPlaced, type CallbackParts, messageOf, noteAnswerer, notePlaced } from './callbacks.js';
import type { Dialling } from './dialling.js';
import type { PhoneCalls } from './phone-calls.js';
import type { IncomingCall, Provider, StreamProvider } from './provider.js';
import type { Spoken } from './signed-callback.js';
import { exotel } from './providers/exotel.js';
import { genesys } from './providers/genesys.js';
import { plivoDialling } from './providers/plivo-api.js';
import { plivo } from './providers/plivo.js';
import { telnyx } from './providers/telnyx.js';
import { telnyxDialling } from './providers/telnyx-api.js';
import { twilioDialling } from './providers/twilio-api.js';
import { twilio } from './providers/twilio.js';
import { vonageDialling } from './providers/vonage-api.js';
import { vonage } from './providers/vonage.js';
import { PhoneStream, type StreamParts } from './stream.js';
import type { StreamTokens } from './stream-tokens.js';
import {
  answerColleague,
  documentOf,
  goOn,
  noteColleagueIs,
  noteTransfer,
  type TransferCallbackParts,
} from './transfer-callbacks.js';

export interface PhoneParts
  extends
    AnsweringParts,
    Omit<CallbackParts, 'numbers'>,
    Omit<StreamParts, 'calls' | 'tokens' | 'clock' | 'admit'> {
  readonly numbers: AnsweringParts['numbers'] & CallbackParts['numbers'];
  readonly calls: PhoneCalls | undefined;
  readonly tokens: StreamTokens;
  readonly clock: StreamParts['clock'];
  /** Undefined if this gateway carries no phone calls. */
  readonly transfers: Pick<TransferCallbackParts, 'transfers' | 'transferring' | 'runs'> | undefined;
}

/** Providers that open media streams. A new provider is a file, a line here, and one in contracts/phone/phone.ts. */
const PROVIDERS: Readonly<Record<Exclude<PhoneProvider, 'sip'>, Provider | StreamProvider>> = {
  ...{ twilio, telnyx, plivo, vonage },
  ...{ exotel, genesys },
};

/** The providers at which calls are placed. */
export const DIALLING: Readonly<Partial<Record<PhoneProvider, Dialling>>> = {
  twilio: twilioDialling,
  telnyx: telnyxDialling,
  plivo: plivoDialling,
  vonage: vonageDialling,
};

/** Errors: `not_found`. */
function providerOf({ params }: HttpRequest): Provider | StreamProvider {
  const { provider = '' } = params;
  if (!Object.hasOwn(PROVIDERS, provider))
    throw new ServiceError('not_found', { message: 'No such provider' });
  return PROVIDERS[provider as keyof typeof PROVIDERS];
}

/** Errors: `not_found`. */
function askingOf(request: HttpRequest): Provider {
  const provider = providerOf(request);
  if ('incoming' in provider) return provider;
  throw new ServiceError('not_found', { message: 'This provider opens its media stream without asking' });
}

/** Served while draining: rejecting the call says more than a 503. Under load it is shed, as it begins a call. */
const webhooks = (parts: PhoneParts): Route => ({
  method: 'POST',
  path: '/v1/phone/{provider}/answer',
  whileDraining: true,
  beginsCalls: true,
  handler: async (request) => answer(request, askingOf(request), parts),
});

/** Errors: `not_found`. */
function spoken(request: HttpRequest): Spoken {
  const provider = askingOf(request);
  const dialling = DIALLING[provider.name];
  if (!dialling) throw new ServiceError('not_found', { message: 'No calls are placed at this provider' });
  return { provider, dialling };
}

/** Callbacks of placed calls, which continue while a gateway drains. */
const callbacks = (parts: PhoneParts): readonly Route[] =>
  Object.entries({
    ...{ answer: answerPlaced, message: messageOf },
    ...{ status: notePlaced, machine: noteAnswerer },
  }).map(([name, answered]) => ({
    method: 'POST',
    path: `/v1/phone/{provider}/calls/{call_id}/${name}`,
    whileDraining: true,
    handler: async (request) => answered(request, spoken(request), parts),
  }));

/** Callbacks of callers who are connected to somebody else. */
const transferCallbacks = (parts: PhoneParts): readonly Route[] => {
  const { transfers } = parts;
  if (!transfers) return [];
  const names = {
    ...{ answer: answerColleague, status: noteTransfer, machine: noteColleagueIs },
    ...{ action: goOn, document: documentOf },
  };
  return Object.entries(names).map(([name, answered]) => ({
    method: 'POST',
    path: `/v1/phone/{provider}/transfers/{transfer_id}/${name}`,
    whileDraining: true,
    handler: async (request) => answered(request, spoken(request), { ...parts, ...transfers }),
  }));
};

/** Media streams. Their calls were answered before, perhaps by another process, unless the provider asks nobody. */
const streams = (calls: PhoneCalls, parts: PhoneParts): SocketRoute => ({
  path: '/v1/phone/{provider}',
  whileDraining: true,
  async upgrade(request) {
    const provider = providerOf(request);
    const admits =
      'incoming' in provider ? undefined : (call: IncomingCall) => admit(call, request, provider, parts);
    return {
      maxFrameBytes: LIMITS.phone.frameBytes,
      // Calls end by their own longest duration.
      connectionMs: null,
      unauthenticated: true,
      open: (socket) => new PhoneStream(socket, provider, request, { ...parts, calls, admit: admits }),
    };
  },
});

export const phoneDialect = (parts: PhoneParts): Dialect => ({
  name: 'phone',
  prefixes: ['/v1/phone'],
  routes: [webhooks(parts), ...callbacks(parts), ...transferCallbacks(parts)],
  sockets: parts.calls ? [streams(parts.calls, parts)] : [],
  errorReply: nativeError,
});
