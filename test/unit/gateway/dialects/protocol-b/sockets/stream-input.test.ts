/**
 * The hosts of protocol B's speech sockets: text and its generations, budgets, silence, failures, and a random walk
 * over both sockets (docs/contract/protocol-b.md 3).
 */
import { setImmediate as turn } from 'node:timers/promises';
import t from '../../../../../fixtures/tap.js';
import { CLOSE } from '../../../../../../contracts/close-codes.js';
import { ServiceError } from '../../../../../../contracts/errors.js';
import { LIMITS } from '../../../../../../contracts/limits.js';
import { exactly } from '../../../../../fixtures/exactly.js';
import { shortOrLong } from '../../../../../fixtures/long.js';
import { pick, seeded } from '../../../../../fixtures/random.js';
import {
  type Close,
  type Entry,
  errorsIn,
  FINAL,
  open,
  turns,
} from '../../../../../fixtures/protocol-b/stream-input-host.js';

t.test('text, end of input: all of it is spoken, one final frame, 1000', async (t) => {
  const { speech, send, log } = await open();
  send({ text: ' ' }, { text: 'Hello ' }, { text: 'world. ' });
  await turns();
  t.equal(speech.jobs.length, 0, 'too little for a generation');
  send({ text: '' });
  speech.goOn(0, 9);
  await turns();
  speech.goOn(0, 9);
  await turns();
  t.equal(speech.jobs[0]?.text, 'Hello world. ');
  exactly(t, log, [{ audio: 'AA==', isFinal: null }, FINAL, { close: CLOSE.normal }]);
  t.equal(log.length, 3);
});

t.test('a context without text gets its final frame at once', async (t) => {
  for (const frames of [[{ text: '' }], [{ text: ' ' }, { text: '' }], [{ text: '', flush: true }]]) {
    const { send, log } = await open();
    send(...frames);
    exactly(t, log, [FINAL, { close: CLOSE.normal }]);
  }
});

t.test('an empty text with flush speaks what waits and then ends', async (t) => {
  const { speech, send, log } = await open();
  send({ text: 'Hello. ' }, { text: '', flush: true }, { text: 'too late' });
  await turns();
  speech.goOn(0, 2);
  await turns();
  t.equal(speech.jobs[0]?.text, 'Hello. ');
  exactly(t, log.slice(1), [FINAL, { close: CLOSE.normal }]);
});

t.test('all generations of a context are one job, and one stream of its codec', async (t) => {
  const { speech, send } = await open({ query: { auto_mode: 'true' } });
  for (const text of ['One. ', 'Two. ', ' ', 'Three. ']) send({ text });
  send({ text: 'Four. ', flush: true }, { text: 'word '.repeat(30) });
  await turns();
  speech.goOn(0, 9);
  await turns(30);
  t.equal(speech.jobs.length, 1);
  t.equal(speech.jobs[0]?.text, `One. Two. Three. Four. ${'word '.repeat(30)}`);
});

t.test('the schedule of the first frame decides when a generation begins by itself', async (t) => {
  const { speech, send } = await open();
  send({ text: ' ', generation_config: { chunk_length_schedule: [60, 300] } }, { text: 'w'.repeat(59) });
  await turns();
  t.equal(speech.jobs.length, 0);
  send({ text: ' ' });
  await turns();
  t.equal(speech.jobs.length, 1, 'at its first item');
  send({ text: 'w'.repeat(298) });
  speech.goOn(0, 9);
  await turns(10);
  t.equal(speech.jobs[0]?.text.length, 60);
  send({ text: 'w ' });
  await turns(10);
  t.equal(speech.jobs[0]?.text.length, 360, 'and its second');
});

t.test(
  'more than 1 MiB of waiting text: error frame 1009, close 1009 of the socket or end of the context',
  async (t) => {
    const MiB = LIMITS.streamInput.bufferedTextBytes;
    for (const path of ['stream-input', 'multi-stream-input'] as const) {
      const isMulti = path === 'multi-stream-input';
      const fault = { error: 'buffer_overflow', code: 1009 };
      const expected = isMulti ? [{ ...fault, contextId: 'c' }] : [fault, { close: { code: 1009 } }];
      const whole = await open({ path });
      whole.send({ text: 'a'.repeat(MiB + 1), context_id: 'c' });
      exactly(t, whole.log, expected);
      const blank = await open({ path });
      blank.send({ text: ' '.repeat(MiB + 1), context_id: 'c' });
      exactly(t, blank.log, expected);
      const parts = await open({ path });
      for (const length of [MiB / 4, MiB / 4 - 2]) parts.send({ text: 'ä'.repeat(length), context_id: 'c' });
      t.strictSame(parts.log, [], 'what fits is taken, in bytes');
      // The job has read a slice of it.
      parts.send({ text: 'ä'.repeat(10_000), context_id: 'c' });
      exactly(t, parts.log, expected);
      await turns();
      t.ok(parts.speech.jobs.every(({ over }) => over));
    }
  },
);

t.test('a silent client gets an error and 1008 after inactivity_timeout; blanks put it off', async (t) => {
  const { send, log, clock } = await open({ query: { inactivity_timeout: '5' } });
  clock.advance(4999);
  send({ text: ' ' });
  for (let round = 0; round < 5; round++) {
    clock.advance(4999);
    send({ text: ' ' });
  }
  t.strictSame(log, []);
  clock.advance(5000);
  exactly(t, log, [
    { error: 'input_timeout_exceeded', code: 1008, message: /5 seconds/ },
    { close: { code: 1008 } },
  ]);
  t.equal(clock.pending, 0);
});

t.test('silence is 20 s by default, 180 s at most, and counts before the first frame', async (t) => {
  for (const [query, ms] of [
    [{}, 20_000],
    [{ inactivity_timeout: '300' }, 180_000],
  ] as const) {
    for (const headers of [{ 'xi-api-key': 'good' }, {}]) {
      const { log, clock } = await open({ query, headers });
      clock.advance(ms - 1);
      t.strictSame(log, []);
      clock.advance(1);
      exactly(t, log, [{ error: 'input_timeout_exceeded' }, { close: { code: 1008 } }]);
    }
  }
});

t.test('silence does not count after the end of input', async (t) => {
  const { send, log, clock, speech } = await open();
  send({ text: 'Hello. ' }, { text: '' });
  await turns();
  clock.advance(1_000_000);
  t.strictSame(log, []);
  speech.goOn(0, 2);
  await turns();
  exactly(t, log.at(-1), { close: CLOSE.normal });
});

t.test('a failed synthesis sends one error frame, and then closes with its code', async (t) => {
  for (const [error, code, slug, hint] of [
    [new ServiceError('engine_lost'), 1011, 'internal_error', ''],
    [new ServiceError('internal'), 1011, 'internal_error', ''],
    [new ServiceError('voice_not_found'), 1008, 'voice_not_found', '; GET /v1/voices lists the voices'],
    [new ServiceError('concurrency_exceeded'), 1008, 'too_many_concurrent_requests', ''],
    [new ServiceError('quota_exceeded'), 1008, 'quota_exceeded', ''],
  ] as const) {
    const { send, log, speech } = await open();
    send({ text: 'Hello. ', flush: true });
    await turns();
    speech.fail(0, error);
    await turns();
    exactly(t, log, [{ error: slug, code, message: error.message + hint }, { close: { code } }]);
  }
});

t.test('a client that does not read is given no more, and goes on where it stood', async (t) => {
  const { send, log, speech, read } = await open({ query: { auto_mode: 'true' } });
  read(false);
  for (const text of ['One. ', 'Two. ', 'Three. ', 'Four. ']) send({ text });
  await turns();
  speech.goOn(0, 9);
  await turns(20);
  t.equal(log.length, 1, 'one is on its way, the others are not pulled');
  read(true);
  await turns(20);
  t.equal(log.length, 4);
});

const TEXTS = ['word ', 'A sentence. ', ' ', '', 'x'.repeat(200), 'two words '] as const;
const NAMES = ['a', 'b', 'c', 'd'] as const;
/** Of a random walk. */
const STEPS = shortOrLong(900, 20_000);

/** The rules that the frames to a client break, in words. */
function wrongIn(log: readonly Entry[], isMulti: boolean): string[] {
  const wrong: string[] = [];
  const closeAt = log.findIndex((entry) => 'close' in entry);
  if (closeAt >= 0 && closeAt !== log.length - 1) wrong.push('something follows the close');
  const close = log[closeAt] as Close | undefined;
  const told = errorsIn(log).filter(({ contextId }) => contextId === undefined);
  if (told.length > 1) wrong.push('two error frames');
  if (close && close.close.code !== (told[0]?.code ?? 1000)) wrong.push('error and close code differ');
  if (told.length === 1 && log.at(-2) !== told[0]) wrong.push('an error without a close');
  const finals = log.filter((entry) => 'isFinal' in entry && entry.isFinal).length;
  if (!isMulti && (finals > 1 || (finals === 1) !== (close?.close.code === 1000)))
    wrong.push(`${finals} finals`);
  if (log.some((entry) => 'audio' in entry && (entry.contextId !== undefined) !== isMulti))
    wrong.push('whose?');
  return wrong;
}

for (const path of ['stream-input', 'multi-stream-input'] as const) {
  t.test(`a random walk of ${path}: order of ends, nothing after them, nothing left`, async (t) => {
    const isMulti = path === 'multi-stream-input';
    const closes = new Map<number, number>();
    for (const seed of [1, 2, 3]) {
      const random = seeded(seed);
      for (let steps = 0; steps < STEPS;) {
        const { speech, clock, log, send, leave, read, isClosed } = await open({
          path,
          query: { auto_mode: String(random() < 0.3), sync_alignment: String(random() < 0.5) },
        });
        const rarely = (task: () => void): void => void (random() < 0.04 && task());
        const named = (fields: object) => (isMulti ? { ...fields, context_id: pick(random, NAMES) } : fields);
        const job = (): number => Math.floor(random() * speech.jobs.length);
        const moves: [() => void, ...(() => void)[]] = [
          () => send(named({ text: pick(random, TEXTS.slice(0, isMulti ? 6 : 3) as [string]) })),
          () => send(named({ text: pick(random, TEXTS), flush: isMulti || random() < 0.1 })),
          () => send(named({ text: 'go. ', try_trigger_generation: true })),
          () => send(named({ text: 'x ', flush: true })),
          () => isMulti && random() < 0.5 && send(named({ close_context: true })),
          () => speech.goOn(job()),
          () => speech.goOn(job(), 3),
          () => read(random() < 0.7),
          () => clock.advance(random() * 12_000),
          () => rarely(() => speech.fail(job(), new ServiceError('engine_failed'))),
          () => rarely(() => speech.fail(job(), new ServiceError('voice_not_found'))),
          () => rarely(() => send({ text: 5 })),
          () => rarely(() => send(isMulti ? { close_socket: true } : { text: '' })),
          () => rarely(() => leave()),
        ];
        for (let step = 0; step < 70 && !isClosed(); step++, steps++) {
          pick(random, moves)();
          if (random() < 0.6) await turn();
        }
        read(true);
        speech.jobs.forEach((_, index) => speech.goOn(index, 99));
        await turns(20);
        const sent = log.length;
        leave();
        await turns();
        if (log.length !== sent) return t.fail('something is sent to a client that has gone');
        const wrong = wrongIn(log, isMulti);
        if (wrong.length > 0) return t.fail(`seed ${seed}: ${wrong.join()} in ${JSON.stringify(log)}`);
        if (!speech.jobs.every(({ over }) => over)) return t.fail('a job is left');
        if (clock.pending > 0) return t.fail('a timer is left');
        const code = (log.at(-1) as Close | undefined)?.close?.code ?? 0;
        closes.set(code, (closes.get(code) ?? 0) + 1);
      }
    }
    t.ok((closes.get(1000) ?? 0) > 2 && (closes.get(1008) ?? 0) > 2, JSON.stringify([...closes]));
  });
}
