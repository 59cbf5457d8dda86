/** What the participants of a room send as data: plain messages, text streams and chat, each as a topic and its bytes. */
import type { Room, TextStreamReader } from '@livekit/rtc-node';
import { systemClock } from '../../contracts/clock.js';
import { LIMITS } from '../../contracts/limits.js';
import { withTimeout } from '../../contracts/time/timeouts.js';
import { CHAT_TOPIC, TEXT_TOPICS } from '../text-streams.js';
import type { Rtc } from './rtc.js';

const { bytes: mostBytes, ms: longestMs, atOnce } = LIMITS.session.clientStreams;

/** A message, and the identity of its sender. */
export type Received = (
  from: string | undefined,
  topic: string,
  payload: Uint8Array,
  tooLong: boolean,
) => void;

/** The text of a stream; undefined if it is too long. Errors: if it breaks off. */
async function textOf(reader: TextStreamReader): Promise<string | undefined> {
  const parts: string[] = [];
  let bytes = 0;
  for await (const part of reader) {
    bytes += Buffer.byteLength(part);
    if (bytes > mostBytes) return undefined;
    parts.push(part);
  }
  return parts.join('');
}

/** Passes on all messages that come into the room. */
export function listenToData(rtc: Rtc, room: Room, received: Received): void {
  let reading = 0;
  const read = async (topic: string, reader: TextStreamReader, from: string): Promise<void> => {
    try {
      const text = await withTimeout(systemClock, longestMs, textOf(reader));
      received(from, topic, Buffer.from(text ?? ''), text === undefined);
    } finally {
      await reader.close();
    }
  };
  room.on(rtc.RoomEvent.DataReceived, (payload, from, _kind, topic = '') =>
    received(from?.identity, topic, payload, false),
  );
  room.on(rtc.RoomEvent.ChatMessage, ({ message, editTimestamp }, from) => {
    if (editTimestamp === undefined) received(from?.identity, CHAT_TOPIC, Buffer.from(message), false);
  });
  for (const topic of TEXT_TOPICS)
    room.registerTextStreamHandler(topic, (reader, { identity }) => {
      if (reading >= atOnce) return void reader.close().catch(() => undefined);
      reading += 1;
      // A stream that breaks off, or is never finished, is no message.
      void read(topic, reader, identity)
        .catch(() => undefined)
        .finally(() => (reading -= 1));
    });
}
