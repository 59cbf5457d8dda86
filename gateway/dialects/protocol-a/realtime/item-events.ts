/** Client events about the items of the conversation (protocol-a.md sections 5.3 and 5.5). */
import type { TakenAudio } from '../../../../actors/realtime-audio.js';
import type { ConversationItem } from '../../../../actors/realtime-conversation.js';
import { base64Of } from './audio-shelf.js';
import { type Fields, textField } from './client-events.js';
import { Fault } from './faults.js';
import { refuseTranscription } from './input-events.js';
import { audioPartOf, readItem, showItem } from './items.js';
import type { Handler, SessionState } from './state.js';

const invalid = (message: string, param: string): Fault => new Fault('invalid_event', message, param);

function itemOf({ conversation }: SessionState, fields: Fields): ConversationItem {
  const item = conversation.get(textField(fields, 'item_id'));
  if (item) return item;
  throw new Fault('item_not_found', undefined, 'item_id');
}

const FRONT = 'root';

/** The id that the new item follows; null at the front. */
function placeOf({ conversation }: SessionState, fields: Fields): string | null {
  const previous = fields['previous_item_id'] ?? conversation.lastId;
  if (previous === null || previous === FRONT) return null;
  if (typeof previous === 'string' && conversation.get(previous)) return previous;
  throw new Fault('item_not_found', undefined, 'previous_item_id');
}

const inOneChunk = (audio: Uint8Array): TakenAudio => ({ chunks: [audio], bytes: audio.length, order: 0 });

const lacksTranscript = (item: ConversationItem): boolean =>
  item.role === 'user' && item.parts[audioPartOf(item)]?.transcript === null;

export const create: Handler = (session, { fields }) => {
  const { conversation, events, input, settings, shelf, hearing } = session;
  const previous = placeOf(session, fields);
  const { item, audio } = readItem(fields['item'], () => events.id('item'));
  if (conversation.get(item.id)) throw invalid('The conversation has an item with this id', 'item.id');
  const transcription = audio && lacksTranscript(item) ? settings.transcription : null;
  if (transcription) refuseTranscription(session);
  const unheard = audio && transcription ? inOneChunk(audio) : undefined;
  item.unheard = unheard;
  if (!conversation.admits(item, input.bytes)) throw new Fault('conversation_too_large', undefined, 'item');
  conversation.add(item, previous);
  if (audio && !unheard) shelf.put(session.id, item.id, { chunks: [audio], ...settings.input });
  events.send('conversation.item.added', { previous_item_id: previous, item: showItem(item) });
  events.send('conversation.item.done', { previous_item_id: previous, item: showItem(item) });
  if (unheard && transcription) hearing.add(item.id, unheard, transcription, false);
};

/** The one event that carries an item's audio. */
export const retrieve: Handler = (session, { fields }) => {
  const item = itemOf(session, fields);
  const chunks = item.unheard?.chunks ?? session.shelf.get(session.id, item.id);
  session.events.send('conversation.item.retrieved', { item: showItem(item, base64Of(chunks)) });
};

export const remove: Handler = (session, { fields }) => {
  const { id, status } = itemOf(session, fields);
  if (status === 'in_progress')
    throw invalid('The item is being spoken; cancel its response first', 'item_id');
  session.conversation.remove(id);
  session.shelf.drop(session.id, id);
  session.events.send('conversation.item.deleted', { item_id: id });
  session.decide({ type: 'forget', item: id });
};

function numberField(fields: Fields, name: string): number {
  const value = fields[name];
  if (typeof value === 'number' && value >= 0) return value;
  throw invalid(`${name} must be a number, 0 or more`, name);
}

/** What was not heard is forgotten, the transcript with it. */
export const truncate: Handler = (session, { fields }) => {
  const item = itemOf(session, fields);
  const index = numberField(fields, 'content_index');
  const end = numberField(fields, 'audio_end_ms');
  const part = item.parts[index];
  if (part?.type !== 'output_audio')
    throw invalid('Only audio that has been spoken can be truncated', 'content_index');
  if (end > (session.shelf.msOf(session.id, item.id) ?? Infinity))
    throw invalid('audio_end_ms is behind the end of the audio', 'audio_end_ms');
  session.conversation.change(item.id, () => (part.transcript = null));
  session.shelf.cut(session.id, item.id, end);
  const fieldsOf = { item_id: item.id, content_index: index, audio_end_ms: end };
  session.events.send('conversation.item.truncated', fieldsOf);
};
