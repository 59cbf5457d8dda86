/** What strangers and tenants try at the doors of agents: chats (X12), sockets (X13), offers of WebRTC (X14), documents (X15). */
import { LIMITS } from '../../../contracts/limits.js';
import { RtcClient } from '../../fixtures/protocol-a/rtc-client.js';
import { unfoldingPdf } from '../../fixtures/knowledge/pdf.js';
import { type Attack, bearer, JSON_TYPE, KiB, MiB, ORIGIN, REST_MS, sized } from './attack.js';
import { ask, flood, leaveUnread, repeated, sendFrames } from './senders.js';
import type { Target } from './target.js';
import { count } from './told.js';

const CONVERSATION = '/compat/elevenlabs/v1/convai/conversation';

/** A message of the largest size, to which the model answers as long as it may (target.ts); nobody reads its stream. */
const chats: Attack = {
  name: 'X12 chats whose streams nobody reads',
  short: true,
  allowed: [200, 201, 409, 429, 503],
  seconds: 20,
  atOnce: 50,
  async run({ base, keys, attacker, agent }, told, size) {
    const body = JSON.stringify({ text: '語'.repeat(LIMITS.agentChat.message), stream: true });
    const headers = { ...bearer(keys.full), ...JSON_TYPE };
    await flood(sized(100, size), 50, async () => {
      const begun = await attacker('chats', { body: { agent_id: agent } });
      count(told, begun.status);
      if (begun.status !== 201) return;
      const chat = `chats/${String(begun.body['chat_id'])}`;
      const url = `${base}/v1/agent/${chat}/messages`;
      await leaveUnread(told, url, { method: 'POST', headers, body }, REST_MS * size);
      await attacker(chat, { method: 'DELETE' });
    });
  },
};

interface AgentSocket {
  readonly name: string;
  readonly path: (agent: string) => string;
  /** A message with as much base64. */
  readonly audio: (base64: string) => string;
}

const SOCKETS: readonly AgentSocket[] = [
  {
    name: 'A realtime',
    path: (agent) => `/v1/realtime?model=${agent}`,
    audio: (audio) => JSON.stringify({ type: 'input_audio_buffer.append', audio }),
  },
  {
    name: 'B conversation',
    path: (agent) => `${CONVERSATION}?agent_id=${agent}`,
    audio: (audio) => JSON.stringify({ user_audio_chunk: audio }),
  },
];

/** Half a second at 24 kHz, of noise, so that it may be speech. */
const noise = (): string =>
  Buffer.from(Array.from({ length: 24 * KiB }, (_, at) => (at * 7919 + (at >> 3)) % 251)).toString('base64');

const ofSockets = (make: (socket: AgentSocket) => Attack): readonly Attack[] => SOCKETS.map(make);

const sockets: readonly Attack[] = [
  ...ofSockets(({ name, path }) => ({
    name: `X13 ${name}, sockets of a public agent that say nothing`,
    allowed: ['stayed open', 429, 503, 1000, 1008, 1011, 1013],
    seconds: 15,
    atOnce: 20,
    async run({ base, agent }, told, size) {
      const opened = { path: path(agent), origin: ORIGIN.origin, frames: [], restMs: REST_MS };
      await Promise.all(Array.from({ length: sized(60, size) }, () => sendFrames(told, base, opened)));
    },
  })),
  ...ofSockets(({ name, path, audio }) => ({
    name: `X13 ${name}, audio faster than it is said`,
    ...(name === 'A realtime' && { short: true as const }),
    allowed: ['stayed open', 1000, 1008, 1009, 1011, 1013],
    seconds: 15,
    atOnce: 4,
    async run({ base, keys, agent }, told, size) {
      const frames = repeated(audio(noise()), sized(2000, size));
      await sendFrames(told, base, { path: path(agent), key: keys.full, frames, restMs: REST_MS });
    },
  })),
  ...ofSockets(({ name, path, audio }) => ({
    name: `X13 ${name}, frames above the limit without a key`,
    allowed: ['stayed open', 1006, 1008, 1009, 1013, 429, 503, 'ECONNRESET', 'EPIPE'],
    seconds: 10,
    atOnce: 4,
    async run({ base, agent }, told, size) {
      const frame = audio('A'.repeat(2 * LIMITS.socket.rtcFrameBytes));
      await flood(sized(40, size), 4, () =>
        sendFrames(told, base, {
          path: path(agent),
          origin: ORIGIN.origin,
          frames: repeated(frame, 2),
          restMs: 0,
        }),
      );
    },
  })),
];

/** The offer of a browser, without candidates. */
function realOffer(): string {
  const client = new RtcClient();
  try {
    return client.offer();
  } finally {
    client.close();
  }
}

const filledUp = (offer: string, line: string): string =>
  offer + line.repeat(Math.floor((LIMITS.agentRealtime.offerBytes - offer.length) / line.length));

/** Offers as large as they may be: lines and parts of media without end. */
const LINES = [
  'a=candidate:1 1 UDP 1 192.0.2.1 9 typ host\r\n',
  'a=rtpmap:96 opus/48000/2\r\n',
  'm=audio 9 UDP/TLS/RTP/SAVPF 111\r\n',
  'a=ssrc:1 cname:x\r\n',
];

const offering = ({ base, agent }: Target, told: Parameters<typeof ask>[0], body: string): Promise<void> =>
  ask(told, `${base}/v1/realtime/calls?model=${agent}`, {
    method: 'POST',
    headers: { origin: ORIGIN.origin, 'content-type': 'application/sdp' },
    body,
  });

const offers: readonly Attack[] = [
  {
    name: 'X14 offers of the largest size',
    allowed: [201, 400, 413, 429, 503],
    seconds: 10,
    atOnce: 4,
    async run(target, told, size) {
      const offer = realOffer();
      await flood(sized(100, size), 4, (turn) =>
        offering(target, told, filledUp(offer, LINES[turn % LINES.length] ?? '')),
      );
    },
  },
  {
    name: 'X14 offers that never connect',
    short: true,
    allowed: [201, 429, 503],
    seconds: 10,
    atOnce: 10,
    async run(target, told, size) {
      const offer = realOffer();
      await flood(sized(100, size), 10, () => offering(target, told, offer));
    },
  },
];

const uploading = ({ base, keys }: Target, told: Parameters<typeof ask>[0], file: File): Promise<void> => {
  const body = new FormData();
  body.set('source', file);
  return ask(told, `${base}/v1/agent/knowledge-sources`, {
    method: 'POST',
    headers: bearer(keys.full),
    body,
  });
};

const documents: readonly Attack[] = [
  {
    name: 'X15 a PDF that unfolds to gigabytes',
    short: true,
    allowed: [422, 429, 503],
    seconds: 5,
    atOnce: 4,
    async run(target, told, size) {
      const file = new File([unfoldingPdf(sized(4096, size))], 'a.pdf', { type: 'application/pdf' });
      await flood(sized(8, size), 4, () => uploading(target, told, file));
    },
  },
  {
    name: 'X15 a page of tags that nothing closes',
    allowed: [422, 429, 503],
    seconds: 5,
    atOnce: 4,
    async run(target, told, size) {
      const half = sized(LIMITS.document.bytes - MiB, size) / 2;
      const page = '<b>'.repeat(half / 3) + '</i>'.repeat(half / 4);
      const file = new File([page], 'a.html', { type: 'text/html' });
      await uploading(target, told, file);
    },
  },
];

export const agentAttacks: readonly Attack[] = [chats, ...sockets, ...offers, ...documents];
