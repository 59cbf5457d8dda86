/**
 * The handshake of the live sockets (docs/contract/native.md 3): key and quota are checked before the upgrade,
 * so a refusal is an ordinary HTTP reply; the `model` header applies to every synthesis of the socket.
 */
import type { ServiceError } from '../../../contracts/errors.js';
import { live } from '../../../contracts/ports/accounts/identity.js';
import { WIRE_FRAME_BYTES } from '../../server/adapters/adapter.js';
import { authenticate } from '../../server/auth.js';
import type { HttpRequest, SocketAccept, SocketRoute } from '../../server/port.js';
import { type Observation, tracedSocket } from '../../server/tracing/trace-requests.js';
import { BARE_AUDIO, type LiveAudio, TIMED_AUDIO } from './live-audio.js';
import { LiveSession } from './live-session.js';
import { modelOf } from './speech-params.js';
import type { NativeParts } from './parts.js';

/** The sockets by path, and how each sends audio. */
const SOCKETS: readonly (readonly [path: string, audio: LiveAudio])[] = [
  ['/v1/tts/live', BARE_AUDIO],
  ['/v1/tts/live/with-timestamp', TIMED_AUDIO],
];

async function accept(
  request: HttpRequest,
  audio: LiveAudio,
  parts: NativeParts,
  observation: Observation,
): Promise<SocketAccept> {
  const { generationId } = request;
  const caller = live(await authenticate(request, parts.keys));
  await parts.speech.checkQuota(caller);
  const model = modelOf(request.headers.get('model'), parts.vocabulary.vendor);
  observation.model(model);
  const ended = (status: number, error?: ServiceError): void => {
    if (error) observation.refused(error);
    observation.end(status);
  };
  return {
    // Above the frame limit, so that a frame that exceeds it still gets an answer before the socket closes.
    maxFrameBytes: WIRE_FRAME_BYTES,
    open: (socket) =>
      new LiveSession(socket, { caller, model, audio, generationId, trace: observation }, parts, ended),
  };
}

export const liveSockets = (parts: NativeParts): readonly SocketRoute[] =>
  SOCKETS.map(([path, audio]) =>
    tracedSocket({ path, permission: 'speech' }, parts, (request, observation) =>
      accept(request, audio, parts, observation),
    ),
  );
