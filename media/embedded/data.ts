/** Packets of LiveKit's data channels: user messages, text streams, and RPC calls, which the agent refuses. */
import { randomBytes } from 'node:crypto';
import {
  DataPacket,
  DataPacket_Kind,
  DataStream_Chunk,
  DataStream_Header,
  DataStream_OperationType,
  DataStream_TextHeader,
  DataStream_Trailer,
  RpcAck,
  RpcError,
  RpcResponse,
  UserPacket,
} from '@livekit/protocol';
import { type TextOut, TRANSCRIPTION_TOPIC } from '../transcripts.js';

export const RELIABLE = '_reliable';

/** A packet must fit in one message of every client. */
export const MOST_PACKET_BYTES = 15_000;

export interface Sender {
  readonly identity: string;
  readonly sid: string;
}

export const sidOf = (prefix: 'RM' | 'PA' | 'TR' | 'ST'): string =>
  `${prefix}_${randomBytes(9).toString('hex')}`;

type Value = DataPacket['value'];

/** Writes the numbered packets of one channel. */
export class PacketWriter {
  #sequence = 0;

  packet({ identity, sid }: Sender, value: Value): Uint8Array {
    const kind = DataPacket_Kind.RELIABLE;
    return new DataPacket({
      kind,
      participantIdentity: identity,
      participantSid: sid,
      sequence: ++this.#sequence,
      value,
    }).toBinary();
  }

  message(from: Sender, topic: string, payload: Uint8Array): Uint8Array {
    const { identity: participantIdentity, sid: participantSid } = from;
    const value = new UserPacket({ participantIdentity, participantSid, payload, topic });
    return this.packet(from, { case: 'user', value });
  }
}

/** One text stream: a packet for its header, for each chunk, and for its trailer. */
export class TextStream implements TextOut {
  readonly #id = sidOf('ST');
  #chunks = 0;

  constructor(
    private readonly from: Sender,
    attributes: Record<string, string>,
    private readonly write: (from: Sender, value: Value) => void,
  ) {
    const contentHeader = {
      case: 'textHeader' as const,
      value: new DataStream_TextHeader({ operationType: DataStream_OperationType.CREATE }),
    };
    const value = new DataStream_Header({
      streamId: this.#id,
      timestamp: BigInt(Date.now()),
      topic: TRANSCRIPTION_TOPIC,
      mimeType: 'text/plain',
      attributes,
      contentHeader,
    });
    write(from, { case: 'streamHeader', value });
  }

  add(text: string): void {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length;) {
      let end = Math.min(bytes.length, at + MOST_PACKET_BYTES);
      // Do not split a UTF-8 character.
      while (end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
      const content = new Uint8Array(bytes.subarray(at, end));
      const value = new DataStream_Chunk({ streamId: this.#id, chunkIndex: BigInt(this.#chunks++), content });
      this.write(this.from, { case: 'streamChunk', value });
      at = end;
    }
  }

  end(attributes: Readonly<Record<string, string>> = {}): void {
    const value = new DataStream_Trailer({ streamId: this.#id, reason: '', attributes: { ...attributes } });
    this.write(this.from, { case: 'streamTrailer', value });
  }
}

/** The error of an RPC call to a method that does not exist, as LiveKit numbers it. */
const UNSUPPORTED_METHOD = { code: 1400, message: 'Method not supported at destination' };

/** The answers to an RPC call: the agent has no methods. */
export const refusalOfCall = (requestId: string): readonly Value[] => [
  { case: 'rpcAck', value: new RpcAck({ requestId }) },
  {
    case: 'rpcResponse',
    value: new RpcResponse({ requestId, value: { case: 'error', value: new RpcError(UNSUPPORTED_METHOD) } }),
  },
];

/** Undefined if it is not a packet. */
export function readPacket(bytes: Uint8Array): DataPacket | undefined {
  try {
    return DataPacket.fromBinary(bytes);
  } catch {
    return undefined;
  }
}
