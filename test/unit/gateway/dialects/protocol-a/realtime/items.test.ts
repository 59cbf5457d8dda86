/**
 * The parts of protocol A's realtime session without its machine: the budgets of its conversation and its
 * cache of audio (docs/contract/protocol-a.md 5).
 */
import { isDeepStrictEqual } from 'node:util';
import t from '../../../../../fixtures/tap.js';
import { type ConversationItem, ConversationItems, textOf } from '../../../../../../actors/realtime-items.js';
import { LIMITS } from '../../../../../../contracts/limits.js';
import { UNBOUNDED_SHARE } from '../../../../../../contracts/ports/accounts/memory.js';
import { eventIdOf } from '../../../../../../gateway/dialects/protocol-a/realtime/client-events.js';
import { ItemAudioCache } from '../../../../../../gateway/dialects/protocol-a/realtime/item-audio-cache.js';
import { readItem } from '../../../../../../gateway/dialects/protocol-a/realtime/items.js';
import { exactly, throwsExactly } from '../../../../../fixtures/exactly.js';
import { pick, seeded } from '../../../../../fixtures/random.js';

const limits = {
  pendingItems: 8,
  finishedItems: 6,
  bufferedAudioBytes: 1000,
  pendingTextBytes: 500,
  finishedTextBytes: 300,
};

const isPending = ({ unspoken, untranscribed }: ConversationItem): boolean => unspoken || !!untranscribed;

/** Sizes of items in the budgets, in bytes. */
const textIn = (items: readonly ConversationItem[]): number =>
  items
    .flatMap(({ parts }) => parts.flatMap(({ text, transcript }) => [text, transcript]))
    .reduce((sum, text) => sum + new TextEncoder().encode(text ?? '').length, 0);
const audioIn = (items: readonly ConversationItem[]): number =>
  items.reduce((sum, { untranscribed }) => sum + (untranscribed?.bytes ?? 0), 0);

/** The same conversation as two plain lists, which are searched anew for every question. */
class PlainConversation {
  items: ConversationItem[] = [];
  /** The one that finished last comes last. */
  finished: ConversationItem[] = [];
  readonly forgotten: string[] = [];

  get pending(): ConversationItem[] {
    return this.items.filter(isPending);
  }

  admits(item: ConversationItem, bufferedBytes: number): boolean {
    const pending = [...this.pending, item];
    return (
      !isPending(item) ||
      (pending.length <= limits.pendingItems &&
        textIn(pending) <= limits.pendingTextBytes &&
        audioIn(pending) + bufferedBytes <= limits.bufferedAudioBytes)
    );
  }

  add(item: ConversationItem, previous: string | null | undefined): void {
    const ids = ['', ...this.items.map(({ id }) => id)];
    this.items.splice(previous === undefined ? ids.length : ids.indexOf(previous ?? ''), 0, item);
    this.settle(item);
  }

  remove(gone: ConversationItem | undefined): void {
    this.items = this.items.filter((item) => item !== gone);
    this.finished = this.finished.filter((item) => item !== gone);
  }

  /** Called for an item that is new or has changed. */
  settle(item: ConversationItem): void {
    this.finished = this.finished.filter((other) => other !== item);
    if (!isPending(item) && item.status !== 'in_progress') this.finished.push(item);
    while (this.finished.length > limits.finishedItems || textIn(this.finished) > limits.finishedTextBytes) {
      const [oldest] = this.finished;
      this.forgotten.push(oldest?.id ?? '');
      this.remove(oldest);
    }
  }
}

/** Sizes are round, so that budgets are often filled to the last byte. */
function someItem(random: () => number, id: string): ConversationItem {
  const kind = pick(random, ['spoken', 'heard', 'known', 'in progress']);
  const text = pick(random, ['a', 'ä']).repeat(25 * Math.floor(random() * 5));
  const bytes = 50 * Math.floor(random() * 8);
  return {
    id,
    role: 'user',
    status: kind === 'in progress' ? 'in_progress' : 'completed',
    parts: [kind === 'heard' ? { type: 'input_audio', transcript: null } : { type: 'input_text', text }],
    unspoken: kind === 'spoken',
    untranscribed: kind === 'heard' ? { chunks: [], bytes, order: 0, held: 0 } : undefined,
  };
}

t.test('the conversation on a random walk is what plain lists make of it, budgets included', async (t) => {
  const random = seeded(7);
  const forgotten: string[] = [];
  const conversation = new ConversationItems(
    (id) => forgotten.push(id),
    UNBOUNDED_SHARE,
    limits as unknown as typeof LIMITS.realtime,
  );
  const plain = new PlainConversation();
  let refused = 0;
  for (let step = 0; step < 4000; step += 1) {
    const item = someItem(random, `i${step}`);
    // One in ten is gone, or never was.
    const known =
      random() < 0.9 ? plain.items[Math.floor(random() * plain.items.length)] : { ...item, id: 'gone' };
    const buffered = 50 * Math.floor(random() * 4);
    const previous = pick(random, [undefined, undefined, null, plain.items.length > 0 ? known?.id : null]);
    const move = random();
    if (move < 0.6) {
      const isAdmitted = plain.admits(item, buffered);
      if (conversation.admits(item, buffered) !== isAdmitted) return t.fail(`step ${step}: admits`);
      if (!isAdmitted) refused += 1;
      else if (previous !== 'gone') {
        const before = previous === undefined ? (plain.items.at(-1)?.id ?? null) : previous;
        plain.add(item, previous);
        if (conversation.add(item, previous) !== before) return t.fail(`step ${step}: the item before`);
      }
    } else if (known && move < 0.65) {
      conversation.remove(known.id);
      plain.remove(known);
    } else if (known) {
      const transcript = 'b'.repeat(25 * Math.floor(random() * 3));
      conversation.change(known.id, (changed) => {
        changed.unspoken = false;
        changed.untranscribed = undefined;
        changed.status = 'completed';
        changed.parts.push({ type: 'output_audio', transcript });
      });
      if (known.id !== 'gone') plain.settle(known);
    }
    const { pending, items } = plain;
    const { ids, lastId, isFull, audioBytes, audioBudget } = conversation;
    const shown = [ids, lastId, isFull, audioBytes, audioBudget, conversation.unspoken(), forgotten];
    const wanted = [
      items.map(({ id }) => id),
      items.at(-1)?.id ?? null,
      pending.length >= limits.pendingItems,
      audioIn(pending),
      limits.bufferedAudioBytes - audioIn(pending),
      items.filter(({ unspoken }) => unspoken),
      plain.forgotten,
    ];
    if (!isDeepStrictEqual(shown, wanted)) return t.strictSame(shown, wanted, `step ${step}`);
  }
  t.ok(refused > 100 && forgotten.length > 100, `${refused} refused, ${forgotten.length} forgotten`);
});

t.test('the text of an item is its texts, one per line', async (t) => {
  const spoken = (...texts: string[]) => texts.map((text) => ({ type: 'input_text', text }) as const);
  const cases: [ConversationItem['parts'], string][] = [
    [spoken('one', '', 'two'), 'one\n\ntwo'],
    [[...spoken('one'), { type: 'input_audio', transcript: 'heard' }], 'one'],
    [[], ''],
  ];
  for (const [parts, text] of cases) t.equal(textOf({ parts }), text);
});

t.test('an item has 1 to 64 parts, and an id of 1 to 128 characters', async (t) => {
  const item = (parts: number, id: string) => ({
    ...{ id, role: 'user' },
    content: Array.from({ length: parts }, () => ({ type: 'input_text', text: 'a' })),
  });
  const read = (parts: number, id: string) => readItem(item(parts, id), () => 'new').item;
  for (const [parts, id] of [
    [1, 'i'],
    [64, 'i'.repeat(128)],
  ] as const)
    exactly(t, read(parts, id), { id, parts: { length: parts } });
  for (const parts of [0, 65])
    throwsExactly(
      t,
      () => read(parts, 'i'),
      { code: 'invalid_event', param: 'item.content' },
      `${parts} parts`,
    );
  for (const id of ['', 'i'.repeat(129)])
    throwsExactly(
      t,
      () => read(1, id),
      { code: 'invalid_event', param: 'item.id' },
      `${id.length} characters`,
    );
});

t.test('an error repeats the id of its event, unless that has more than 512 characters', async (t) => {
  t.equal(eventIdOf({ event_id: 'e'.repeat(512) }), 'e'.repeat(512));
  for (const event_id of ['e'.repeat(513), 5, undefined]) t.equal(eventIdOf({ event_id }), null);
});

t.test('the cache of item audio is bounded for one item and in all', async (t) => {
  const cache = new ItemAudioCache(10_000);
  for (const session of ['s', 'other']) cache.open(session, UNBOUNDED_SHARE);
  const clip = (bytes: number) =>
    ({ chunks: [Buffer.alloc(bytes, 1)], format: 'pcm', sampleRate: 8000 }) as const;
  for (let index = 0; index < 100; index += 1) cache.put('s', `i${index}`, clip(1000));
  t.equal(cache.size, 6);
  t.equal(cache.get('s', 'i99')[0]?.length, 1000);
  t.strictSame(cache.get('s', 'i0'), []);
  t.strictSame(cache.get('other', 'i99'), [], 'of one session only');
  cache.cut('s', 'i99', 10);
  t.equal(cache.get('s', 'i99')[0]?.length, 160);
  cache.put('s', 'i', { ...clip(100), format: 'mp3' });
  cache.cut('s', 'i', 10);
  t.strictSame(cache.get('s', 'i'), [], 'what cannot be cut is dropped');
  const large = new ItemAudioCache();
  large.open('s', UNBOUNDED_SHARE);
  large.put('s', 'i', clip(LIMITS.realtime.readableAudioBytes.item + 1));
  t.equal(large.size, 0);
});
