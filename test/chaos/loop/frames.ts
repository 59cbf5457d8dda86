/** The worst frames of each socket: by size, nesting, number of nodes, and alphabet. */
import { encode } from '@msgpack/msgpack';
import { ALPHABETS, type Input, msgpackStructures, structures } from './inputs.js';

/** What is sent over a socket: `before` opens what the frame is for. */
export interface FrameInput {
  readonly name: string;
  readonly before?: readonly (string | Uint8Array)[];
  /** A string is sent as text. */
  readonly isText: boolean;
  readonly body: () => Buffer;
  /** How many of them are sent at once: once by default. */
  readonly times?: number;
}

/** So many that the stack reads thousands of them at once. */
const MANY = 100_000;

/** Small frames, each many times. */
const many = (
  rows: readonly (readonly [name: string, frame: string | Uint8Array])[],
  before?: FrameInput['before'],
): readonly FrameInput[] =>
  rows.map(([name, frame]) => ({
    name: `many of ${name}`,
    isText: typeof frame === 'string',
    body: () => Buffer.from(frame),
    times: MANY,
    ...(before && { before }),
  }));

const FEW = ['letters', 'one cyrillic word', 'han', 'quotes'];

const framed =
  (isText: boolean, before?: FrameInput['before']) =>
  ({ name, body }: Input): FrameInput => ({ name, isText, body, ...(before && { before }) });

/** JSON around a piece that is repeated until the frame is full. */
function jsonOf(head: string, piece: string, tail: string, bytes: number): Buffer {
  const count = Math.floor((bytes - head.length - tail.length) / Buffer.byteLength(piece));
  return Buffer.from(head + piece.repeat(Math.max(1, count)) + tail);
}

/** A frame for each row, full of its piece. */
const filledWith = (
  bytes: number,
  rows: readonly (readonly [name: string, head: string, piece: string, tail: string])[],
): readonly FrameInput[] =>
  rows.map(([name, head, piece, tail]) => ({
    name,
    isText: true,
    body: () => jsonOf(head, piece, tail, bytes),
  }));

const jsonStructures = (bytes: number, before?: FrameInput['before']): readonly FrameInput[] =>
  structures(bytes).map(framed(true, before));

/** Events of protocol A's realtime socket. */
export const realtimeFrames = (bytes: number): readonly FrameInput[] => [
  ...jsonStructures(bytes),
  ...filledWith(bytes, [
    ['append', '{"type":"input_audio_buffer.append","audio":"', 'AAAA', '"}'],
    ['append of another spelling', '{"audio":"', 'QUJD', '","type":"input_audio_buffer.append"}'],
    ['append with line ends', '{"type":"input_audio_buffer.append","audio":"', 'QUJD\\n', '"}'],
    ['append with escapes', '{"type":"input_audio_buffer.append","audio":"', '\\u0041AAA', '"}'],
    ['append of quotes', '{"type":"input_audio_buffer.append","audio":"', '\\"', '"}'],
    ['append that is no base64', '{"type":"input_audio_buffer.append","audio":"', 'AAA!', '"}'],
    [
      'item with audio',
      '{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_audio","audio":"',
      'AAAA',
      '"}]}}',
    ],
    ...FEW.map(
      (alphabet) =>
        [
          `item of ${alphabet}`,
          '{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[{"type":"input_text","text":"',
          JSON.stringify(ALPHABETS[alphabet]).slice(1, -1),
          '"}]}}',
        ] as const,
    ),
    ['unknown settings', '{"type":"session.update","session":{"instructions":"', 'п', '"}}'],
  ]),
  ...filledWith(Math.min(bytes, 400_000), [
    ['parts of an item', '{"type":"conversation.item.create","item":{"content":[', '{},', '0]}}'],
    ['settings of nodes', '{"type":"session.update","session":{"tools":[', '{},', '0]}}'],
  ]),
  ...many([
    ['append', '{"type":"input_audio_buffer.append","audio":"AAA="}'],
    ['clear', '{"type":"input_audio_buffer.clear"}'],
    ['item', '{"type":"conversation.item.create","item":{"type":"message","role":"user","content":[]}}'],
    ['no event', '{}'],
    ['no JSON', 'x'],
  ]),
];

/** Frames of protocol B's speech sockets. */
export const speechFrames = (bytes: number): readonly FrameInput[] => [
  ...jsonStructures(bytes, [JSON.stringify({ text: ' ' })]),
  ...FEW.flatMap((alphabet) => {
    const piece = JSON.stringify(ALPHABETS[alphabet]).slice(1, -1);
    return [
      ...filledWith(bytes, [[`text of ${alphabet}`, '{"text":"', piece, '","flush":true}']]),
      ...filledWith(1_000_000, [[`1 MB of ${alphabet}`, '{"text":"', piece, '","flush":true}']]),
    ];
  }),
  ...filledWith(Math.min(bytes, 300_000), [['unknown members', '{"text":"a","x":[', '{"a":null},', '0]}']]),
  ...many(
    [
      ['text', '{"text":"a"}'],
      ['words', '{"text":"Hello there, world. ","try_trigger_generation":true}'],
      ['blanks', '{"text":" "}'],
    ],
    [JSON.stringify({ text: ' ' })],
  ),
];

/** Frames of protocol B's realtime transcription. */
export const transcriptionFrames = (bytes: number): readonly FrameInput[] => [
  ...jsonStructures(bytes),
  ...filledWith(bytes, [
    ['chunk', '{"message_type":"input_audio_chunk","audio_base_64":"', 'AAAA', '"}'],
    ['chunk with line ends', '{"message_type":"input_audio_chunk","audio_base_64":"', 'QUJD\\n', '"}'],
    ['chunk of cyrillic', '{"message_type":"input_audio_chunk","audio_base_64":"', 'п', '"}'],
    ['previous text', '{"message_type":"input_audio_chunk","previous_text":"', 'п', '"}'],
  ]),
  ...many([
    ['chunk', '{"message_type":"input_audio_chunk","audio_base_64":"AAA="}'],
    ['no message', '{}'],
  ]),
];

const START = encode({ event: 'start', request: { text: '', format: 'pcm' } });

const liveFrame = (name: string, value: () => unknown, before?: FrameInput['before']): FrameInput => ({
  name,
  isText: false,
  body: () => Buffer.from(encode(value())),
  ...(before && { before }),
});

/** Frames of the native live sockets. */
export const liveFrames = (bytes: number): readonly FrameInput[] => [
  ...msgpackStructures(bytes).map(framed(false)),
  ...FEW.flatMap((alphabet) => {
    const piece = ALPHABETS[alphabet] ?? '';
    const text = (most: number): string => piece.repeat(Math.floor(most / Buffer.byteLength(piece)));
    return [
      liveFrame(`text of ${alphabet}`, () => ({ event: 'text', text: text(bytes - 1000) }), [START]),
      liveFrame(`1 MB of ${alphabet}`, () => ({ event: 'text', text: text(1_000_000) }), [START]),
      liveFrame(`start with ${alphabet}`, () => ({
        event: 'start',
        request: { text: text(bytes - 1000) },
      })),
    ];
  }),
  liveFrame('start with references', () => ({
    event: 'start',
    request: {
      text: '',
      references: Array.from({ length: 1000 }, () => ({
        audio: new Uint8Array(Math.floor(bytes / 1100)),
        text: 'a',
      })),
    },
  })),
  ...many(
    [
      ['text', encode({ event: 'text', text: 'a' })],
      ['flush', encode({ event: 'flush' })],
    ],
    [START],
  ),
];

/** Messages of a telephone provider's media stream; each provider has its own names for the same parts. */
export const phoneFrames = (bytes: number): readonly FrameInput[] => [
  ...jsonStructures(bytes),
  ...filledWith(bytes, [
    ['start of nodes', '{"event":"start","start":[', '{},', '0]}'],
    ['start of text', '{"event":"start","streamSid":"', 'п', '"}'],
    ['media', '{"event":"media","media":{"payload":"', 'AAAA', '"}}'],
    ['connected of text', '{"event":"websocket:connected","content-type":"', 'п', '"}'],
    ['open of nodes', '{"version":"2","type":"open","parameters":{"media":[', '{},', '0]}}'],
  ]),
  { name: 'audio', isText: false, body: () => Buffer.alloc(bytes, 1) },
  ...many([
    ['media', '{"event":"media","media":{"payload":"AAAA"}}'],
    ['nothing', '{}'],
    ['audio', Buffer.alloc(2)],
  ]),
];

/** Signalling: protobuf, and what is none. Tags of fields: a varint of zero, an empty one, groups that are nested. */
export const signalFrames = (bytes: number): readonly FrameInput[] => [
  ...(
    [
      ['zeros', [0]],
      ['unknown varints', [0xf8, 0x01, 0x00]],
      ['unknown empty fields', [0xfa, 0x01, 0x00]],
      ['nested groups', [0x0b]],
      ['empty offers', [0x0a, 0x00]],
      ['candidates', [0x1a, 0x02, 0x0a, 0x00]],
      ['long varint', [0xff]],
    ] as const
  ).map(([name, piece]) => ({
    name,
    isText: false,
    body: () => Buffer.alloc(bytes, Buffer.from(piece)),
  })),
  ...(
    [
      ['offer of lines', 'v=0\r\n'],
      ['offer of sections', 'm=audio 9 X 0\r\n'],
    ] as const
  ).map(([name, line]) => ({
    name,
    isText: false,
    body: () => offerOf(line.repeat(Math.floor((bytes - 100) / line.length))),
  })),
  ...jsonStructures(bytes),
  // A ping with a time, a trickled candidate, and an empty request.
  ...many([
    ['ping', Buffer.from([0x70, 0x01])],
    ['candidate', Buffer.from([0x1a, 0x02, 0x0a, 0x00])],
    ['nothing', Buffer.alloc(0)],
  ]),
];

const varint = (value: number): number[] =>
  value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)];

/** A SignalRequest whose offer has this SDP. */
function offerOf(sdp: string): Buffer {
  const text = Buffer.from(sdp);
  const session = Buffer.concat([
    Buffer.from([0x0a, 5]),
    Buffer.from('offer'),
    Buffer.from([0x12, ...varint(text.length)]),
    text,
  ]);
  return Buffer.concat([Buffer.from([0x0a, ...varint(session.length)]), session]);
}
