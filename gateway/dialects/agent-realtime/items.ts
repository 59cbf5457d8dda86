/**
 * The items of an agent's conversation as its client sees them: told in order, and readable as long as they are among the newest.
 * What waits to be read again is charged.
 */
import { LIMITS } from '../../../contracts/limits.js';
import { MeteredMemory, type MemoryShare, pieceOf } from '../../../contracts/ports/accounts/memory.js';
import { isPlainObject, type PlainObject } from '../../../contracts/schemas/plain-object.js';
import { Fault } from '../protocol-a/realtime/faults.js';
import type { ServerEvents } from '../protocol-a/realtime/server-events.js';

export interface Item {
  readonly id: string;
  /** Its members on the wire besides its id. */
  readonly fields: PlainObject;
}

const sizeOf = (item: Item): number => pieceOf(Buffer.byteLength(JSON.stringify(item)));

export const showItem = ({ id, fields }: Item, more: PlainObject = {}): object => ({
  id,
  object: 'realtime.item',
  ...fields,
  ...more,
});

export const userAudio = (transcript: string | null): PlainObject => ({
  ...{ type: 'message', role: 'user', status: 'completed' },
  content: [{ type: 'input_audio', transcript }],
});

export const agentAudio = (
  status: 'in_progress' | 'completed' | 'incomplete',
  transcript: string | undefined,
): PlainObject => ({
  ...{ type: 'message', role: 'assistant', status },
  content: transcript === undefined ? [] : [{ type: 'output_audio', transcript }],
});

export class Items {
  readonly #items = new Map<string, Item>();
  readonly #memory: MeteredMemory;
  #bytes = 0;
  /** The last one that was told. */
  #last: string | null = null;

  constructor(
    private readonly events: ServerEvents,
    share: MemoryShare,
  ) {
    this.#memory = new MeteredMemory(share);
  }

  get last(): string | null {
    return this.#last;
  }

  has(id: string): boolean {
    return this.#items.has(id);
  }

  /** Tells the client of a new item; `id`: the client's own, or that of an item that was announced. */
  add(fields: PlainObject, id = this.events.id('item')): Item {
    const item = { id, fields };
    this.added(item);
    return item;
  }

  /** Tells the client of that new item. */
  added(item: Item): void {
    this.events.send('conversation.item.added', { previous_item_id: this.#last, item: showItem(item) });
    this.#place(item);
  }

  /** The item is complete. */
  done(item: Item): void {
    this.#put(item);
    this.events.send('conversation.item.done', {
      previous_item_id: this.#before(item),
      item: showItem(item),
    });
  }

  /** A new item that is complete. */
  whole(fields: PlainObject, id?: string): Item {
    const item = this.add(fields, id);
    this.done(item);
    return item;
  }

  /** The item has other content now. */
  change(id: string, fields: PlainObject): void {
    if (this.#items.has(id)) this.#put({ id, fields });
  }

  /** The conversation goes on as if the item had never been in it. */
  remove(item: Item): void {
    if (this.#last === item.id) this.#last = this.#before(item);
    this.#drop(item);
    this.#memory.set(this.#bytes);
    this.events.send('conversation.item.deleted', { item_id: item.id });
  }

  /** Errors: `Fault`. */
  get({ item_id: id }: PlainObject): Item {
    const item = typeof id === 'string' ? this.#items.get(id) : undefined;
    if (item) return item;
    throw new Fault('item_not_found', undefined, 'item_id');
  }

  readonly #previous = new Map<string, string | null>();

  #before({ id }: Item): string | null {
    return this.#previous.get(id) ?? null;
  }

  #place(item: Item): void {
    this.#previous.set(item.id, this.#last);
    this.#last = item.id;
    this.#put(item);
  }

  #put(item: Item): void {
    const before = this.#items.get(item.id);
    this.#bytes += sizeOf(item) - (before ? sizeOf(before) : 0);
    this.#items.set(item.id, item);
    this.#trim();
    // Without memory for it the oldest go first, and it last.
    while (this.#items.size > 0 && !this.#memory.set(this.#bytes)) this.#dropOldest();
  }

  #trim(): void {
    const { items, itemBytes } = LIMITS.agentRealtime;
    while (this.#items.size > items || (this.#bytes > itemBytes && this.#items.size > 1)) this.#dropOldest();
  }

  #dropOldest(): void {
    const [oldest] = this.#items.values();
    if (oldest) this.#drop(oldest);
  }

  #drop(item: Item): void {
    this.#bytes -= sizeOf(item);
    this.#items.delete(item.id);
    this.#previous.delete(item.id);
  }
}

/** The text of a message that a client creates. Errors: `Fault`. */
export function textIn({ content }: PlainObject): string {
  const parts: unknown[] = Array.isArray(content) ? content.slice(0, LIMITS.realtime.itemParts) : [];
  const texts = parts.map((part, at) => {
    const { type, text } = isPlainObject(part) ? part : {};
    const isText = type === 'input_text' || type === 'output_text' || type === 'text';
    if (isText && typeof text === 'string') return text;
    const param = `item.content.${at}`;
    throw new Fault('invalid_event', 'A message is text here; audio goes into the input buffer', param);
  });
  const text = texts.join('\n').trim();
  if (text === '') throw new Fault('invalid_event', 'The message is empty', 'item.content');
  if (text.length <= LIMITS.session.typedLength) return text;
  const most = LIMITS.session.typedLength;
  throw new Fault('conversation_too_large', `A message has at most ${most} characters`, 'item.content');
}
