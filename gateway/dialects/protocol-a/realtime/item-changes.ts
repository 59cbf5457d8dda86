/**
 * Changes a session's items and sends the client the events about it (docs/contract/protocol-a.md 5.5), as the machine
 * decides (actors/realtime.ts). Nothing is checked here.
 */
import type { NewItem, Truncation } from '../../../../actors/realtime.js';
import { takeTurn } from './input-events.js';
import type { ItemTranscriptions } from './item-transcriptions.js';
import { showItem } from './items.js';
import type { SessionState } from './state.js';

export class ItemChanges {
  constructor(
    private readonly session: SessionState,
    private readonly transcriptions: ItemTranscriptions,
  ) {}

  add(entry: NewItem, isCommit: boolean): void {
    const { conversation, events } = this.session;
    const { item } = entry;
    const previous = conversation.add(item, entry.previous);
    const place = { previous_item_id: previous };
    this.#keepAudio(entry, isCommit);
    if (isCommit) events.send('input_audio_buffer.committed', { item_id: item.id, ...place });
    events.send('conversation.item.added', { ...place, item: showItem(item) });
    events.send('conversation.item.done', { ...place, item: showItem(item) });
  }

  clear(): void {
    this.session.input.release(takeTurn(this.session));
    this.session.events.send('input_audio_buffer.cleared');
  }

  remove(item: string): void {
    const { conversation, audioCache, events, id } = this.session;
    conversation.remove(item);
    audioCache.drop(id, item);
    events.send('conversation.item.deleted', { item_id: item });
  }

  truncate({ item, part, ms }: Truncation): void {
    const { conversation, audioCache, events, id } = this.session;
    conversation.change(item, ({ parts }) => {
      const truncated = parts[part];
      if (truncated) truncated.transcript = null;
    });
    audioCache.cut(id, item, ms);
    const place = { item_id: item, content_index: part };
    events.send('conversation.item.truncated', { ...place, audio_end_ms: ms });
  }

  /** Keeps the audio until it is transcribed, or for `conversation.item.retrieve`. */
  #keepAudio({ item, audio, transcription }: NewItem, isCommit: boolean): void {
    const { audioCache, id, input, settings } = this.session;
    if (!audio) return;
    if (transcription) return this.transcriptions.add({ item, audio, transcription, isBuffered: isCommit });
    const format = item.role === 'assistant' ? settings.output : settings.input;
    input.release(audio);
    audioCache.put(id, item.id, { chunks: audio.chunks, ...format });
  }
}
