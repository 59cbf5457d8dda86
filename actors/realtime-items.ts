/**
 * The items of one realtime session, in order (docs/contract/decisions.md "Protocol A", budgets of a realtime session).
 *
 * Invariants: pending items (text not yet spoken, audio not yet transcribed) never exceed their budgets in items and bytes;
 * of finished items the newest stay, within their budgets; an id stands for one item; each item is charged for its text,
 * with PIECE_BYTES at least for itself and for each part. The audio is charged by its buffer (incoming-audio.ts).
 */
import { LIMITS } from '../contracts/limits.js';
import { type MemoryShare, PIECE_BYTES, pieceOf } from '../contracts/ports/accounts/memory.js';
import type { TakenAudio } from './incoming-audio.js';

export type ItemRole = 'user' | 'assistant' | 'system';
export type ItemStatus = 'in_progress' | 'completed' | 'incomplete';

export interface ItemPart {
  readonly type: 'input_text' | 'input_audio' | 'output_text' | 'output_audio';
  readonly text?: string;
  /** Transcript of its audio; null if there is none yet. */
  transcript?: string | null;
}

export interface ConversationItem {
  readonly id: string;
  readonly role: ItemRole;
  status: ItemStatus;
  readonly parts: ItemPart[];
  /** Whether its text waits to be spoken. */
  unspoken: boolean;
  /** Audio that waits to be transcribed. */
  untranscribed: TakenAudio | undefined;
}

type Limits = Pick<
  typeof LIMITS.realtime,
  'pendingItems' | 'finishedItems' | 'bufferedAudioBytes' | 'pendingTextBytes' | 'finishedTextBytes'
>;

const sizeOf = ({ text, transcript }: ItemPart): number =>
  Buffer.byteLength(text ?? '') + Buffer.byteLength(transcript ?? '');

/** UTF-8 bytes of an item's texts and transcripts. */
export const textBytesOf = ({ parts }: Pick<ConversationItem, 'parts'>): number =>
  parts.reduce((sum, part) => sum + sizeOf(part), 0);

/** Memory of an item without its audio. */
const memoryOf = ({ parts }: ConversationItem): number =>
  parts.reduce((sum, part) => sum + pieceOf(sizeOf(part)), PIECE_BYTES);

/** The text of an item to speak: its texts, one per line. */
export const textOf = ({ parts }: Pick<ConversationItem, 'parts'>): string =>
  parts.flatMap(({ text }) => (text === undefined ? [] : [text])).join('\n');

const isPending = ({ unspoken, untranscribed }: ConversationItem): boolean =>
  unspoken || untranscribed !== undefined;

/** The conversation of a session: its items, in order and within their budgets. */
export class ConversationItems {
  readonly #items = new Map<string, ConversationItem>();
  #order: string[] = [];
  /** Ids of finished items, oldest first. */
  readonly #finished = new Set<string>();
  #pendingItems = 0;
  #pendingTextBytes = 0;
  #finishedTextBytes = 0;
  #audioBytes = 0;
  /** Memory charged for each item. */
  readonly #held = new Map<ConversationItem, number>();

  /** `forgotten` is called with each finished item that was dropped to keep the budgets. */
  constructor(
    private readonly forgotten: (id: string) => void,
    private readonly share: MemoryShare,
    private readonly limits: Limits = LIMITS.realtime,
  ) {}

  /** Bytes of audio in items that are not yet transcribed. */
  get audioBytes(): number {
    return this.#audioBytes;
  }

  /** Bytes that the input buffer may hold. */
  get audioBudget(): number {
    return this.limits.bufferedAudioBytes - this.#audioBytes;
  }

  get lastId(): string | null {
    return this.#order.at(-1) ?? null;
  }

  get ids(): readonly string[] {
    return this.#order;
  }

  get(id: string): ConversationItem | undefined {
    return this.#items.get(id);
  }

  /** Whether the conversation has as many pending items as it may. */
  get isFull(): boolean {
    return this.#pendingItems >= this.limits.pendingItems;
  }

  /** Whether the budgets have room for the item; `bufferedBytes` is the audio in the input buffer, which shares the audio budget. */
  admits(item: ConversationItem, bufferedBytes: number): boolean {
    if (!isPending(item)) return true;
    const { pendingTextBytes } = this.limits;
    return (
      !this.isFull &&
      this.#pendingTextBytes + textBytesOf(item) <= pendingTextBytes &&
      (item.untranscribed?.bytes ?? 0) + bufferedBytes <= this.audioBudget
    );
  }

  /** Charges an item that is about to be added; false if there is no memory for it. */
  hold(item: ConversationItem): boolean {
    const memory = memoryOf(item);
    if (!this.share.charge(memory)) return false;
    this.#held.set(item, memory);
    return true;
  }

  /** Adds the item after `previous`, or at the front for null; returns the id before it. Its id must be new. */
  add(item: ConversationItem, previous: string | null = this.lastId): string | null {
    this.#items.set(item.id, item);
    // Nearly always at the end; no id is empty.
    this.#order.splice(this.#order.lastIndexOf(previous ?? '') + 1, 0, item.id);
    this.#count(item, 1);
    if (!this.#held.has(item)) this.hold(item);
    return previous;
  }

  /** Changes the item and updates the budgets. Text that the budgets count changes in no other way. */
  change(id: string, change: (item: ConversationItem) => void): void {
    const item = this.get(id);
    if (!item) return;
    this.#count(item, -1);
    this.#letGo(item);
    change(item);
    // What it has become is small: nothing is refused for it.
    this.hold(item);
    this.#count(item, 1);
  }

  remove(id: string): void {
    const item = this.get(id);
    if (!item) return;
    this.#count(item, -1);
    this.#letGo(item);
    this.#items.delete(id);
    this.#order = this.#order.filter((other) => other !== id);
  }

  /** User items whose text waits to be spoken, in order. */
  unspoken(): ConversationItem[] {
    return this.#order.flatMap((id) => this.get(id) ?? []).filter(({ unspoken }) => unspoken);
  }

  #letGo(item: ConversationItem): void {
    const memory = this.#held.get(item);
    if (memory !== undefined) this.share.release(memory);
    this.#held.delete(item);
  }

  #count(item: ConversationItem, sign: 1 | -1): void {
    if (isPending(item)) {
      this.#pendingItems += sign;
      this.#pendingTextBytes += sign * textBytesOf(item);
      this.#audioBytes += sign * (item.untranscribed?.bytes ?? 0);
    } else if (item.status !== 'in_progress') {
      this.#finishedTextBytes += sign * textBytesOf(item);
      if (sign === 1) this.#finish(item.id);
      else this.#finished.delete(item.id);
    }
  }

  #finish(id: string): void {
    this.#finished.add(id);
    this.#forgetOldest();
  }

  #forgetOldest(): void {
    const { finishedItems, finishedTextBytes } = this.limits;
    for (const id of this.#finished) {
      if (this.#finished.size <= finishedItems && this.#finishedTextBytes <= finishedTextBytes) return;
      this.remove(id);
      this.forgotten(id);
    }
  }
}
