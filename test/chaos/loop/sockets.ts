/** Which frames each socket gets, and how a client opens it. A socket of the gateway that has no row here fails the run. */
import { LIMITS } from '../../../contracts/limits.js';
import { client, makeAgent } from '../../fixtures/platform/agents.js';
import type { Gateway } from '../../fixtures/gateway.js';
import type { DeclaredRoute } from '../../../gateway/declared-routes.js';
import { addressOf, type SessionInvite } from '../../fixtures/calls/signalling.js';
import { watchedCall } from '../../fixtures/protocol-a/watched-call.js';
import {
  type FrameInput,
  liveFrames,
  phoneFrames,
  realtimeFrames,
  signalFrames,
  speechFrames,
  transcriptionFrames,
} from './frames.js';
import { routeOf } from './route-names.js';

const MARGIN = 2000;
/** Longer than a frame takes. */
const WATCHED_MS = 30_000;
const { frameBytes, rtcFrameBytes } = LIMITS.socket;

export interface SocketInput extends FrameInput {
  /** Where its client connects; the key goes with it. */
  address(gateway: Gateway): Promise<string>;
}

const wsOf = ({ base }: Gateway): string => base.replace('http', 'ws');
const at =
  (path: string): SocketInput['address'] =>
  (gateway) =>
    Promise.resolve(wsOf(gateway) + path);

/** A new session of a new agent for each frame: whoever sends a bad one is put out. */
async function joining(gateway: Gateway, path: '/rtc/v1' | '/rtc'): Promise<string> {
  const call = client(gateway.base);
  const agent = await makeAgent(call);
  const { body } = await call('sessions', { body: { agent_id: agent } });
  const { media_url: url = wsOf(gateway), token = '' } = body as Partial<SessionInvite>;
  return addressOf({ media_url: url, token }, {}, path);
}

/** An agent's conversation by protocol B. */
const conversing: SocketInput['address'] = async (gateway) => {
  const agent = await makeAgent(client(gateway.base));
  return `${wsOf(gateway)}/compat/elevenlabs/v1/convai/conversation?agent_id=${agent}`;
};

/** A call of an agent, for somebody who watches it. */
const watching: SocketInput['address'] = async (gateway) =>
  wsOf(gateway) + (await watchedCall(gateway, await makeAgent(client(gateway.base)), WATCHED_MS));

const to =
  (address: SocketInput['address'], inputs: () => readonly FrameInput[]) => (): readonly SocketInput[] =>
    inputs().map((input) => ({ ...input, address }));

const speech = () => speechFrames(6 * LIMITS.streamInput.bufferedTextBytes + 32 * 1024);
const PHONES = ['twilio', 'plivo', 'telnyx', 'vonage', 'genesys', 'exotel'];

type Row = (path: string) => readonly SocketInput[];

const ROWS: Readonly<Record<string, Row>> = {
  'protocol-a SOCKET /realtime': (path) => [
    ...to(at(path), () => realtimeFrames(frameBytes - MARGIN))(),
    ...to(watching, () =>
      realtimeFrames(rtcFrameBytes - MARGIN).map((input) => ({ ...input, name: `watcher, ${input.name}` })),
    )(),
  ],
  'native SOCKET /v1/tts/live': (path) => to(at(path), () => liveFrames(frameBytes - MARGIN))(),
  'native SOCKET /v1/tts/live/with-timestamp': (path) =>
    to(at(path), () => liveFrames(frameBytes - MARGIN))(),
  'protocol-b SOCKET /compat/elevenlabs/v1/text-to-speech/{voice_id?}/stream-input': to(
    at('/compat/elevenlabs/v1/text-to-speech/default/stream-input'),
    speech,
  ),
  'protocol-b SOCKET /compat/elevenlabs/v1/text-to-speech/{voice_id?}/multi-stream-input': to(
    at('/compat/elevenlabs/v1/text-to-speech/default/multi-stream-input'),
    speech,
  ),
  'protocol-b SOCKET /compat/elevenlabs/v1/speech-to-text/realtime': (path) =>
    to(at(path), () => transcriptionFrames(frameBytes - MARGIN))(),
  'protocol-b SOCKET /compat/elevenlabs/v1/convai/conversation': to(conversing, () =>
    realtimeFrames(frameBytes - MARGIN),
  ),
  'phone SOCKET /v1/phone/{provider}/{token?}': () =>
    PHONES.flatMap((provider) =>
      to(at(`/v1/phone/${provider}`), () =>
        phoneFrames(LIMITS.phone.frameBytes - MARGIN).map((input) => ({
          ...input,
          name: `${provider}, ${input.name}`,
        })),
      )(),
    ),
  'media SOCKET /rtc/v1': to(
    (gateway) => joining(gateway, '/rtc/v1'),
    () => signalFrames(rtcFrameBytes - MARGIN),
  ),
  'media SOCKET /rtc': to(
    (gateway) => joining(gateway, '/rtc'),
    () => signalFrames(rtcFrameBytes - MARGIN),
  ),
  // Another node opens it, with a signature that nobody else can make: everybody else is refused at the handshake.
  'nodes SOCKET /nodes/signal': (path) =>
    to(at(path), () => [{ name: 'no signature', isText: true, body: () => Buffer.from('{}') }])(),
};

/** The frames of a socket; undefined if nobody has thought of any. */
export const framesOf = (route: DeclaredRoute): readonly SocketInput[] | undefined =>
  ROWS[routeOf(route)]?.(route.path);
