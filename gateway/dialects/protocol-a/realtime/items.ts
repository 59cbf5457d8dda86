/**
 * Reads conversation items from the wire and shows them there (docs/contract/protocol-a.md 5.3 and 5.4). Only messages: no
 * function calls, no images.
 */
import type { TakenAudio } from '../../../../actors/incoming-audio.js';
import {
  type ConversationItem,
  type ItemPart,
  type ItemRole,
  textBytesOf,
} from '../../../../actors/realtime-items.js';
import { decodeBase64 } from '../../../../contracts/text/base64.js';
import { LIMITS } from '../../../../contracts/limits.js';
import { checker, withoutNulls } from '../../../../contracts/schemas/check.js';
import { type Static, Type } from '../../../../contracts/schemas/type.js';
import { DecodedBase64 } from '../../../server/frames/long-json.js';
import { Fault } from './faults.js';

const optional = Type.Optional;
const { min, max } = LIMITS.realtime.idLength;

const Part = Type.Object({
  type: Type.Enum(['input_text', 'input_audio', 'output_text', 'output_audio']),
  text: optional(Type.String()),
  /** Base64, decoded already if it is long. */
  audio: optional(Type.Unknown()),
  transcript: optional(Type.String()),
});
type Part = Static<typeof Part>;

const Message = Type.Object({
  type: optional(Type.Literal('message')),
  id: optional(Type.String({ minLength: min, maxLength: max })),
  role: Type.Enum(['user', 'assistant', 'system']),
  content: Type.Array(Part, { minItems: 1, maxItems: LIMITS.realtime.itemParts }),
});

const checkMessage = checker(Message, 'item');

const PARTS: Readonly<Record<ItemRole, readonly Part['type'][]>> = {
  user: ['input_text', 'input_audio'],
  assistant: ['output_text', 'output_audio'],
  system: ['input_text'],
};

const invalid = (message: string, param: string): Fault => new Fault('invalid_event', message, param);

/** Removes null members, in parts as well: null means absent. */
function normal(value: unknown): unknown {
  const item = withoutNulls(value) as { readonly content?: unknown } | undefined;
  return Array.isArray(item?.content) ? { ...item, content: item.content.map(withoutNulls) } : item;
}

function checkedMessage(value: unknown, param: string): Static<typeof Message> {
  const checked = checkMessage(normal(value));
  if (checked.ok) return checked.value;
  // Items of other types lack most fields of a message: their type is what is wrong with them.
  const wrongType = checked.problems.find(({ loc }) => loc[0] === 'type');
  const { message, loc } = wrongType ?? checked.problems[0];
  throw invalid(message, [param, ...loc].join('.'));
}

const isAudio = ({ type }: Part): boolean => type === 'input_audio' || type === 'output_audio';

/** Errors: `Fault` for a part that the role does not have, or that lacks its content. */
function readPart(part: Part, role: ItemRole, param: string): ItemPart {
  const { type, text, audio, transcript } = part;
  if (!PARTS[role].includes(type)) throw invalid(`An item of the ${role} has no ${type}`, `${param}.type`);
  if (!isAudio(part)) {
    if (text === undefined) throw invalid(`missing field ${param}.text`, `${param}.text`);
    return { type, text };
  }
  if (audio === undefined && transcript === undefined)
    throw invalid(`missing field ${param}.audio`, `${param}.audio`);
  return { type, transcript: transcript ?? null };
}

function decodeAudio(base64: unknown, param: string): Uint8Array {
  const isDecoded = base64 instanceof DecodedBase64;
  if (!isDecoded && typeof base64 !== 'string') throw invalid(`${param} must be of type string`, param);
  const audio = isDecoded ? base64.bytes : decodeBase64(base64);
  if (audio && audio.length > 0) return audio;
  throw invalid(`${param} is no base64 of audio`, param);
}

/** Errors: `Fault` if several parts hold audio. */
function audioOf(content: readonly Part[], param: string): Uint8Array | undefined {
  const [first, second] = content.flatMap(({ audio }, at) => (audio === undefined ? [] : [{ audio, at }]));
  if (second) throw invalid('An item holds audio in one part at most', `${param}.content.${second.at}`);
  return first && decodeAudio(first.audio, `${param}.content.${first.at}.audio`);
}

export interface ReadItem {
  readonly item: ConversationItem;
  readonly audio: Uint8Array | undefined;
}

/** Reads the item to create, with the client's id or a new one. Errors: `Fault`. */
export function readItem(value: unknown, newId: () => string, param = 'item'): ReadItem {
  const { id, role, content } = checkedMessage(value, param);
  const parts = content.map((part, at) => readPart(part, role, `${param}.content.${at}`));
  if (textBytesOf({ parts }) > LIMITS.realtime.itemTextBytes)
    throw new Fault('conversation_too_large', 'An item holds at most 1 MiB of text', `${param}.content`);
  const unspoken = role === 'user' && parts.some(({ type }) => type === 'input_text');
  const audio = audioOf(content, param);
  return {
    item: { id: id ?? newId(), role, status: 'completed', parts, unspoken, untranscribed: undefined },
    audio,
  };
}

/** The user's item that a commit creates; `audio` is undefined if it is not transcribed. */
export const audioItem = (id: string, audio: TakenAudio | undefined): ConversationItem => ({
  id,
  role: 'user',
  status: 'completed',
  parts: [{ type: 'input_audio', transcript: null }],
  unspoken: false,
  untranscribed: audio,
});

/** Index of the part with an item's audio; -1 if it has none. */
export const audioPartOf = ({ parts }: ConversationItem): number =>
  parts.findIndex(({ type }) => type === 'input_audio' || type === 'output_audio');

/** The user's audio always shows `transcript`, null if unknown; the assistant's only if it has one. */
function showPart(part: ItemPart, audio: string | undefined): object {
  const { type, text, transcript } = part;
  const told = type === 'input_audio' || typeof transcript === 'string' ? { transcript } : {};
  return { type, ...(text === undefined ? told : { text }), ...(audio === undefined ? {} : { audio }) };
}

/** The item as its client sees it, with `audio` (base64) if given. */
export function showItem(item: ConversationItem, audio?: string): object {
  const { id, role, status, parts } = item;
  const place = audio === undefined ? -1 : audioPartOf(item);
  return {
    id,
    object: 'realtime.item',
    type: 'message',
    status,
    role,
    content: parts.map((part, at) => showPart(part, at === place ? audio : undefined)),
  };
}
