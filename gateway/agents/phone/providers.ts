/**
 * The telephone providers, one row each. A new provider is a file of providers/, a row here, and one in contracts/phone/phone.ts.
 *
 * | column | what it says |
 * | --- | --- |
 * | `spoken` | its webhooks and streams; their signatures are checked by its `isSigned` |
 * | `dialling` | its API; absent if no calls are placed at it |
 * | `stream` | what shows in the handshake of a media stream that the stream is expected |
 *
 * Streams are proven at their handshake, because a stranger's WebSocket that has sent nothing yet looks like any other. Its first
 * message then says which call it carries, with the token of that call, or with numbers that the credentials are of.
 */
import { ServiceError } from '../../../contracts/errors.js';
import type { PhoneProvider } from '../../../contracts/phone/phone.js';
import type { HttpRequest } from '../../server/port.js';
import type { Dialling } from './dialling.js';
import type { Provider, StreamProvider } from './provider.js';
import { exotel } from './providers/exotel.js';
import { genesys } from './providers/genesys.js';
import { plivoDialling } from './providers/plivo-api.js';
import { plivo } from './providers/plivo.js';
import { telnyxDialling } from './providers/telnyx-api.js';
import { telnyx } from './providers/telnyx.js';
import { twilioDialling } from './providers/twilio-api.js';
import { twilio } from './providers/twilio.js';
import { vonageDialling } from './providers/vonage-api.js';
import { vonage } from './providers/vonage.js';
import type { Spoken } from './signed-callback.js';

interface Asking {
  readonly spoken: Provider;
  readonly dialling?: Dialling;
  /** The last part of the address that the answer to its webhook named (`StreamProofs`); all of them keep paths as they are. */
  readonly stream: 'proof';
}

interface Streaming {
  readonly spoken: StreamProvider;
  readonly dialling?: undefined;
  /** Credentials of a number: that of the token in the address, or any. */
  readonly stream: 'credentials';
}

export type ProviderRow = Asking | Streaming;

/** A provider of streams; SIP has none. */
export type StreamingProvider = Exclude<PhoneProvider, 'sip'>;

export const PROVIDERS: Readonly<Record<StreamingProvider, ProviderRow>> = {
  twilio: { spoken: twilio, dialling: twilioDialling, stream: 'proof' },
  telnyx: { spoken: telnyx, dialling: telnyxDialling, stream: 'proof' },
  plivo: { spoken: plivo, dialling: plivoDialling, stream: 'proof' },
  vonage: { spoken: vonage, dialling: vonageDialling, stream: 'proof' },
  exotel: { spoken: exotel, stream: 'credentials' },
  genesys: { spoken: genesys, stream: 'credentials' },
};

/** The providers at which calls are placed. */
export const DIALLING = Object.fromEntries(
  Object.entries(PROVIDERS).flatMap(([name, { dialling }]) => (dialling ? [[name, dialling]] : [])),
) as Readonly<Partial<Record<PhoneProvider, Dialling>>>;

/** The row that the request's path names. Errors: `not_found`. */
export function rowOf({ params }: Pick<HttpRequest, 'params'>): ProviderRow {
  const { provider = '' } = params;
  if (!Object.hasOwn(PROVIDERS, provider))
    throw new ServiceError('not_found', { message: 'No such provider' });
  return PROVIDERS[provider as StreamingProvider];
}

/** Errors: `not_found`. */
export function askingOf(request: Pick<HttpRequest, 'params'>): Provider {
  const { spoken } = rowOf(request);
  if ('incoming' in spoken) return spoken;
  throw new ServiceError('not_found', { message: 'This provider opens its media stream without asking' });
}

/** Errors: `not_found`. */
export function spokenOf(request: Pick<HttpRequest, 'params'>): Spoken {
  const provider = askingOf(request);
  const dialling = DIALLING[provider.name];
  if (!dialling) throw new ServiceError('not_found', { message: 'No calls are placed at this provider' });
  return { provider, dialling };
}
