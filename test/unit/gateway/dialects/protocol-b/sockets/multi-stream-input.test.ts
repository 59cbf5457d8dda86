/**
 * Contexts of one multi-stream-input socket: their beginnings and ends, several at once, and the failures that they share
 * (docs/contract/protocol-b.md 3).
 */
import t from '../../../../../fixtures/tap.js';
import { CLOSE } from '../../../../../../contracts/close-codes.js';
import { ServiceError } from '../../../../../../contracts/errors.js';
import { exactly } from '../../../../../fixtures/exactly.js';
import type { SpeechFrame } from '../../../../../fixtures/protocol-b/speech-socket.js';
import {
  errorsIn,
  FINAL,
  open,
  type Opening,
  turns,
} from '../../../../../fixtures/protocol-b/stream-input-host.js';

const multi = (opening: Opening = {}) => open({ ...opening, path: 'multi-stream-input' });

t.test('contexts speak side by side, and are final when they were closed, not when flushed', async (t) => {
  const { send, log, speech } = await multi();
  send(
    { text: ' ', context_id: 'a', voice_settings: {} },
    { text: 'Hello ', context_id: 'a' },
    { text: ' ', context_id: 'b' },
    { text: 'World. ', context_id: 'b', flush: true },
    { text: '', context_id: 'a', flush: true },
  );
  await turns();
  t.equal(speech.jobs.length, 2);
  for (const job of [0, 1]) speech.goOn(job, 2);
  await turns(10);
  exactly(t, log, [
    { audio: 'AA==', contextId: 'b' },
    { audio: 'AQ==', contextId: 'a' },
  ]);
  t.notOk(
    log.some((entry) => 'isFinal' in entry && entry.isFinal),
    'a flush ends nothing',
  );
  t.strictSame((log[1] as SpeechFrame).alignment?.chars.join(''), 'Hello ');
  send({ context_id: 'a', close_context: true }, { context_id: 'b', close_context: true });
  await turns(10);
  exactly(t, log.slice(2), [
    { ...FINAL, contextId: 'a' },
    { ...FINAL, contextId: 'b' },
  ]);
  t.equal(log.length, 4, 'the socket stays open');
});

t.test('text that comes with the end of a context is spoken', async (t) => {
  const { send, log, speech } = await multi();
  send({ text: 'All at once. ', context_id: 'a', close_context: true });
  await turns();
  speech.goOn(0, 2);
  await turns(10);
  t.strictSame(
    speech.jobs.map(({ text }) => text),
    ['All at once. '],
  );
  exactly(t, log.at(-1), { ...FINAL, contextId: 'a' });
});

t.test('a context that is closed speaks to its end, and its name is free at once', async (t) => {
  const { send, log, speech } = await multi();
  send({ text: 'Old. ', context_id: 'a' }, { context_id: 'a', close_context: true });
  send({ text: 'New. ', context_id: 'a' }, { context_id: 'a', flush: true });
  await turns();
  t.equal(speech.jobs.length, 2);
  speech.goOn(0, 2);
  speech.goOn(1, 1);
  await turns(10);
  t.strictSame(
    speech.jobs.map(({ text }) => text),
    ['Old. ', 'New. '],
  );
  t.equal(log.filter((entry) => 'isFinal' in entry && entry.isFinal).length, 1, 'the old one is final');
});

t.test('a context that is closed twice stops at once: its user has interrupted', async (t) => {
  const { send, log, speech } = await multi();
  send({ text: 'Long. ', context_id: 'a', flush: true }, { context_id: 'a', close_context: true });
  send({ text: 'Other. ', context_id: 'b', flush: true });
  await turns();
  send({ context_id: 'a', close_context: true }, { context_id: 'a', close_context: true });
  await turns();
  exactly(t, log, [{ ...FINAL, contextId: 'a' }]);
  t.equal(log.length, 1);
  t.strictSame(
    speech.jobs.map(({ over }) => over),
    [true, false],
  );
  send({ text: 'New. ', context_id: 'a', flush: true });
  await turns();
  speech.goOn(2, 1);
  await turns();
  exactly(t, log.at(-1), { audio: 'Ag==', contextId: 'a' });
});

t.test('an empty text keeps a context alive and opens none', async (t) => {
  const { send, log, clock, speech } = await multi({ query: { inactivity_timeout: '10' } });
  send({ text: ' ', context_id: 'a' });
  for (let round = 0; round < 5; round++) {
    clock.advance(9000);
    send({ text: '', context_id: 'a' }, { text: '' });
  }
  t.strictSame(log, []);
  send({ text: 'Hello. ', context_id: 'a', flush: true });
  await turns();
  t.equal(speech.jobs.length, 1);
  for (let name = 0; name < 10; name++)
    send({ text: '', context_id: `c${name}` }, { context_id: `d${name}`, flush: true });
  send({ context_id: 'nobody', close_context: true });
  t.strictSame(log, [], 'no context was opened for them');
});

t.test('an empty text without a context keeps the socket open', async (t) => {
  const { send, log, clock } = await multi({ query: { inactivity_timeout: '10' } });
  for (let round = 0; round < 5; round++) {
    clock.advance(9000);
    send({ text: '' });
  }
  t.strictSame(log, []);
  clock.advance(10_000);
  exactly(t, log, [{ error: 'input_timeout_exceeded' }, { close: { code: 1008 } }]);
});

t.test('a context that hears nothing is closed alone; a socket without contexts as well', async (t) => {
  const { send, log, clock, speech } = await multi({ query: { inactivity_timeout: '10' } });
  send({ text: 'Unspoken', context_id: 'a' }, { text: ' ', context_id: 'b' });
  clock.advance(6000);
  send({ text: '', context_id: 'b' });
  clock.advance(6000);
  await turns();
  speech.goOn(0, 2);
  await turns(10);
  t.equal(speech.jobs[0]?.text, 'Unspoken ', 'what waited is spoken');
  exactly(t, log, [
    { contextId: 'a', audio: String },
    { ...FINAL, contextId: 'a' },
  ]);
  clock.advance(4000);
  exactly(t, log[2], { ...FINAL, contextId: 'b' });
  clock.advance(9999);
  t.equal(log.length, 3);
  clock.advance(1);
  exactly(t, log.slice(3), [{ error: 'input_timeout_exceeded' }, { close: { code: 1008 } }]);
});

t.test('five contexts at most, those that speak to their end among them', async (t) => {
  const { send, log, speech } = await multi();
  for (let name = 0; name < 5; name++) send({ text: `Hello ${name}. `, context_id: `c${name}`, flush: true });
  await turns();
  send({ context_id: 'c0', close_context: true });
  t.strictSame(log, []);
  speech.goOn(0, 2);
  await turns(10);
  send({ text: ' ', context_id: 'c5' });
  t.strictSame(errorsIn(log), [], 'there is room again');
  send({ text: ' ', context_id: 'c6' });
  exactly(t, log.slice(-2), [{ error: 'max_contexts_exceeded', code: 1008 }, { close: { code: 1008 } }]);
  await turns();
  t.ok(
    speech.jobs.every(({ over }) => over),
    'and none speaks on',
  );
});

t.test('a new context takes the place of the closed one that has spoken longest', async (t) => {
  const { send, log, speech } = await multi();
  for (let name = 0; name < 5; name++) send({ text: `Hello ${name}. `, context_id: `c${name}`, flush: true });
  for (const name of ['c3', 'c1']) send({ context_id: name, close_context: true });
  await turns();
  const gaveWay = (contextId: string) => ({ error: 'max_contexts_exceeded', code: 1008, contextId });
  send({ text: 'Hello 5. ', context_id: 'c5', flush: true });
  exactly(t, log, [gaveWay('c3')], 'the one that was closed first');
  await turns();
  send({ text: 'Hello 6. ', context_id: 'c6', flush: true });
  exactly(t, log, [gaveWay('c3'), gaveWay('c1')]);
  await turns();
  t.strictSame(
    speech.jobs.map(({ over }) => over),
    [false, true, false, true, false, false, false],
    'their work has stopped, the others speak on',
  );
  send({ text: ' ', context_id: 'c7' });
  exactly(t, log.slice(2), [{ error: 'max_contexts_exceeded', code: 1008 }, { close: { code: 1008 } }]);
  t.equal(log.length, 4, 'an open context gives way to none');
});

t.test('an agent whose every answer is interrupted goes on, whether it says so once or twice', async (t) => {
  for (const times of [1, 2]) {
    const { send, log, speech } = await multi();
    for (let answer = 0; answer < 30; answer++) {
      const context_id = `answer ${answer}`;
      send({ text: 'A very long answer. ', context_id, flush: true });
      for (let time = 0; time < times; time++) send({ context_id, close_context: true });
      await turns();
    }
    t.equal(log.filter((entry) => 'close' in entry).length, 0, `closed ${times} times each`);
    t.ok(speech.jobs.filter(({ over }) => !over).length <= 5);
    speech.goOn(29, 2);
    if (times === 1) await turns(10);
    if (times === 1) exactly(t, log.at(-1), { ...FINAL, contextId: 'answer 29' });
  }
});

t.test('close_socket: all that was said is spoken, then 1000', async (t) => {
  const { send, log, speech } = await multi();
  send({ text: 'One. ', context_id: 'a' }, { text: 'Two. ', context_id: 'b', flush: true });
  send({ close_socket: true }, { text: 'Three. ', context_id: 'c', flush: true });
  await turns();
  for (const job of [0, 1]) speech.goOn(job, 2);
  await turns(10);
  t.equal(speech.jobs.length, 2);
  t.equal(log.filter((entry) => 'isFinal' in entry && entry.isFinal).length, 2);
  exactly(t, log.at(-1), { close: CLOSE.normal });
  const empty = await multi();
  empty.send({ close_socket: true });
  exactly(t, empty.log, [{ close: CLOSE.normal }]);
});

t.test('frames without a context share one that has a name of its own', async (t) => {
  const { send, log, speech } = await multi();
  send({ text: 'Hello ' }, { text: 'there. ', flush: true });
  await turns();
  speech.goOn(0);
  await turns();
  t.equal(speech.jobs[0]?.text, 'Hello there. ');
  exactly(t, log, [{ contextId: 'default' }]);
});

t.test('a phrase without a blank behind it gets one, so that words are not joined', async (t) => {
  const { send, log, speech } = await multi({ query: { auto_mode: 'true' } });
  send({ text: 'Hello there.', context_id: 'a' }, { text: 'And you?', context_id: 'a' });
  await turns();
  speech.goOn(0, 2);
  await turns(10);
  const told = log.map((entry) => (entry as SpeechFrame).alignment?.chars.join(''));
  t.strictSame(told, ['Hello there. ', 'And you? ']);
});

t.test('a failure of one context ends it alone, where the others may go on', async (t) => {
  const { send, log, speech } = await multi();
  send({ text: 'One. ', context_id: 'a', flush: true }, { text: 'Two. ', context_id: 'b', flush: true });
  await turns();
  speech.fail(0, new ServiceError('engine_lost'));
  await turns();
  exactly(t, log, [{ error: 'internal_error', code: 1011, contextId: 'a' }]);
  speech.goOn(1);
  await turns();
  exactly(t, log[1], { audio: 'AQ==', contextId: 'b' });
  send({ text: 'Three. ', context_id: 'b', flush: true });
  speech.fail(1, new ServiceError('voice_not_found'));
  await turns();
  exactly(
    t,
    log.slice(2),
    [{ error: 'voice_not_found', code: 1008 }, { close: { code: 1008 } }],
    'of all of them',
  );
});

t.test('a mistake of one context ends it alone, and the error names it', async (t) => {
  for (const [why, error, ...mistake] of [
    ['settings that change', 'invalid_input_message', { text: 'x', voice_settings: { speed: 1.2 } }],
    ['settings out of range', 'invalid_request', { text: 'x', voice_settings: { speed: 9 } }],
    ['a field of the wrong type', 'invalid_input_message', { text: 5 }],
    [
      'a schedule out of range',
      'invalid_input_message',
      { generation_config: { chunk_length_schedule: [1] } },
    ],
    [
      'an option that is refused',
      'unsupported_option',
      { text: 'x', pronunciation_dictionary_locators: ['x'] },
    ],
    ['too much text', 'buffer_overflow', { text: 'a'.repeat(2 ** 20 + 1) }],
  ] as const) {
    const { send, log, speech } = await multi();
    send({ text: 'One. ', context_id: 'a', flush: true });
    send({ text: 'Two. ', context_id: 'b', flush: true, voice_settings: { speed: 1.1 } });
    await turns();
    for (const frame of mistake) send({ ...frame, context_id: 'b' });
    await turns(20);
    exactly(t, log, [{ error, contextId: 'b' }], why);
    t.equal(log.length, 1, why);
    t.strictSame(
      speech.jobs.map(({ over }) => over),
      [false, true],
      why,
    );
    send({ text: 'x', context_id: 'new', voice_settings: { speed: 9 } });
    exactly(t, log[1], { error: 'invalid_request', contextId: 'new' }, 'one that was not open yet as well');
    send({ text: 'Again. ', context_id: 'b', flush: true }, { context_id: 'a', close_context: true });
    await turns();
    speech.goOn(0, 2);
    await turns(10);
    exactly(t, log.at(-1), { ...FINAL, contextId: 'a' });
    t.equal(speech.jobs.length, 3, 'its name is free');
  }
});

t.test('the same voice settings may be repeated within a context', async (t) => {
  const { send, log, speech } = await multi();
  const voice_settings = { speed: 1.1, stability: 0.5 };
  for (const text of ['Hello ', 'there. ']) send({ text, context_id: 'a', voice_settings });
  send({ context_id: 'a', flush: true, text: '', voice_settings });
  await turns();
  speech.goOn(0);
  await turns();
  exactly(t, log, [{ audio: 'AA==', contextId: 'a' }]);
  t.equal(speech.jobs[0]?.text, 'Hello there. ');
});

t.test(
  'settings of a first message without a context are the defaults of all, and hold no place',
  async (t) => {
    const { send, log, speech } = await multi();
    send({
      text: ' ',
      voice_settings: { speed: 0.7, stability: 0.2 },
      generation_config: { chunk_length_schedule: [50] },
    });
    send({ text: 'One. ', context_id: 'a', flush: true });
    send({ text: 'Two. ', context_id: 'b', voice_settings: { speed: 1.2 }, flush: true });
    send({ text: 'Three. ', flush: true }, { text: 'Four. ', context_id: 'd', flush: true });
    send({ text: 'Some words that are longer than fifty characters, as one can see. ', context_id: 'e' });
    await turns();
    t.strictSame(log, [], 'five contexts are open beside it');
    t.strictSame(
      speech.jobs.map(({ request }) => [request.speed, request.sampling.temperature]),
      [0.7, 1.2, 0.7, 0.7, 0.7].map((speed) => [speed, 0.8]),
    );
    send({ text: 'x', context_id: 'a', voice_settings: { speed: 0.7 } });
    t.strictSame(log, [], 'they may be repeated');
    const wrong = await multi();
    wrong.send({ text: ' ', voice_settings: { speed: 9 } });
    exactly(t, wrong.log, [{ error: 'invalid_request' }, { close: { code: 1008 } }]);
  },
);

t.test('a text that no voice speaks ends its context alone, and the error names it', async (t) => {
  const { send, log, speech } = await multi();
  send({ text: 'One. ', context_id: 'a', flush: true }, { text: 'Two. ', context_id: 'b', flush: true });
  await turns();
  for (const [job, code] of [
    [0, 'language_unavailable'],
    [2, 'nothing_to_say'],
    [3, 'voice_language'],
  ] as const) {
    log.length = 0;
    speech.fail(job, new ServiceError(code));
    await turns();
    exactly(t, log, [{ error: code, code: 1008, contextId: 'a' }], 'and the socket stays open');
    send({ text: 'Again. ', context_id: 'a', flush: true });
    await turns();
  }
  speech.goOn(1);
  await turns();
  exactly(t, log.at(-1), { audio: 'AQ==', contextId: 'b' });
});
