/**
 * The running response of a session, at most one (actors/realtime.ts decides when it begins).
 *
 * Invariants: the speech port is pulled only while the client reads; no audio is sent after `stop`; text counts as spoken
 * once its response has completed or was cancelled. If the response failed, it keeps waiting, unless the text itself was
 * the reason: it would fail every later response.
 */
import type { ConversationItem } from '../../../../actors/realtime-items.js';
import type { Ending, ResponseOrder } from '../../../../actors/realtime.js';
import { ServiceError, TEXT_FAILURES } from '../../../../contracts/errors.js';
import { LIMITS } from '../../../../contracts/limits.js';
import type { MemoryShare } from '../../../../contracts/ports/accounts/memory.js';
import type { TimedAudio } from '../../../../contracts/ports/speech/speech.js';
import { pump } from '../../../server/pump.js';
import { toldError } from './faults.js';
import { SpokenResponse } from './spoken-response.js';
import { logFailure, type SessionState } from './state.js';

interface Live {
  readonly order: ResponseOrder;
  readonly response: SpokenResponse;
  /** The items whose text it speaks. By its end, the id of one may belong to another item. */
  readonly spoken: readonly ConversationItem[];
  /** The id before the response's item; undefined if the response is not added to the conversation. */
  readonly previous: string | null | undefined;
  readonly abort: AbortController;
  /** Stops the timer for the first byte. */
  cancelTimeout: () => void;
  /** Its audio so far, while it is short enough to be kept. */
  readonly audio: Uint8Array[];
  audioBytes: number;
}

const MOST_KEPT = LIMITS.realtime.readableAudioBytes.item;

const none = (): void => undefined;

/**
 * The same chunks, closed as soon as the signal aborts: while the client does not read, nobody pulls them, and the
 * synthesis would keep its slot.
 */
function left<Chunk>(chunks: AsyncIterable<Chunk>, signal: AbortSignal): AsyncIterable<Chunk> {
  const iterator = chunks[Symbol.asyncIterator]();
  signal.addEventListener('abort', () => void iterator.return?.()?.catch(none), { once: true });
  return { [Symbol.asyncIterator]: () => iterator };
}

export class RealtimeSpeech {
  #live: Live | undefined;
  /** Of the audio that is kept of the running response. */
  readonly #memory: MemoryShare;

  constructor(private readonly session: SessionState) {
    this.#memory = session.socket.memory('audio', () => this.#forget());
  }

  begin(order: ResponseOrder): void {
    const { events, conversation, conversationId } = this.session;
    const response = new SpokenResponse(order, events, conversationId);
    const previous = order.remembered ? conversation.add(response.item) : undefined;
    const spoken = order.items.flatMap((id) => conversation.get(id) ?? []);
    const abort = new AbortController();
    const live: Live = {
      order,
      response,
      spoken,
      previous,
      abort,
      cancelTimeout: none,
      audio: [],
      audioBytes: 0,
    };
    this.#live = live;
    response.open(previous);
    void this.#run(live);
  }

  stop(): void {
    this.#live?.cancelTimeout();
    this.#live?.abort.abort(new DOMException('The response was cancelled', 'AbortError'));
  }

  finish(ending: Ending): void {
    const live = this.#live;
    if (!live) return;
    this.#live = undefined;
    const audio = this.#forget(live);
    const { events, conversation } = this.session;
    const { order, response, spoken, previous } = live;
    if (ending.as === 'failed') events.error(toldError(ending.error), order.eventId);
    if (ending.as !== 'failed' || TEXT_FAILURES.has(ending.error.code)) this.#markSpoken(spoken);
    if (previous === undefined) return response.close(ending, previous);
    conversation.change(response.item.id, () => response.close(ending, previous));
    this.#keep(live, audio);
  }

  async #run(live: Live): Promise<void> {
    const { parts, client, socket, decide } = this.session;
    const { order, abort } = live;
    const { signal } = abort;
    live.cancelTimeout = parts.clock.after(LIMITS.http.firstByteMs, () => {
      this.#broke(order, new ServiceError('first_byte_timeout'));
      abort.abort();
    });
    const spoken = left(parts.speech.synthesizeTimed(order.request, client.caller, signal), signal);
    const carried = await pump(spoken, socket, signal, (timed) => this.#carry(live, timed));
    live.cancelTimeout();
    if (carried.end === 'done') decide({ type: 'spoken', response: order.id });
    if (carried.end === 'failed') this.#broke(order, carried.error);
  }

  #broke({ id }: ResponseOrder, error: ServiceError): void {
    logFailure(this.session, error, 'a realtime response failed');
    this.session.decide({ type: 'broke', response: id, error });
  }

  #carry(live: Live, timed: TimedAudio): void {
    live.cancelTimeout();
    live.response.carry(timed);
    live.audioBytes += timed.audio.length;
    if (timed.audio.length === 0) return;
    if (live.audioBytes <= MOST_KEPT && this.#memory.charge(timed.audio.length)) live.audio.push(timed.audio);
    else this.#forget(live);
  }

  /** Keeps no audio of the response any more; returns what was kept, nothing if there was more. */
  #forget(live = this.#live): readonly Uint8Array[] {
    if (!live) return [];
    const audio = live.audio.splice(0);
    for (const { length } of audio) this.#memory.release(length);
    const isWhole = live.audioBytes <= MOST_KEPT;
    live.audioBytes = Infinity;
    return isWhole ? audio : [];
  }

  #markSpoken(items: readonly ConversationItem[]): void {
    const { conversation } = this.session;
    for (const item of items)
      if (conversation.get(item.id) === item) conversation.change(item.id, () => (item.unspoken = false));
  }

  /** Keeps the audio for `conversation.item.retrieve`. */
  #keep({ order, response }: Live, audio: readonly Uint8Array[]): void {
    const { audioCache, id, conversation } = this.session;
    if (audio.length === 0 || !conversation.get(response.item.id)) return;
    audioCache.put(id, response.item.id, { chunks: audio, ...order.request.output });
  }
}
