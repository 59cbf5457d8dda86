/** `/v1/phone/{provider}`: webhooks and media streams of telephone providers (docs/phone.md). */
import { LIMITS } from '../../../contracts/limits.js';
import { nativeError } from '../../server/native-error.js';
import type { Dialect, Route, SocketRoute } from '../../server/port.js';
import { admit, answer, type AnsweringParts } from './answering.js';
import { answerPlaced, type CallbackParts, messageOf, noteAnswerer, notePlaced } from './callbacks.js';
import { type HandshakeParts, Handshakes } from './handshakes.js';
import type { PhoneCalls } from './phone-calls.js';
import type { IncomingCall } from './provider.js';
import { askingOf, rowOf, spokenOf } from './providers.js';
import { PhoneStream, type StreamParts } from './stream.js';
import type { StreamProofs, StreamTokens } from './stream-tokens.js';
import {
  answerColleague,
  documentOf,
  goOn,
  noteColleagueIs,
  noteTransfer,
  type TransferCallbackParts,
} from './transfer-callbacks.js';

export { DIALLING } from './providers.js';

export interface PhoneParts
  extends
    AnsweringParts,
    Omit<CallbackParts, 'numbers'>,
    Omit<StreamParts, 'calls' | 'tokens' | 'clock' | 'admit'> {
  readonly numbers: AnsweringParts['numbers'] & CallbackParts['numbers'] & HandshakeParts['numbers'];
  readonly calls: PhoneCalls | undefined;
  readonly tokens: StreamTokens;
  readonly proofs: StreamProofs;
  readonly clock: StreamParts['clock'];
  /** Undefined if this gateway carries no phone calls. */
  readonly transfers: Pick<TransferCallbackParts, 'transfers' | 'transferring'> | undefined;
}

/** Served while draining: rejecting the call says more than a 503. Under load it is shed, as it begins a call. */
const webhooks = (parts: PhoneParts): Route => ({
  method: 'POST',
  path: '/v1/phone/{provider}/answer/{token?}',
  // Authenticated by the provider's signature, and by the token it was given.
  permission: 'open',
  whileDraining: true,
  beginsCalls: true,
  handler: async (request) => answer(request, askingOf(request), parts),
});

/** Callbacks of placed calls, which continue while a gateway drains. */
const callbacks = (parts: PhoneParts): readonly Route[] =>
  Object.entries({
    answer: answerPlaced,
    message: messageOf,
    status: notePlaced,
    machine: noteAnswerer,
  }).map(([name, answered]) => ({
    method: 'POST',
    path: `/v1/phone/{provider}/calls/{call_id}/${name}`,
    // Authenticated by the provider's signature.
    permission: 'open',
    whileDraining: true,
    handler: async (request) => answered(request, spokenOf(request), parts),
  }));

/** Callbacks of callers who are connected to somebody else. */
const transferCallbacks = (parts: PhoneParts): readonly Route[] => {
  const { transfers } = parts;
  if (!transfers) return [];
  const names = {
    answer: answerColleague,
    status: noteTransfer,
    machine: noteColleagueIs,
    action: goOn,
    document: documentOf,
  };
  return Object.entries(names).map(([name, answered]) => ({
    method: 'POST',
    path: `/v1/phone/{provider}/transfers/{transfer_id}/${name}`,
    // Authenticated by the provider's signature.
    permission: 'open',
    whileDraining: true,
    handler: async (request) => answered(request, spokenOf(request), { ...parts, ...transfers }),
  }));
};

/** Media streams. Their calls were answered before, perhaps by another process, unless the provider asks nobody. */
function streams(calls: PhoneCalls, parts: PhoneParts): SocketRoute {
  const handshakes = new Handshakes(parts);
  return {
    path: '/v1/phone/{provider}/{token?}',
    // Authenticated by the provider's signature, or by the token it was given.
    permission: 'open',
    whileDraining: true,
    async upgrade(request) {
      const row = rowOf(request);
      const provider = row.spoken;
      const admits =
        row.stream === 'proof' ? undefined : (call: IncomingCall) => admit(call, request, provider, parts);
      return {
        maxFrameBytes: LIMITS.phone.frameBytes,
        // Calls end by their own longest duration.
        connectionMs: null,
        unauthenticated: true,
        provenAs: await handshakes.holderOf(request, row),
        open: (socket) => new PhoneStream(socket, provider, request, { ...parts, calls, admit: admits }),
      };
    },
  };
}

export const phoneDialect = (parts: PhoneParts): Dialect => ({
  name: 'phone',
  prefixes: ['/v1/phone'],
  routes: [webhooks(parts), ...callbacks(parts), ...transferCallbacks(parts)],
  sockets: parts.calls ? [streams(parts.calls, parts)] : [],
  errorReply: nativeError,
});
