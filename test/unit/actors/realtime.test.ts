/** The machine of protocol A's realtime session: what each sequence of events does, and a random walk (docs/contract/protocol-a.md 5). */
import t from '../../fixtures/tap.js';
import { createActor } from 'xstate';
import type { ConversationItem } from '../../../actors/realtime-items.js';
import {
  type NewItem,
  realtime,
  type RealtimeEffect,
  type RealtimeEvent,
  type ResponseOrder,
} from '../../../actors/realtime.js';
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import { defaultVocabulary } from '../../../contracts/vocabulary.js';
import { defaultSettings } from '../../../gateway/dialects/protocol-a/realtime/settings.js';
import { pick, seeded } from '../../fixtures/random.js';
import { transcriptOf } from '../../fixtures/engines/transcript.js';

const STEPS = 3000;
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

const order = (id: string): ResponseOrder => ({ id, eventId: `of ${id}` }) as ResponseOrder;
const respond = (id: string) => ({ type: 'respond', order: order(id) }) as const;
const begin = (id: string) => ({ type: 'begin', order: order(id) }) as const;
const cancel = (response?: string) => ({ type: 'cancel', response, eventId: 'c' }) as const;
const commit = (id: string) => ({ type: 'commit', entry: entry(id) }) as const;
const added = (id: string) => ({ type: 'add', entry: entry(id), isCommit: true }) as const;
const transcribe = (item: string) => ({ type: 'transcribe', item }) as const;
const abandon = (item: string) => ({ type: 'abandon', item }) as const;
const unheard: NewItem = { ...entry('a'), transcription: null };
const transcript = transcriptOf('heard');
const update = { type: 'update', ...change, hasNewVoice: true } as const;
const findVoice = { type: 'findVoice', ...change } as const;
const refusal = { error: told, eventId: 'e' };
const refused = { type: 'refuse', code: 'response_cancel_not_active', eventId: 'c' } as const;
const ITEMS = ['i0', 'i1', 'i2', 'i3', 'i4', 'i5'];
/** Four are transcribed at once. */
const SIX = ITEMS.flatMap((id, at) => (at < 4 ? [added(id), transcribe(id)] : [added(id)]));

/** What each sequence of events does, to the letter. */
const SEQUENCES: readonly [string, readonly RealtimeEvent[], readonly RealtimeEffect[]][] = [
  ['settings apply', [{ ...update, hasNewVoice: false }], [{ type: 'apply', ...change }]],
  ['a new voice is found', [update, { type: 'voiceFound', ...change }], [findVoice, { type: 'apply', ...change }]],
  [
    'a new voice is refused, and another one looked up',
    [update, update, { type: 'voiceRefused', ...refusal }, update],
    [findVoice, { type: 'refuseUpdate', ...refusal }, findVoice],
  ],
  ['a voice that nobody looks for', [{ type: 'voiceFound', ...change }, { type: 'voiceRefused', ...refusal }], []],
  ['audio is committed', [commit('a')], [added('a'), transcribe('a')]],
  [
    'an item is created',
    [{ type: 'create', entry: entry('a') }],
    [{ type: 'add', entry: entry('a'), isCommit: false }, transcribe('a')],
  ],
  [
    'items that are not transcribed',
    [{ type: 'commit', entry: unheard }, { type: 'create', entry: unheard }],
    [{ type: 'add', entry: unheard, isCommit: true }, { type: 'add', entry: unheard, isCommit: false }],
  ],
  [
    'a transcript',
    [commit('a'), { type: 'transcript', item: 'a', transcript }, { type: 'transcript', item: 'a', transcript }],
    [added('a'), transcribe('a'), { type: 'transcribed', item: 'a', transcript }],
  ],
  [
    'a transcription that fails',
    [commit('a'), { type: 'transcriptionFailed', item: 'a', error }, { type: 'transcript', item: 'a', transcript }],
    [added('a'), transcribe('a'), { type: 'untranscribed', item: 'a', error }],
  ],
  [
    'transcriptions that wait begin in order, as others end',
    [...ITEMS.map(commit), { type: 'transcript', item: 'i5', transcript }, { type: 'transcript', item: 'i2', transcript }, { type: 'transcriptionFailed', item: 'i0', error }],
    [...SIX, { type: 'transcribed', item: 'i2', transcript }, transcribe('i4'), { type: 'untranscribed', item: 'i0', error }, transcribe('i5')],
  ],
  [
    'deleted items are not transcribed',
    [...ITEMS.map(commit), { type: 'delete', item: 'i4' }, { type: 'delete', item: 'i1' }, { type: 'transcript', item: 'i1', transcript }],
    [...SIX, { type: 'remove', item: 'i4' }, abandon('i4'), { type: 'remove', item: 'i1' }, abandon('i1'), transcribe('i5')],
  ],
  ['the buffer is cleared', [{ type: 'clear' }], [{ type: 'clear' }]],
  [
    'an item is truncated',
    [{ type: 'truncate', item: 'a', part: 1, ms: 20 }],
    [{ type: 'truncate', item: 'a', part: 1, ms: 20 }],
  ],
  [
    'a response, and one after it',
    [respond('r1'), { type: 'spoken', response: 'r1' }, respond('r2')],
    [begin('r1'), { type: 'finish', ending: { as: 'completed' } }, begin('r2')],
  ],
  [
    'a response that fails',
    [respond('r1'), { type: 'broke', response: 'r1', error }, { type: 'spoken', response: 'r1' }],
    [begin('r1'), { type: 'finish', ending: { as: 'failed', error } }],
  ],
  [
    'a second response',
    [respond('r1'), respond('r2'), { type: 'spoken', response: 'r2' }],
    [begin('r1'), { type: 'refuse', code: 'response_already_active', eventId: 'of r2' }],
  ],
  ...[undefined, 'r1'].map((id): (typeof SEQUENCES)[number] => [
    `a response is cancelled by ${id ?? 'no'} id`,
    [respond('r1'), cancel(id), { type: 'spoken', response: 'r1' }],
    [begin('r1'), { type: 'stop' }, { type: 'finish', ending: { as: 'cancelled' } }],
  ]),
  ['no response to cancel', [cancel(), respond('r1'), cancel('r0')], [refused, begin('r1'), refused]],
  [
    'an old response has no say',
    [respond('r1'), cancel(), respond('r2'), { type: 'spoken', response: 'r1' }, { type: 'broke', response: 'r1', error }],
    [begin('r1'), { type: 'stop' }, { type: 'finish', ending: { as: 'cancelled' } }, begin('r2')],
  ],
  [
    'a client leaves while its items are transcribed',
    [...ITEMS.map(commit), { type: 'gone' }, commit('late'), respond('late')],
    [...SIX, ...ITEMS.map(abandon)],
  ],
  [
    'a client leaves while it is spoken to',
    [commit('a'), respond('r1'), { type: 'gone' }, { type: 'spoken', response: 'r1' }],
    [added('a'), transcribe('a'), begin('r1'), { type: 'stop' }, abandon('a')],
  ],
]; // oxfmt-ignore

t.test('the machine: what each sequence of events does', async (t) => {
  for (const [name, events, wanted] of SEQUENCES) {
    const effects: RealtimeEffect[] = [];
    const actor = createActor(realtime);
    actor.on('*', (effect) => void effects.push(effect));
    actor.start();
    for (const event of events) actor.send(event);
    t.strictSame(effects, wanted, name);
    t.equal(actor.getSnapshot().status, events.some(({ type }) => type === 'gone') ? 'done' : 'active');
  }
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
      // Settings without a new voice wait behind those with one: frames are not read meanwhile.
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
      const open = (): void => {
        actor = createActor(realtime);
        watch = new Watch();
        const seen = watch;
        actor.on('*', (effect) => seen.see(effect));
        actor.start();
      };
      open();
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
        open();
      }
      finish();
      t.strictSame(watch.wrong, [], `seed ${seed}`);
      t.ok(ended > 50, `${ended} ended`);
    }
  },
);
