/**
 * What the agent says, as responses: one for each utterance, and one more behind the functions that it calls. The audio goes out as
 * the call sends it, a little ahead of real time, and the words as they are heard.
 *
 * Invariants: one response at a time, each begun and done once; audio of an utterance that was cleared is not passed on; a response
 * is done once everything before its end was heard, or as soon as it is cut off.
 */
import type { Clock } from '../../../contracts/clock.js';
import type { CallNews } from '../../../contracts/ports/calls/socket-calls.js';
import type { PlainObject } from '../../../contracts/schemas/plain-object.js';
import type { ServerEvents } from '../protocol-a/realtime/server-events.js';
import { agentAudio, type Item, type Items, showItem } from './items.js';

type News<On extends CallNews['on']> = Extract<CallNews, { readonly on: On }>;

/** Why a response ends before its time. */
export type CutOffBy = 'turn_detected' | 'client_cancelled';

/** Words that are heard up to a moment of the utterance, in milliseconds. */
interface Heard {
  readonly ms: number;
  readonly text: string;
}

/** An item with the agent's voice. */
interface Spoken {
  readonly item: Item;
  readonly at: number;
  readonly utterance: number;
  /** Where in the utterance it begins, and how much of it was sent and heard, in milliseconds. */
  readonly from: number;
  sent: number;
  heard: number;
  text: string;
  readonly words: Heard[];
  readonly audio: (bytes: Uint8Array) => void;
}

interface Response {
  readonly id: string;
  readonly output: PlainObject[];
  spoken: Spoken | undefined;
  /** Functions were called: it ends once what was said before them was heard. */
  ends: boolean;
  readonly metadata: PlainObject | null;
}

const FRAME_MS = 20;

/** How long after an interruption a client may still cancel what was interrupted, in milliseconds. */
const CANCELS_LATE_MS = 500;

/** Spoken items that can still be truncated. */
const TRUNCATABLE = 8;

export interface ResponseLook {
  readonly conversationId: string;
  /** Format and voice of the audio, as the session shows them. */
  audio(): object;
  /** Whether the audio goes by RTP: the events say only when it begins and ends. */
  readonly byRtp: boolean;
}

const noDelta = (): void => undefined;

export class Answers {
  #response: Response | undefined;
  /** The newest spoken items, by id. */
  readonly #spoken = new Map<string, Spoken>();
  /** How much of the last utterance was made, sent and heard, in all of its items. */
  #progress = { utterance: 0, made: 0, sent: 0, heard: 0 };
  /** The last utterance that was dropped: audio of it is late. */
  #dropped = 0;
  #cutOffBy: CutOffBy = 'turn_detected';
  /** When the user last interrupted an answer. */
  #interruptedAt = -Infinity;
  /** Of the next response: what its client knows it by. */
  #metadata: PlainObject | null = null;

  constructor(
    private readonly events: ServerEvents,
    private readonly items: Items,
    private readonly look: ResponseLook,
    private readonly clock: Pick<Clock, 'monotonic'>,
  ) {}

  get isActive(): boolean {
    return this.#response !== undefined;
  }

  /** The client has asked for an answer, which it wants to recognise: the next one that begins. */
  asked(metadata: PlainObject): void {
    if (!this.#response) this.#metadata = metadata;
  }

  /** Whether the client has cancelled it. */
  get isCancelled(): boolean {
    return this.#cutOffBy === 'client_cancelled';
  }

  /**
   * Whether a `response.cancel` means what goes on now: of that id, if it names one. Without an id it may cross with the beginning of the
   * next answer: soon after an interruption it means what was interrupted, as long as nothing of the next answer has come.
   */
  isMeant(responseId: unknown): boolean {
    const response = this.#response;
    if (typeof responseId === 'string') return response?.id === responseId;
    const isNew = response === undefined || response.output.length === 0;
    return !isNew || this.clock.monotonic() - this.#interruptedAt >= CANCELS_LATE_MS;
  }

  /** The next cut is the client's doing. */
  cancelled(): void {
    this.#cutOffBy = 'client_cancelled';
  }

  /** The agent thinks: an answer comes. */
  begin(): Response {
    if (this.#response) return this.#response;
    const response: Response = {
      id: this.events.id('resp'),
      output: [],
      spoken: undefined,
      ends: false,
      metadata: this.#metadata,
    };
    this.#metadata = null;
    this.#response = response;
    this.#cutOffBy = 'turn_detected';
    this.events.send('response.created', { response: this.#show(response, 'in_progress', null) });
    return response;
  }

  /** Speech may be made before its turn is over: it is an answer once it is sent. */
  made({ utterance, ms }: News<'made'>): void {
    if (this.#progress.utterance !== utterance) this.#progress = { utterance, made: 0, sent: 0, heard: 0 };
    this.#progress.made += ms;
  }

  #speak(response: Response, utterance: number): Spoken {
    const from = this.#progress.utterance === utterance ? this.#progress.sent : 0;
    const item = { id: this.events.id('item'), fields: agentAudio('in_progress', undefined) };
    const at = response.output.length;
    response.output.push(item.fields);
    const place = { response_id: response.id, item_id: item.id, output_index: at, content_index: 0 };
    const { response_id, output_index } = place;
    this.events.send('response.output_item.added', { response_id, output_index, item: showItem(item) });
    this.items.added(item);
    this.events.send('response.content_part.added', { ...place, part: { type: 'audio', transcript: '' } });
    if (this.look.byRtp) this.events.send('output_audio_buffer.started', { response_id });
    const audio = this.look.byRtp ? noDelta : this.events.deltas('response.output_audio.delta', place);
    const spoken = { item, at, utterance, from, sent: 0, heard: 0, text: '', words: [], audio };
    this.#spoken.set(item.id, spoken);
    const [oldest] = this.#spoken.keys();
    if (oldest !== undefined && this.#spoken.size > TRUNCATABLE) this.#spoken.delete(oldest);
    return spoken;
  }

  /** A frame of 20 ms. Silence and soft ends belong to what was said before them. */
  audio(bytes: Uint8Array, utterance: number | undefined): void {
    const spoken = utterance === undefined ? this.#response?.spoken : this.#spokenOf(utterance);
    if (!spoken) return;
    if (utterance !== undefined) this.#progress.sent += FRAME_MS;
    spoken.sent += FRAME_MS;
    spoken.audio(bytes);
  }

  /** The item of an utterance that is sent; undefined if that was dropped. */
  #spokenOf(utterance: number): Spoken | undefined {
    if (utterance <= this.#dropped) return undefined;
    const { spoken } = this.begin();
    if (spoken?.utterance === utterance) return spoken;
    if (spoken) this.finish();
    const response = this.begin();
    return (response.spoken = this.#speak(response, utterance));
  }

  /** Words of the agent that are heard now. */
  words(text: string): void {
    const { spoken, id = '' } = this.#response ?? {};
    if (!spoken || text === '') return;
    spoken.text += text;
    spoken.words.push({ ms: spoken.heard, text: spoken.text });
    this.events.send('response.output_audio_transcript.delta', {
      ...this.#place(spoken, id),
      delta: text,
    });
  }

  /** So much is heard: the words of it follow. */
  hears({ utterance, ms }: Pick<News<'heard'>, 'utterance' | 'ms'>): void {
    if (this.#progress.utterance === utterance) this.#progress.heard = ms;
    const spoken = this.#response?.spoken;
    if (spoken?.utterance === utterance) spoken.heard = Math.max(0, ms - spoken.from);
  }

  heard(news: News<'heard'>): void {
    this.hears(news);
    const response = this.#response;
    const { utterance, made, heard } = this.#progress;
    if (!response || utterance !== news.utterance || response.spoken?.utterance !== utterance) return;
    if (news.ended || (response.ends && heard >= made)) this.finish();
  }

  /** The agent calls a function of its client. */
  call(callId: string, name: string, args: PlainObject): void {
    const response = this.begin();
    const id = this.events.id('item');
    const text = JSON.stringify(args);
    const common = { type: 'function_call', name, call_id: callId };
    const added = { id, fields: { ...common, status: 'in_progress', arguments: '' } };
    const at = response.output.length;
    const whole = { id, fields: { ...common, status: 'completed', arguments: text } };
    response.output.push({ id, object: 'realtime.item', ...whole.fields });
    const place = { response_id: response.id, output_index: at };
    const called = { ...place, item_id: id, call_id: callId };
    this.events.send('response.output_item.added', { ...place, item: showItem(added) });
    this.items.added(added);
    this.events.send('response.function_call_arguments.delta', { ...called, delta: text });
    this.events.send('response.function_call_arguments.done', { ...called, name, arguments: text });
    this.items.done(whole);
    this.events.send('response.output_item.done', { ...place, item: showItem(whole) });
    response.ends = true;
    if (!response.spoken || this.#progress.heard >= this.#progress.made) this.finish();
  }

  /** What was not heard yet is dropped. */
  cleared(): void {
    this.#dropped = Math.max(this.#dropped, this.#progress.utterance);
    if (!this.#response) return;
    if (!this.isCancelled) this.#interruptedAt = this.clock.monotonic();
    this.#close('cancelled', { type: 'cancelled', reason: this.#cutOffBy });
  }

  /** The agent listens: an answer of which nothing came has ended. */
  rests(): void {
    if (this.#response && !this.#response.spoken) this.finish();
  }

  finish(): void {
    this.#close('completed', null);
  }

  #close(status: 'completed' | 'cancelled', details: object | null): void {
    const response = this.#response;
    if (!response) return;
    if (response.spoken) this.#end(response, response.spoken, status);
    this.#response = undefined;
    this.events.send('response.done', { response: this.#show(response, status, details) });
    if (!response.spoken || !this.look.byRtp) return;
    const how = status === 'completed' ? 'stopped' : 'cleared';
    this.events.send(`output_audio_buffer.${how}`, { response_id: response.id });
  }

  #end(response: Response, spoken: Spoken, status: 'completed' | 'cancelled'): void {
    const { text: transcript, at } = spoken;
    const place = this.#place(spoken, response.id);
    const { response_id, output_index } = place;
    const fields = agentAudio(status === 'completed' ? 'completed' : 'incomplete', transcript);
    const item = { id: spoken.item.id, fields };
    response.output[at] = { id: item.id, object: 'realtime.item', ...fields };
    this.events.send('response.output_audio.done', place);
    this.events.send('response.output_audio_transcript.done', { ...place, transcript });
    this.events.send('response.content_part.done', { ...place, part: { type: 'audio', transcript } });
    this.items.done(item);
    this.events.send('response.output_item.done', { response_id, output_index, item: showItem(item) });
  }

  /**
   * The client has stopped playing a spoken item. What was heard of the call's utterance, to be told to it; undefined if the item is
   * known no more.
   */
  truncate(id: string, ms: number): { readonly utterance: number; readonly ms: number } | undefined {
    const spoken = this.#spoken.get(id);
    if (!spoken) return undefined;
    const heard = Math.min(ms, spoken.sent);
    const text = spoken.words.findLast((words) => words.ms <= heard)?.text ?? '';
    this.items.change(id, agentAudio('incomplete', text));
    return { utterance: spoken.utterance, ms: spoken.from + heard };
  }

  #place({ item, at }: Spoken, id: string) {
    return { response_id: id, item_id: item.id, output_index: at, content_index: 0 };
  }

  #show({ id, output, metadata }: Response, status: string, details: object | null): object {
    return {
      object: 'realtime.response',
      id,
      status,
      ...(details && { status_details: details }),
      output: status === 'in_progress' ? [] : output,
      conversation_id: this.look.conversationId,
      output_modalities: ['audio'],
      max_output_tokens: 'inf',
      audio: { output: this.look.audio() },
      metadata,
    };
  }
}
