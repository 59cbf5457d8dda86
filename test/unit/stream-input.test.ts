/**
 * Protocol B's speech sockets without a network: text buffer, machines, and frames of clients
 * (docs/contract/protocol-b.md 3).
 */
import t from 'tap';
import { createActor } from 'xstate';
import { actorClock } from '../../actors/clock.js';
import { speechSocket, type SpeechSocketEffect } from '../../actors/stream-input-socket.js';
import {
  type SocketFault,
  streamInput,
  type StreamInputEffect,
  type StreamInputEvent,
} from '../../actors/stream-input.js';
import { isBlank, TextBuffer } from '../../actors/text-buffer.js';
import { LIMITS } from '../../contracts/limits.js';
import { defaultVocabulary } from '../../contracts/vocabulary.js';
import {
  SpeechFrameFault,
  type ClientFrame,
  readFrame as readFrameOf,
} from '../../gateway/dialects/protocol-b/sockets/client-frames.js';
import { SimulatedClock } from '../fixtures/edge-clock.js';
import { pick, seeded } from '../fixtures/random.js';

/** Frames that are not long are read at once. */
const readFrame = (data: string | Uint8Array) => readFrameOf(data, defaultVocabulary) as ClientFrame;
const SCHEDULE = LIMITS.streamInput.schedule.default;
const FAULT: SocketFault = { message: 'no', error: 'no', code: 1008 };

const buffered = (text: string, schedule: readonly number[] = SCHEDULE): TextBuffer => {
  const buffer = new TextBuffer(schedule);
  buffer.add(text);
  return buffer;
};

t.test('chunk_length_schedule: each generation waits for its own number of characters', async (t) => {
  const buffer = new TextBuffer([50, 80, 100]);
  const lengths: number[] = [];
  let waited = 0;
  for (let word = 0; word < 200; word++) {
    buffer.add('word ');
    waited += 5;
    const text = buffer.due();
    if (text === undefined) continue;
    t.equal(text.length, waited, 'whole words, so all of it');
    lengths.push(waited);
    waited = 0;
  }
  t.strictSame(lengths.slice(0, 5), [50, 80, 100, 100, 100], 'the last item repeats');
});

t.test('a generation stops behind a sentence, a clause or a word, and leaves the rest', async (t) => {
  const filler = 'a'.repeat(40);
  const cases: [text: string, given: string][] = [
    [`${filler} ${filler} end. Then ${filler}`, `${filler} ${filler} end. `],
    [`${filler} ${filler} end.” Then ${filler}`, `${filler} ${filler} end.” `],
    [`${filler} ${filler}, then ${filler}`, `${filler} ${filler}, `],
    [`${filler} ${filler} ${filler}`, `${filler} ${filler} `],
    [`Hi. ${filler} ${filler} ${filler}`, `Hi. ${filler} ${filler} `],
    ['語'.repeat(130), '語'.repeat(130)],
    [`${'語'.repeat(80)}。${'語'.repeat(60)}`, `${'語'.repeat(80)}。`],
  ];
  for (const [text, given] of cases) t.equal(buffered(text).due(), given);
  t.equal(buffered('a'.repeat(119)).due(), undefined);
  for (const tag of ['<break time="1.5s" />', '[in a hurry tone]', '<phoneme alphabet="ipa" ph="a b. c">'])
    for (let length = 1; length < tag.length; length++) {
      const text = `${filler} ${filler} ${filler} ${tag.slice(0, length)}`;
      const whole = buffered(text, [50]);
      const first = whole.due() ?? '';
      t.equal(first, `${filler} ${filler} ${filler} `, `${tag.slice(0, length)}: no cut in a tag`);
    }
  t.equal(
    buffered(`<phoneme alphabet="ipa" ph="${'a '.repeat(20)}`, [50]).due(),
    undefined,
    'a tag is waited for',
  );
  t.equal(buffered(' '.repeat(500)).due(), undefined);
});

t.test('try_trigger_generation speaks what is fit to be spoken', async (t) => {
  t.equal(buffered('Hello ').ripe(), undefined);
  t.equal(buffered('Hello there. ').ripe(), 'Hello there. ');
  t.equal(buffered('Hello there. And ').ripe(), 'Hello there. ');
  t.equal(buffered('word '.repeat(9)).ripe(), undefined, '45 characters');
  t.equal(buffered('word '.repeat(10)).ripe(), 'word '.repeat(10), '50 characters');
});

t.test('blanks keep a context alive and add nothing', async (t) => {
  const buffer = buffered(' ');
  t.equal(buffer.bytes, 0, 'before all text');
  buffer.add('Hello');
  buffer.add(' ');
  buffer.add(' ');
  buffer.add('world');
  t.equal(buffer.rest(), 'Hello world');
  buffer.add(' ');
  t.equal(buffer.rest(), undefined);
  buffer.add('again');
  t.equal(buffer.rest(), ' again', 'words are parted across generations');
  buffer.add('\n\n');
  buffer.add('Paragraph');
  buffer.add(' '.repeat(100_000));
  t.ok(buffer.bytes < 30, 'blanks alone are not kept');
  t.equal(buffer.rest()?.trimEnd(), '\n\nParagraph');
});

t.test('a buffer gives each character once, in order, and counts its bytes', async (t) => {
  const random = seeded(5);
  const words = ['one ', 'Zwei, ', 'three. ', '四。', '🙂 ', 'x'.repeat(90), '\n', 'five! '] as const;
  for (let run = 0; run < 200; run++) {
    const buffer = new TextBuffer([50 + Math.floor(random() * 100)]);
    let sent = '';
    let given = '';
    const take = (text: string | undefined): void => {
      if (text !== undefined && isBlank(text)) t.fail('a blank generation');
      given += text ?? '';
    };
    for (let step = 0; step < 50; step++) {
      const word = pick(random, words);
      if (!isBlank(word)) sent += word;
      if (!isBlank(word)) buffer.add(word);
      if (random() < 0.3)
        take(pick(random, [() => buffer.due(), () => buffer.ripe(), () => buffer.rest()])());
      if (buffer.bytes !== Buffer.byteLength(sent) - Buffer.byteLength(given)) return t.fail('bytes');
    }
    take(buffer.rest());
    if (!t.equal(given, sent)) return;
  }
});

const STEPS = 3000;
const SEEDS = [1, 2, 3];

const speak = (fed: boolean) => ({ type: 'speak', fed }) as const;
const [message, end, gone] = [{ type: 'message' }, { type: 'end' }, { type: 'gone' }] as const;
const [done, failed] = [{ type: 'done' }, { type: 'failed', fault: FAULT }] as const;
const stop = { type: 'stop' } as const;

/** Effects in short: `refuse` is one with FAULT. */
const short = (effect: StreamInputEffect): string =>
  effect.type === 'refuse' && effect.fault !== FAULT ? 'refuse with another fault' : effect.type;

/** A number of ms lets that time pass. The client may be silent for 20,000. */
type Step = StreamInputEvent | number;

const SEQUENCES: readonly [name: string, steps: readonly Step[], effects: string, refusal?: SocketFault][] = [
  ['a whole life', [message, speak(true), message, end, done], 'begin endText finish'],
  ['no text', [message, speak(false), end, message], 'finish'],
  ['text after a flush of nothing', [speak(false), speak(true), done], 'begin finish'],
  ['one beginning', [speak(true), speak(true), end, end, speak(true), done], 'begin endText finish'],
  ['what may not speak is refused at a flush', [message, speak(false), end], 'refuse', FAULT],
  ['also where there is text', [speak(true), done], 'refuse', FAULT],
  ['also at its end', [message, end], 'refuse', FAULT],
  ['a fault before it speaks', [failed, end], 'refuse'],
  ['a fault while it speaks', [speak(true), failed, done], 'begin cancel refuse'],
  ['a fault after its end', [speak(true), end, failed, done], 'begin endText cancel refuse'],
  ['a client leaves', [message, gone, end], ''],
  ['a client leaves while it is spoken to', [speak(true), gone, done], 'begin cancel'],
  ['a client leaves after the end', [speak(true), end, gone, done], 'begin endText cancel'],
  ['a client wants to hear no more', [speak(true), end, stop, done], 'begin endText cancel finish'],
  ['it says so before the end', [speak(true), stop, end, done], 'begin cancel finish'],
  ['it says so before it speaks', [message, stop, speak(true)], 'finish'],
  ['an end of no job', [done, speak(true), done, end], 'begin finish'],
  ['a silence before it speaks', [15_000, message, 19_999, message, 20_000, 60_000], 'idle'],
  ['a silence while it speaks', [15_000, speak(true), 15_000, message, 19_999, 1, 60_000], 'begin idle'],
  ['each silence', [20_000, message, 20_000, speak(true), 20_000], 'idle idle begin idle'],
  ['no silence after the end', [speak(true), end, 60_000, done, 60_000], 'begin endText finish'],
];

t.test('a context: what each sequence of events does', async (t) => {
  for (const [name, steps, wanted, refusal] of SEQUENCES) {
    const clock = new SimulatedClock();
    const input = { inactivityMs: 20_000, refusal };
    const actor = createActor(streamInput, { input, clock: actorClock(clock) });
    const effects: string[] = [];
    actor.on('*', (effect) => void effects.push(short(effect)));
    actor.start();
    for (const step of steps) {
      if (typeof step === 'number') clock.advance(step);
      else actor.send(step);
    }
    t.equal(effects.join(' '), wanted, name);
  }
});

/** Contexts one after the other, each driven at random to its end. */
t.test('in a random walk each context has one beginning and one end, and nothing after it', async (t) => {
  for (const seed of SEEDS) {
    const random = seeded(seed);
    let steps = 0;
    let spoken = 0;
    let refused = 0;
    while (steps < STEPS) {
      const clock = new SimulatedClock();
      const refusal = random() < 0.1 ? FAULT : undefined;
      const actor = createActor(streamInput, {
        input: { inactivityMs: 20_000, refusal },
        clock: actorClock(clock),
      });
      const effects: StreamInputEffect['type'][] = [];
      actor.on('*', ({ type }) => void effects.push(type));
      actor.start();
      let left = false;
      let ended = false;
      let stopped = false;
      let over = false;
      let heardAt = 0;
      const isOver = (): boolean => actor.getSnapshot().status === 'done';
      for (let step = 0; step < 60 && !isOver(); step++, steps++) {
        const running = effects.includes('begin') && !over;
        pick(random, [
          () => (actor.send({ type: 'message' }), (heardAt = clock.now())),
          () => actor.send({ type: 'speak', fed: random() < 0.5 }),
          () => random() < 0.2 && (actor.send({ type: 'end' }), (ended = true)),
          () => running && random() < 0.3 && ((over = true), actor.send({ type: 'done' })),
          () => random() < 0.05 && actor.send({ type: 'failed', fault: FAULT }),
          () => random() < 0.05 && ((left = true), actor.send({ type: 'gone' })),
          () => random() < 0.05 && ((stopped = true), actor.send(stop)),
          () => {
            const before = effects.length;
            clock.advance(random() * 15_000);
            const said = effects.slice(before);
            if (said.length > 0 && (ended || clock.now() - heardAt < 20_000)) t.fail(`idle: ${said.join()}`);
          },
        ])();
      }
      const byUs = !isOver();
      if (byUs) actor.send({ type: 'gone' });
      const ends = effects.filter((type) => type === 'finish' || type === 'refuse');
      const begun = effects.filter((type) => type === 'begin').length;
      spoken += begun;
      refused += ends.filter((type) => type === 'refuse').length;
      const wrong =
        begun > 1 ||
        (refusal && begun > 0) ||
        ends.length > 1 ||
        (left && ends.length > 0) ||
        (ends.length > 0 && effects.at(-1) !== ends[0]) ||
        (ends[0] === 'finish' && begun === 1 && !over && !stopped) ||
        effects.includes('cancel') !==
          (begun === 1 && !over && (ends[0] === 'refuse' || left || stopped || byUs)) ||
        clock.pending > 0;
      if (wrong) return t.fail(`seed ${seed}: ${effects.join()}`);
    }
    t.ok(spoken > 30 && refused > 6, `seed ${seed}: ${spoken} spoke, ${refused} were refused`);
  }
});

t.test('in a random walk each socket closes once, as normal only when no context is left', async (t) => {
  for (const seed of SEEDS) {
    const random = seeded(seed);
    let steps = 0;
    const closes = { normal: 0, fault: 0 };
    while (steps < STEPS) {
      const clock = new SimulatedClock();
      const input = { inactivityMs: 20_000, silence: FAULT };
      const actor = createActor(speechSocket, { input, clock: actorClock(clock) });
      const effects: SpeechSocketEffect[] = [];
      actor.on('*', (effect) => void effects.push(effect));
      actor.start();
      let contexts = 0;
      let left = false;
      const isOver = (): boolean => actor.getSnapshot().status === 'done';
      const takes = (): boolean =>
        effects.findLast(({ type }) => type === 'takeFrames' || type === 'dropFrames')?.type === 'takeFrames';
      for (let step = 0; step < 60 && !isOver(); step++, steps++) {
        pick(random, [
          () => actor.send({ type: 'identified' }),
          () => actor.send({ type: 'message' }),
          () => takes() && (contexts++, actor.send({ type: 'opened' })),
          () => contexts > 0 && --contexts === 0 && actor.send({ type: 'emptied' }),
          () => takes() && random() < 0.2 && actor.send({ type: 'leave' }),
          () => random() < 0.03 && actor.send({ type: 'fault', fault: FAULT }),
          () => random() < 0.03 && ((left = true), actor.send({ type: 'gone' })),
          () => clock.advance(random() * 8000),
        ])();
      }
      const close = effects.find((effect) => effect.type === 'close');
      if (!isOver()) actor.send({ type: 'gone' });
      const normal = close?.fault === undefined;
      if (close) closes[normal ? 'normal' : 'fault'] += 1;
      const told = effects
        .map(({ type }) => type)
        .filter((type) => type !== 'takeFrames' && type !== 'dropFrames')
        .join();
      const wanted = !close ? '' : normal ? 'close' : 'refuse,close';
      if (told !== wanted || (left && close) || (close && normal && contexts > 0) || clock.pending > 0)
        return t.fail(`seed ${seed}: ${told}, ${contexts} contexts`);
    }
    t.ok(closes.normal > 6 && closes.fault > 6, JSON.stringify(closes));
  }
});

t.test('what clients send: null is absent, unknown fields are ignored, booleans follow rule 3', async (t) => {
  const frame = (fields: object) => readFrame(JSON.stringify(fields));
  const first = frame({
    text: ' ',
    try_trigger_generation: true,
    voice_settings: null,
    generation_config: { chunk_length_schedule: [50] },
    pronunciation_dictionary_locators: [],
    whatever: { a: [1] },
  });
  t.match(first, { text: ' ', voiceSettings: undefined, key: undefined });
  t.strictSame(first.schedule, [50]);
  t.strictSame([...first.flags], ['try_trigger_generation']);
  t.match(frame({ text: '', voice_settings: {}, generation_config: null }), { voiceSettings: undefined });
  for (const value of [false, 'False', 0, 'none', 'off', null, ''])
    t.equal(frame({ text: 'a', flush: value }).flags.size, 0, `flush: ${JSON.stringify(value)}`);
  for (const value of [true, 'true', 1]) t.ok(frame({ flush: value }).flags.has('flush'));
  t.match(frame({ text: 'a', contextId: 'x' }), { contextId: 'x' }, 'the schema knows both spellings');
  for (const [name, key] of [
    ['xi_api_key', 'k'],
    ['xi-api-key', 'k'],
    ['authorization', 'Bearer k'],
    ['authorization', 'k'],
  ] as const)
    t.equal(frame({ text: ' ', [name]: key }).key, 'k');
});

const REFUSED: [name: string, data: string | Uint8Array, code: number][] = [
  ['binary', new Uint8Array(3), 1008],
  ['not JSON', '{"text":', 1008],
  ['empty', '', 1008],
  ['no object', '[1]', 1008],
  ['a string', '"text"', 1008],
  ['nothing in it', '{}', 1008],
  ['nothing known in it', '{"foo":1}', 1008],
  ['null text alone', '{"text":null}', 1008],
  ['text of another type', '{"text":5}', 1008],
  ['flush of another type', '{"text":"a","flush":"maybe"}', 1008],
  ['a schedule below 50', '{"text":" ","generation_config":{"chunk_length_schedule":[49]}}', 1008],
  ['a schedule above 500', '{"text":" ","generation_config":{"chunk_length_schedule":[501]}}', 1008],
  [
    'a schedule without end',
    JSON.stringify({ text: ' ', generation_config: { chunk_length_schedule: Array(65).fill(50) } }),
    1008,
  ],
  ['a context id without end', JSON.stringify({ text: ' ', context_id: 'c'.repeat(257) }), 1008],
  ['a key of another type', '{"text":" ","xi_api_key":5}', 1008],
  ['a key without end', JSON.stringify({ text: ' ', authorization: 'k'.repeat(2000) }), 1008],
  ['nested without end', `{"text":"a","x":${'['.repeat(100)}${']'.repeat(100)}}`, 1008],
  ['parts without end', `{"text":"a","x":[${'1,'.repeat(200_000)}1]}`, 1008],
  ['a frame that no text can fill', JSON.stringify({ text: 'a'.repeat(7 * 1024 * 1024) }), 1009],
];

t.test('frames that cannot be taken are refused, each with its close code', async (t) => {
  for (const [name, data, code] of REFUSED) {
    try {
      readFrame(data);
      t.fail(name);
    } catch (error) {
      t.ok(error instanceof SpeechFrameFault, name);
      t.match((error as SpeechFrameFault).fault, { message: String, error: String, code }, name);
    }
  }
  t.throws(() => readFrame('[]'), { message: /: the message must be of type object$/ });
});

t.test('any frame is read or refused, never a crash', async (t) => {
  const random = seeded(11);
  const names = [
    'text',
    'flush',
    'context_id',
    'voice_settings',
    'generation_config',
    'constructor',
  ] as const;
  const values = [null, true, 'a ', '', 5, -1, {}, [], { chunk_length_schedule: 'x' }, '__proto__'] as const;
  let read = 0;
  for (let run = 0; run < 5000; run++) {
    const fields = Array.from({ length: 4 }, () => [pick(random, names), pick(random, [...values])]);
    const whole = JSON.stringify(Object.fromEntries(fields));
    const data = random() < 0.2 ? whole.slice(0, Math.floor(random() * whole.length)) : whole;
    try {
      readFrame(data);
      read++;
    } catch (error) {
      if (!(error instanceof SpeechFrameFault)) throw error;
    }
  }
  t.ok(read > 100 && read < 4000, `${read} of 5000 were read`);
});
