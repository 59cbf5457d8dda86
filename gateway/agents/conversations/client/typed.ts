/**
 * What a user types in clients that know LiveKit only (its components, starters and playground): text on `lk.chat`, and the
 * older JSON on `lk-chat-topic`. Each is a line of the user, as our own `user.message` is.
 */
import { isPlainObject } from '../../../../contracts/schemas/plain-object.js';

/** `lk.chat` carries the text itself, whether it came as a stream, as a chat message or as plain data. */
export const CHAT_TOPIC = 'lk.chat';
export const LEGACY_CHAT_TOPIC = 'lk-chat-topic';

/** Undefined where a newer client sends the same line as a stream, too, and says so (`ignoreLegacy`). */
function legacyText(json: string): string | undefined {
  try {
    const value = JSON.parse(json) as unknown;
    const { message, ignoreLegacy } = isPlainObject(value) ? value : {};
    return typeof message === 'string' && ignoreLegacy !== true ? message : undefined;
  } catch {
    return undefined;
  }
}

const READERS: Readonly<Record<string, (text: string) => string | undefined>> = {
  [CHAT_TOPIC]: (text) => text,
  [LEGACY_CHAT_TOPIC]: legacyText,
};

export const isTypedTopic = (topic: string): boolean => Object.hasOwn(READERS, topic);

/** The line of such a topic; undefined if it has none. */
export const typedText = (topic: string, payload: Uint8Array): string | undefined =>
  READERS[topic]?.(Buffer.from(payload).toString());
