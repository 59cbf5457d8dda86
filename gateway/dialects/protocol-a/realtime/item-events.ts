/** Client events about the items of the conversation (docs/contract/protocol-a.md 5.3 and 5.5). */
import { memoryExhausted } from '../../../../contracts/ports/accounts/memory.js';
import type { PlainObject } from '../../../../contracts/schemas/plain-object.js';
import type { TakenAudio } from '../../../../actors/incoming-audio.js';
import type { ConversationItem } from '../../../../actors/realtime-items.js';
import { base64Of } from './item-audio-cache.js';
import { textField } from './client-events.js';
import { Fault } from './faults.js';
import { refuseTranscription } from './input-events.js';
import { audioPartOf, readItem, showItem } from './items.js';
import type { ClientEventHandler, SessionState } from './state.js';

const invalid = (message: string, param: string): Fault => new Fault('invalid_event', message, param);

function itemOf({ conversation }: SessionState, fields: PlainObject): ConversationItem {
  const item = conversation.get(textField(fields, 'item_id'));
  if (item) return item;
  throw new Fault('item_not_found', undefined, 'item_id');
}

const FRONT = 'root';

/** The id of the item before the new one; null at the front. */
function placeOf({ conversation }: SessionState, fields: PlainObject): string | null {
  const previous = fields['previous_item_id'] ?? conversation.lastId;
  if (previous === null || previous === FRONT) return null;
  if (typeof previous === 'string' && conversation.get(previous)) return previous;
  throw new Fault('item_not_found', undefined, 'previous_item_id');
}

/** Charges the audio of a new item. Errors: `memory_exhausted`. */
function charged({ input }: SessionState, bytes: Uint8Array | undefined): TakenAudio | undefined {
  const audio = bytes && input.adopt(bytes);
  if (bytes && !audio) throw memoryExhausted();
  return audio;
}

/** Errors: `Fault` beyond the session's budgets, `memory_exhausted`. */
function admit({ conversation, input }: SessionState, item: ConversationItem): void {
  if (!conversation.admits(item, input.bytes)) throw new Fault('conversation_too_large', undefined, 'item');
  if (!conversation.hold(item)) throw memoryExhausted();
}

const lacksTranscript = (item: ConversationItem): boolean =>
  item.role === 'user' && item.parts[audioPartOf(item)]?.transcript === null;

export const create: ClientEventHandler = (session, { fields }) => {
  const { conversation, events, settings, decide } = session;
  const previous = placeOf(session, fields);
  const { item, audio: bytes } = readItem(fields['item'], () => events.id('item'));
  if (conversation.get(item.id)) throw invalid('The conversation has an item with this id', 'item.id');
  const transcription = bytes && lacksTranscript(item) ? settings.transcription : null;
  if (transcription) refuseTranscription(session);
  const audio = charged(session, bytes);
  item.untranscribed = transcription ? audio : undefined;
  try {
    admit(session, item);
  } catch (error) {
    if (audio) session.input.release(audio);
    throw error;
  }
  decide({ type: 'create', entry: { item, previous, audio, transcription } });
};

/** Sends the item with its audio; no other event carries the audio. */
export const retrieve: ClientEventHandler = (session, { fields }) => {
  const item = itemOf(session, fields);
  const chunks = item.untranscribed?.chunks ?? session.audioCache.get(session.id, item.id);
  session.events.send('conversation.item.retrieved', { item: showItem(item, base64Of(chunks)) });
};

export const remove: ClientEventHandler = (session, { fields }) => {
  const { id, status } = itemOf(session, fields);
  if (status === 'in_progress')
    throw invalid('The item is being spoken; cancel its response first', 'item_id');
  session.decide({ type: 'delete', item: id });
};

function numberField(fields: PlainObject, name: string): number {
  const value = fields[name];
  if (typeof value === 'number' && value >= 0 && Number.isFinite(value)) return value;
  throw invalid(`${name} must be a number, 0 or more`, name);
}

/** Cuts off the part of a spoken item that the user did not hear. */
export const truncate: ClientEventHandler = (session, { fields }) => {
  const { id, parts } = itemOf(session, fields);
  const part = numberField(fields, 'content_index');
  const ms = numberField(fields, 'audio_end_ms');
  if (parts[part]?.type !== 'output_audio')
    throw invalid('Only audio that has been spoken can be truncated', 'content_index');
  if (ms > (session.audioCache.msOf(session.id, id) ?? Infinity))
    throw invalid('audio_end_ms is behind the end of the audio', 'audio_end_ms');
  session.decide({ type: 'truncate', item: id, part, ms });
};
