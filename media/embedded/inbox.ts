/** What a client sends on its data channels: messages and text for the agent, and RPC calls, which the agent refuses. */
import {
  type ChatMessage,
  type DataPacket,
  type DataStream_Header,
  DataStream_CompressionType,
  DataStream_OperationType,
} from '@livekit/protocol';
import { CHAT_TOPIC, TextStreams } from '../text-streams.js';
import type { DataReport } from '../wire.js';
import { readPacket, refusalOfCall } from './data.js';

/** Largest message of a client, and longest name of its topic. */
const MOST_MESSAGE_BYTES = 64 * 1024;
const MOST_TOPIC = 128;

export interface InboxParts {
  /** The agent's identity: what is for others is not read. */
  readonly agent: string;
  /** Monotonic, in milliseconds. */
  now(): number;
  report(report: DataReport): void;
  /** Sends these values to the client. */
  answer(values: readonly DataPacket['value'][]): void;
}

/** Whether a stream is new text in a form that we read: no file, no change of an earlier one, not compressed. */
const isNewText = ({ contentHeader, compression }: DataStream_Header): boolean =>
  contentHeader.case === 'textHeader' &&
  contentHeader.value.operationType === DataStream_OperationType.CREATE &&
  compression === DataStream_CompressionType.NONE;

export class Inbox {
  readonly #streams: TextStreams;

  constructor(private readonly parts: InboxParts) {
    this.#streams = new TextStreams(parts.now, parts.report);
  }

  receive(bytes: Uint8Array): void {
    const { value, destinationIdentities: to } = readPacket(bytes) ?? {};
    // Messages of older clients name nobody, or name their receivers elsewhere.
    if (value?.case === 'user') return this.#message(value.value.topic ?? '', value.value.payload);
    if (to?.length === 0 || to?.includes(this.parts.agent)) this.#forAgent(value);
  }

  #forAgent(value: DataPacket['value'] | undefined): void {
    if (value?.case === 'streamHeader') this.#begin(value.value);
    if (value?.case === 'streamChunk') {
      const { streamId, chunkIndex, content } = value.value;
      this.#streams.add(streamId, Number(chunkIndex), content);
    }
    if (value?.case === 'streamTrailer') this.#streams.end(value.value.streamId);
    if (value?.case === 'chatMessage') this.#chat(value.value);
    if (value?.case === 'rpcRequest') this.parts.answer(refusalOfCall(value.value.id));
  }

  #message(topic: string, payload: Uint8Array): void {
    if (topic.length > MOST_TOPIC) return;
    const tooLong = payload.length > MOST_MESSAGE_BYTES;
    this.parts.report({
      on: 'data',
      topic,
      ...(tooLong ? { payload: new Uint8Array(), tooLong } : { payload }),
    });
  }

  #begin(header: DataStream_Header): void {
    if (isNewText(header)) this.#streams.begin(header.streamId, header.topic, header.inlineContent);
  }

  /** A message of the older chat; changes and deletions of one are ignored. */
  #chat({ message, editTimestamp, deleted }: ChatMessage): void {
    if (editTimestamp === undefined && !deleted) this.#message(CHAT_TOPIC, Buffer.from(message));
  }
}
