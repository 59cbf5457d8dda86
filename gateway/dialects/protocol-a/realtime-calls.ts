/**
 * `POST /v1/realtime/calls`: a browser's offer of a WebRTC connection, for a call with an agent, and the hang-up of such a call
 * (docs/contract/agent-realtime.md 7). Models that speak or transcribe have no calls.
 */
import {
  CLIENT_SECRET_PREFIX,
  type RedeemedSecret,
} from '../../../contracts/ports/accounts/client-secrets.js';
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import { isPlainObject, type PlainObject } from '../../../contracts/schemas/plain-object.js';
import { Type } from '../../../contracts/schemas/type.js';
import { invalid } from '../../../contracts/schemas/valid.js';
import { authenticateKey } from '../../server/auth.js';
import { mediaType, parseJson, readAll } from '../../server/bodies/body.js';
import { readMultipart } from '../../server/bodies/multipart.js';
import type { HttpRequest } from '../../server/port.js';
import { agentIn, agentNamed, type RealtimeOffer } from './agent-door.js';
import type { BaseParts } from './parts.js';
import { keyOf, redeemed } from './realtime/handshake.js';
import { FAILURES, type ProtocolAHandler, type ProtocolARow } from './rows.js';

const { offerBytes, offerSessionBytes } = LIMITS.agentRealtime;
const SDP = 'application/sdp';

type Sent = Pick<RealtimeOffer, 'sdp' | 'session'>;

/** Errors: `invalid_request`, `payload_too_large`. */
function sdpOf(text: string | undefined): string {
  if (text === undefined || !text.startsWith('v=0'))
    throw invalid('sdp must be the session description of an offer', 'sdp');
  if (text.length > offerBytes) throw new ServiceError('payload_too_large', { param: 'sdp' });
  return text;
}

/** Errors: `invalid_request`, `malformed_body`, `payload_too_large`. */
function sessionOf(text: string | undefined): PlainObject | undefined {
  if (text === undefined || text === '') return undefined;
  if (text.length > offerSessionBytes) throw new ServiceError('payload_too_large', { param: 'session' });
  const session = parseJson(Buffer.from(text));
  if (isPlainObject(session)) return session;
  throw invalid('session must be an object', 'session');
}

async function fromForm(request: HttpRequest): Promise<Sent> {
  const limits = { bodyBytes: 2 * offerSessionBytes, fileBytes: offerSessionBytes };
  const { fields, files } = await readMultipart(request, limits);
  /** As a field, or as the file that a browser makes of a `Blob`. */
  const textOf = (name: string): string | undefined => {
    const file = files.get(name);
    return file ? Buffer.from(file.bytes).toString() : fields.get(name)?.at(-1);
  };
  return { sdp: sdpOf(textOf('sdp')), session: sessionOf(textOf('session')) };
}

/** The offer and the session beside it. Errors: `unsupported_media_type`, `invalid_request`, those of reading a body. */
async function sentBy(request: HttpRequest): Promise<Sent> {
  const type = mediaType(request.headers);
  if (type === 'multipart/form-data') return fromForm(request);
  if (type !== SDP) throw new ServiceError('unsupported_media_type', { param: 'content-type' });
  return { sdp: sdpOf(Buffer.from(await readAll(request, offerBytes)).toString()), session: undefined };
}

const onlyAgents = (): ServiceError =>
  new ServiceError('model_not_found', {
    message: 'Calls by WebRTC are for agents: the model must be the id of one',
    param: 'model',
  });

/** A key that may not call is told so before its offer is looked at. Errors: those of `authenticateKey`. */
async function checkKey(
  request: HttpRequest,
  secret: RedeemedSecret | undefined,
  { keys }: BaseParts,
): Promise<void> {
  const key = keyOf(request);
  if (secret || key === undefined || key.startsWith(CLIENT_SECRET_PREFIX)) return;
  await authenticateKey(key, keys, 'sessions');
}

/** Answers the offer, for the agent that the address, the session or the client secret names. */
const call: ProtocolAHandler = async (request, parts, observation) => {
  const secret = await redeemed(request, parts);
  const { agents } = parts;
  try {
    await checkKey(request, secret, parts);
    const sent = await sentBy(request);
    const agentId = agentNamed(request) ?? agentIn(sent.session?.['model'] ?? secret?.session['model']);
    if (!agents || agentId === undefined) throw onlyAgents();
    observation.model(agentId);
    const { callId, sdp } = await agents.offered(request, { ...sent, agentId }, secret);
    const headers = {
      'content-type': SDP,
      location: `/v1/realtime/calls/${callId}`,
      'cache-control': 'no-store',
    };
    return { status: 201, headers, body: sdp };
  } catch (error) {
    // Whoever has answered it has released it; that does no harm a second time.
    secret?.release();
    throw error;
  }
};

const hangUp: ProtocolAHandler = async (request, { agents }: BaseParts) => {
  if (!agents) throw new ServiceError('not_found');
  await agents.hangUp(request);
  return { status: 200, headers: { 'content-type': 'application/json' }, body: '{}' };
};

const Sdp = Type.String({ description: 'A session description (RFC 8866)' });

const OfferForm = Type.Object({
  sdp: Sdp,
  session: Type.Optional(
    Type.String({ description: 'The session as JSON, as in `session.update`; `model` is the agent’s id' }),
  ),
});

export const REALTIME_CALL_ROWS: readonly ProtocolARow[] = [
  {
    method: 'POST',
    path: '/realtime/calls',
    permission: 'sessions',
    handler: call,
    description: {
      summary: 'Call an agent by WebRTC (protocol A, realtime)',
      description:
        'The browser’s offer, and the answer to it: one line of audio with Opus in both directions, and the data channel ' +
        '`oai-events` with the events of the realtime socket. `?model=` is the agent’s id, unless the session or the client ' +
        'secret names it. `Location` names the call.',
      requestBody: { 'application/sdp': Sdp, 'multipart/form-data': OfferForm },
      responses: {
        201: { description: 'The answer', content: { 'application/sdp': Sdp } },
        ...FAILURES,
      },
    },
  },
  {
    method: 'POST',
    path: '/realtime/calls/{call_id}/hangup',
    permission: 'sessions',
    // Calls that run must end during a drain as well.
    whileDraining: true,
    handler: hangUp,
    description: {
      summary: 'Hang up a call by WebRTC (protocol A, realtime)',
      responses: {
        200: { description: 'It ends', content: { 'application/json': Type.Object({}) } },
        ...FAILURES,
      },
    },
  },
];
