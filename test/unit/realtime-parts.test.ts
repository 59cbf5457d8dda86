/**
 * The parts of protocol A's realtime session: its machine on a random walk, and the budgets of its input buffer,
 * its conversation and its cache of audio (docs/contract/protocol-a.md 5).
 */
import t from 'tap';
import { createActor } from 'xstate';
import { InputAudio } from '../../actors/realtime-audio.js';
import { type ConversationItem, ConversationItems } from '../../actors/realtime-items.js';
import { type NewItem, realtime, type RealtimeEffect, type ResponseOrder } from '../../actors/realtime.js';
import { ServiceError } from '../../contracts/errors.js';
import { LIMITS } from '../../contracts/limits.js';
import { defaultVocabulary } from '../../contracts/vocabulary.js';
import { ItemAudioCache } from '../../gateway/dialects/protocol-a/realtime/item-audio-cache.js';
import { defaultSettings } from '../../gateway/dialects/protocol-a/realtime/settings.js';
import { pick, seeded } from '../fixtures/random.js';
import { base64, bytesOf } from '../fixtures/realtime-host.js';
import { transcriptOf } from '../fixtures/transcript.js';

const STEPS = 10_000;
const SEEDS = [1, 2, 3];

const error = new ServiceError('engine_failed');
const settings = defaultSettings('realtime', defaultVocabulary);
const { transcription } = settings;
const change = { settings, eventId: 'e' };
const told = { type: 'invalid_request_error', code: 'invalid_voice', message: 'm' };

/** An item with audio that is transcribed. */
const entry = (id: string): NewItem => ({
  item: { id } as ConversationItem,
  audio: undefined,
  transcription,
});

/** The rules that the effects of a machine break, in words. */
class Watch {
  readonly wrong: string[] = [];
  live: string | undefined;
  readonly listening = new Set<string>();
  gone = false;
  finding = false;
  changes = 0;
  responses = 0;
  transcripts = 0;

  see(effect: RealtimeEffect): void {
    this.#expect(!this.gone || ['stop', 'abandon'].includes(effect.type), `${effect.type} after gone`);
    if (effect.type === 'begin') {
      this.#expect(this.live === undefined, 'a second response');
      this.live = effect.order.id;
    } else if (effect.type === 'finish') {
      this.#expect(this.live !== undefined, 'finish without begin');
      this.live = undefined;
      this.responses += 1;
    } else if (effect.type === 'transcribe') {
      this.#expect(!this.listening.has(effect.item), 'transcribes twice');
      this.listening.add(effect.item);
      this.#expect(this.listening.size <= LIMITS.realtime.transcriptions, 'too many at once');
    } else if (effect.type === 'transcribed' || effect.type === 'untranscribed') {
      this.#expect(this.listening.delete(effect.item), 'a result that nobody waits for');
      this.transcripts += 1;
    } else if (effect.type === 'abandon') this.listening.delete(effect.item);
    else if (effect.type === 'findVoice') {
      this.#expect(!this.finding, 'two voices at once');
      this.finding = true;
    } else if (effect.type === 'apply' || effect.type === 'refuseUpdate') {
      // A change of settings waits for a voice that is being looked up: no frames are read meanwhile.
      this.finding = false;
      this.changes += 1;
    }
  }

  #expect(holds: boolean, otherwise: string): void {
    if (!holds) this.wrong.push(otherwise);
  }
}

t.test(
  'the machine on a random walk: one live response, one end each, no result of what was dropped',
  async (t) => {
    for (const seed of SEEDS) {
      const random = seeded(seed);
      let watch = new Watch();
      let actor = createActor(realtime);
      const begin = (): void => {
        actor = createActor(realtime);
        watch = new Watch();
        const seen = watch;
        actor.on('*', (effect) => seen.see(effect));
        actor.start();
      };
      begin();
      let responses = 0;
      let items = 0;
      let ended = 0;
      const response = (): string => `r${Math.max(0, responses - Math.floor(random() * 3))}`;
      const item = (): string => `i${Math.max(0, items - Math.floor(random() * 12))}`;
      const moves: [() => void, ...(() => void)[]] = [
        () =>
          actor.send({ type: 'respond', order: { id: `r${++responses}`, eventId: null } as ResponseOrder }),
        () => actor.send({ type: 'cancel', response: random() < 0.5 ? undefined : response(), eventId: 'e' }),
        () => actor.send({ type: 'spoken', response: response() }),
        () => actor.send({ type: 'broke', response: response(), error }),
        () => actor.send({ type: pick(random, ['commit', 'create']), entry: entry(`i${++items}`) }),
        () => actor.send({ type: pick(random, ['commit', 'create']), entry: entry(`i${++items}`) }),
        () => actor.send({ type: 'transcript', item: item(), transcript: transcriptOf('a') }),
        () => actor.send({ type: 'transcript', item: item(), transcript: transcriptOf('a') }),
        () => actor.send({ type: 'transcriptionFailed', item: item(), error }),
        () => actor.send({ type: 'delete', item: item() }),
        () => actor.send({ type: 'clear' }),
        () => actor.send({ type: 'update', ...change, hasNewVoice: random() < 0.5 }),
        () => actor.send({ type: 'voiceFound', ...change }),
        () => actor.send({ type: 'voiceRefused', error: told, eventId: 'e' }),
      ];
      const finish = (): void => {
        watch.gone = true;
        actor.send({ type: 'gone' });
        if (watch.listening.size > 0) watch.wrong.push('a transcription outlives the session');
        ended += watch.responses + watch.transcripts;
      };
      for (let step = 0; step < STEPS; step += 1) {
        pick(random, moves)();
        if (random() >= 0.002) continue;
        finish();
        for (const move of moves) move();
        if (!t.strictSame(watch.wrong, [], `seed ${seed}`)) return;
        begin();
      }
      finish();
      t.strictSame(watch.wrong, [], `seed ${seed}`);
      t.ok(ended > 500, `${ended} ended`);
    }
  },
);

t.test('the input buffer: bytes come out as they went in, within the budget', async (t) => {
  const input = new InputAudio();
  const budget = 200_000;
  const random = seeded(5);
  let expected = Buffer.alloc(0);
  for (let step = 0; step < 3000; step += 1) {
    const bytes = Buffer.alloc(Math.floor(random() ** 8 * 40_000), Math.floor(random() * 256));
    const text = bytes.toString('base64');
    const unpadded = random() < 0.5 ? text.replace(/=+$/, '') : text;
    const outcome = input.append(random() < 0.05 ? `${unpadded}%` : unpadded, budget);
    if (outcome === 'taken') expected = Buffer.concat([expected, bytes]);
    if (outcome === 'full') t.ok(expected.length + bytes.length > budget);
    if (input.bytes !== expected.length || input.bytes > budget) return t.fail(`step ${step}`);
    if (random() > 0.01) continue;
    const taken = input.take();
    t.ok(Buffer.concat(taken.chunks).equals(expected), `step ${step}`);
    t.equal(taken.bytes, expected.length);
    if (random() < 0.5) input.putBack(taken);
    else expected = Buffer.alloc(0);
  }
  t.equal(input.append('A', budget), 'malformed');
  t.equal(input.append('', budget), 'taken', 'no bytes at all');
});

t.test('the input buffer: what comes back stands in front, in the order in which it was taken', async (t) => {
  const input = new InputAudio();
  const take = (byte: number) => {
    input.append(base64(byte), 100);
    return input.take();
  };
  const [one, two, three] = [take(1), take(2), take(3)];
  input.append(base64(4), 100);
  input.putBack(two);
  input.putBack(three);
  input.putBack(one);
  t.equal(input.bytes, 4);
  t.strictSame(bytesOf(input.take().chunks), [1, 2, 3, 4]);
  t.equal(input.bytes, 0);
});

t.test('the input buffer: a data URL is held to the same rules', async (t) => {
  const input = new InputAudio();
  const append = (base64: string) => input.append(`data:audio/pcm;base64,${base64}`, 10);
  const zeros = (count: number) => append(Buffer.alloc(count).toString('base64'));
  t.equal(append('A'), 'malformed');
  t.equal(zeros(6), 'taken');
  t.equal(zeros(5), 'full');
  t.equal(zeros(4), 'taken', 'to the last byte');
  t.equal(input.bytes, 10);
});

t.test('the input buffer: many small appends cost no more than their bytes', async (t) => {
  const input = new InputAudio();
  for (let index = 0; index < 100_000; index += 1) input.append('AAA=', 10 ** 6);
  const { chunks, bytes } = input.take();
  t.equal(bytes, 200_000);
  t.ok(chunks.length < 10, `${chunks.length} chunks`);
});

const limits = {
  pendingItems: 8,
  finishedItems: 6,
  bufferedAudioBytes: 1000,
  pendingTextBytes: 500,
  finishedTextBytes: 300,
};

t.test('the conversation on a random walk keeps its budgets', async (t) => {
  const random = seeded(7);
  const forgotten: string[] = [];
  const conversation = new ConversationItems(
    (id) => forgotten.push(id),
    limits as unknown as typeof LIMITS.realtime,
  );
  let refused = 0;
  for (let step = 0; step < STEPS; step += 1) {
    const id = `i${step}`;
    const known = conversation.ids[Math.floor(random() * conversation.ids.length)];
    const isSpoken = random() < 0.5;
    const bytes = Math.floor(random() * 400);
    const item: ConversationItem = {
      id,
      role: 'user',
      status: 'completed',
      parts: [{ type: 'input_text', text: 'a'.repeat(random() * 100) }],
      unspoken: isSpoken,
      untranscribed: isSpoken ? undefined : { chunks: [], bytes, order: 0 },
    };
    const move = random();
    if (move < 0.5 && conversation.admits(item, 0))
      conversation.add(item, random() < 0.8 ? undefined : (known ?? null));
    else if (move < 0.5) refused += 1;
    else if (known && move < 0.6) conversation.remove(known);
    else if (known && random() < 0.5)
      conversation.change(known, (entry) => {
        entry.unspoken = false;
        entry.untranscribed = undefined;
      });
    const all = conversation.ids.map((each) => conversation.get(each)!);
    const pending = all.filter(({ unspoken, untranscribed }) => unspoken || untranscribed);
    const finished = all.filter(({ unspoken, untranscribed }) => !unspoken && !untranscribed);
    const size = (items: ConversationItem[]) =>
      items.reduce((sum, { parts }) => sum + (parts[0]?.text?.length ?? 0), 0);
    const audio = pending.reduce((sum, { untranscribed }) => sum + (untranscribed?.bytes ?? 0), 0);
    const holds =
      pending.length <= limits.pendingItems &&
      finished.length <= limits.finishedItems &&
      size(pending) <= limits.pendingTextBytes &&
      size(finished) <= limits.finishedTextBytes &&
      audio <= limits.bufferedAudioBytes &&
      conversation.audioBytes === audio &&
      conversation.isFull === (pending.length === limits.pendingItems);
    if (!holds) return t.fail(`step ${step}`);
  }
  t.ok(refused > 100 && forgotten.length > 100, `${refused} refused, ${forgotten.length} forgotten`);
});

t.test('the cache: bounded, of one item and in all', async (t) => {
  const cache = new ItemAudioCache(10_000);
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
  large.put('s', 'i', clip(LIMITS.realtime.readableAudioBytes.item + 1));
  t.equal(large.size, 0);
});
