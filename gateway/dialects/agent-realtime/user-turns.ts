/**
 * What the user says, as items: one for each message, announced by the voice and told with its words.
 *
 * Invariants: while the agent speaks, a voice is told only once it has interrupted it, since clients stop their player at the first
 * sign of one; an item is committed once, with its words.
 */
import type { Clock } from '../../../contracts/clock.js';
import type { ServerEvents } from '../protocol-a/realtime/server-events.js';
import { type Items, userAudio } from './items.js';

const TRANSCRIPTION = 'conversation.item.input_audio_transcription';

export class UserTurns {
  /** The item that the present voice will be. */
  #id: string | undefined;
  /** Items that the client has committed, whose words are not known yet. */
  #committed: string[] = [];
  #voiced = false;
  /** Whether the client was told of the present voice. */
  #told = false;
  /** Whether there was a voice that it was not told of. */
  #untold = false;
  /** When the last voice began and ended, and how long the user has spoken in this turn, in milliseconds. */
  #since = 0;
  #until = 0;
  #spokenMs = 0;
  readonly #opened: number;

  constructor(
    private readonly events: ServerEvents,
    private readonly items: Items,
    private readonly clock: Pick<Clock, 'monotonic'>,
  ) {
    this.#opened = clock.monotonic();
  }

  get isVoiced(): boolean {
    return this.#voiced;
  }

  /** `overlaps`: the agent is heard; `at`: milliseconds of the user's audio up to there. */
  voice(active: boolean, overlaps: boolean, at = this.clock.monotonic() - this.#opened): void {
    this.#voiced = active;
    if (active) this.#since = at;
    else this.#until = at;
    if (!active) this.#spokenMs += Math.max(0, at - this.#since);
    if (active && overlaps && !this.#told) this.#untold = true;
    if (active && !overlaps) this.#begin();
    if (!active && this.#told) this.#stop();
  }

  /** The agent goes on: a sound did not interrupt it, unless it is cut off in the same moment. */
  resumed(): void {
    queueMicrotask(() => (this.#untold &&= this.#voiced));
  }

  /** The user has interrupted the agent. */
  interrupted(): void {
    if (!this.#untold) return;
    this.#begin();
    if (!this.#voiced) this.#stop();
  }

  #begin(): void {
    if (this.#told) return;
    this.#told = true;
    this.#untold = false;
    this.#id ??= this.events.id('item');
    this.events.send('input_audio_buffer.speech_started', {
      audio_start_ms: Math.round(this.#since),
      item_id: this.#id,
    });
  }

  #stop(): void {
    this.#told = false;
    this.events.send('input_audio_buffer.speech_stopped', {
      audio_end_ms: Math.round(this.#until),
      item_id: this.#id,
    });
  }

  /** The client has committed what it has sent. */
  commit(): void {
    const id = (this.#id ??= this.events.id('item'));
    this.#id = undefined;
    this.#commit(id);
    this.#committed.push(id);
  }

  #commit(id: string): void {
    this.events.send('input_audio_buffer.committed', { item_id: id, previous_item_id: this.items.last });
    this.items.whole(userAudio(null), id);
  }

  /** The words of a message are known, or none were said after all. */
  words(transcript: string): void {
    const seconds = Math.round(this.#spokenMs) / 1000;
    this.#spokenMs = 0;
    this.#untold = this.#voiced && !this.#told;
    if (transcript === '') return;
    const [id, ...others] = this.#committed.length > 0 ? this.#committed : [this.#uncommitted()];
    this.#committed = [];
    // A turn of several commits is one message: its words are those of the last one.
    for (const empty of [id, ...others].slice(0, -1)) this.#transcribed(empty!, '', 0);
    this.#transcribed([id, ...others].at(-1)!, transcript, seconds);
  }

  #uncommitted(): string {
    const id = this.#id ?? this.events.id('item');
    this.#id = undefined;
    this.#commit(id);
    return id;
  }

  #transcribed(id: string, transcript: string, seconds: number): void {
    const place = { item_id: id, content_index: 0 };
    this.items.change(id, userAudio(transcript));
    if (transcript !== '') this.events.send(`${TRANSCRIPTION}.delta`, { ...place, delta: transcript });
    const usage = { type: 'duration', seconds };
    this.events.send(`${TRANSCRIPTION}.completed`, { ...place, transcript, usage });
  }
}
