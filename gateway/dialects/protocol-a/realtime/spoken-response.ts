/**
 * The events of one response, in the order of docs/contract/protocol-a.md 5.5: opening events, deltas, closing events.
 * Nothing is decided here.
 *
 * Invariant: the transcripts of the deltas add up to the transcript in the closing events.
 */
import type { Ending, ResponseOrder } from '../../../../actors/realtime.js';
import { type ConversationItem, type ItemStatus } from '../../../../actors/realtime-items.js';
import type { TimedAudio } from '../../../../contracts/ports/speech/speech.js';
import { usageOfSpeech } from '../chat/usage.js';
import { toldError } from './faults.js';
import { showItem } from './items.js';
import type { ServerEvents } from './server-events.js';

const STATUS: Readonly<Record<Ending['as'], ItemStatus>> = {
  completed: 'completed',
  cancelled: 'incomplete',
  failed: 'incomplete',
};

function detailsOf(ending: Ending): object {
  if (ending.as === 'failed') return { status_details: { type: 'failed', error: toldError(ending.error) } };
  if (ending.as === 'cancelled') return { status_details: { type: 'cancelled', reason: 'client_cancelled' } };
  return {};
}

export class SpokenResponse {
  readonly item: ConversationItem;
  /** Length of the text that was sent as transcript so far. */
  #told = 0;
  #seconds = 0;
  readonly #place: object;
  readonly #sendAudio: (audio: Uint8Array) => void;

  constructor(
    private readonly order: ResponseOrder,
    private readonly events: ServerEvents,
    private readonly conversationId: string,
  ) {
    const id = events.id('item');
    this.item = {
      id,
      role: 'assistant',
      status: 'in_progress',
      parts: [],
      unspoken: false,
      untranscribed: undefined,
    };
    this.#place = { response_id: order.id, item_id: id, output_index: 0, content_index: 0 };
    this.#sendAudio = events.deltas('response.output_audio.delta', this.#place);
  }

  /** `previous` is the id of the item before; undefined if the response is not added to the conversation. */
  open(previous: string | null | undefined): void {
    this.events.send('response.created', { response: this.#show({ status: 'in_progress', output: [] }) });
    this.events.send('response.output_item.added', this.#output());
    if (previous !== undefined)
      this.events.send('conversation.item.added', { previous_item_id: previous, item: showItem(this.item) });
    this.#send('response.content_part.added', { part: { type: 'audio', transcript: '' } });
  }

  carry({ audio, piece, end }: TimedAudio): void {
    this.#tellUpTo(piece.at + piece.text.length);
    this.#seconds = end;
    if (audio.length > 0) this.#sendAudio(audio);
  }

  /** Completes the item, which does not change afterwards. `previous` as for `open`. */
  close(ending: Ending, previous: string | null | undefined): void {
    const { text } = this.order.request;
    if (ending.as === 'completed') this.#tellUpTo(text.length);
    const transcript = text.slice(0, this.#told);
    this.item.status = STATUS[ending.as];
    this.item.parts.push({ type: 'output_audio', transcript });
    this.#send('response.output_audio.done');
    this.#send('response.output_audio_transcript.done', { transcript });
    this.#send('response.content_part.done', { part: { type: 'audio', transcript } });
    const item = showItem(this.item);
    if (previous !== undefined)
      this.events.send('conversation.item.done', { previous_item_id: previous, item });
    this.events.send('response.output_item.done', this.#output());
    const response = this.#show({
      status: ending.as,
      ...detailsOf(ending),
      output: [item],
      usage: this.#usage(),
    });
    this.events.send('response.done', { response });
  }

  #send(type: string, fields: object = {}): void {
    this.events.send(type, { ...this.#place, ...fields });
  }

  #tellUpTo(end: number): void {
    if (end <= this.#told) return;
    const delta = this.order.request.text.slice(this.#told, end);
    this.#told = end;
    this.#send('response.output_audio_transcript.delta', { delta });
  }

  #output(): object {
    return { response_id: this.order.id, output_index: 0, item: showItem(this.item) };
  }

  #show(fields: object): object {
    const { id, modalities, metadata, remembered, output } = this.order;
    return {
      object: 'realtime.response',
      id,
      conversation_id: remembered ? this.conversationId : null,
      output_modalities: modalities,
      max_output_tokens: 'inf',
      audio: { output },
      metadata,
      ...fields,
    };
  }

  #usage(): object {
    const { text } = this.order.request;
    const { prompt_tokens: input, completion_tokens: output } = usageOfSpeech(text, this.#seconds);
    return {
      total_tokens: input + output,
      input_tokens: input,
      output_tokens: output,
      input_token_details: { text_tokens: input, audio_tokens: 0, image_tokens: 0, cached_tokens: 0 },
      output_token_details: { text_tokens: 0, audio_tokens: output },
    };
  }
}
