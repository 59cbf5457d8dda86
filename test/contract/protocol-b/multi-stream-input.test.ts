/** WebSocket multi-stream-input through a whole gateway (docs/contract/protocol-b.md 3; docs/contract/decisions.md "Protocol B"). */
import t from '../../fixtures/tap.js';
import { exactly } from '../../fixtures/exactly.js';
import { memberOf } from '../../fixtures/processes/family.js';
import { TEST_KEY } from '../../fixtures/gateway.js';
import { lentGateway } from '../../fixtures/lent-gateway.js';
import { gauge } from '../../fixtures/native/live.js';
import { pick, seeded } from '../../fixtures/random.js';
import { SpeechSocketClient, type SpeechSocketOptions } from '../../fixtures/protocol-b/speech-socket.js';
import { until } from '../../fixtures/until.js';

const gateway = await lentGateway(t);

const connect = (options: SpeechSocketOptions = {}) =>
  new SpeechSocketClient(gateway, { ...options, path: 'multi-stream-input' }).opened();
const running = () => gauge(gateway, 'speech_jobs_running');
const allFree = () => until('all slots are free', async () => (await running()) === 0);

const LIVEKIT = {
  model_id: 'eleven_turbo_v2_5',
  enable_ssml_parsing: 'false',
  enable_logging: 'true',
  inactivity_timeout: '180',
  apply_text_normalization: 'auto',
  sync_alignment: 'true',
  auto_mode: 'true',
};

t.test('a turn as LiveKit sends it, twice on one socket, then two at once', async (t) => {
  const client = await connect({ query: LIVEKIT });
  const turn = (context_id: string): void => {
    client.send(
      { text: ' ', voice_settings: {}, context_id },
      { text: 'Hello there, world. ', context_id, flush: true },
      { text: 'How are you? ', context_id, flush: true },
      { text: '', context_id, flush: true },
      { context_id, close_context: true },
    );
  };
  for (const name of ['one', 'two']) {
    turn(name);
    exactly(t, await client.final(name), { isFinal: true, audio: null, contextId: name });
  }
  turn('three');
  turn('four');
  await Promise.all([client.final('three'), client.final('four')]);
  const [first, ...others] = ['one', 'two', 'three', 'four'].map((name) => client.audio(name));
  t.ok(first && first.length > 30_000);
  for (const other of others) t.same(other, first, 'each context is a stream of its own');
  for (const name of ['one', 'four']) {
    t.equal(client.text(name), 'Hello there, world. How are you? ');
    const starts = client.alignments(name).flatMap(({ charStartTimesMs }) => charStartTimesMs);
    t.strictSame(
      starts,
      starts.toSorted((a, b) => a - b),
      'the time of each context begins at 0',
    );
    t.ok((starts[0] ?? NaN) < 200);
  }
  t.equal(client.closed, undefined);
  client.leave();
});

t.test('a turn as pipecat sends it: no blank behind a phrase, keep-alive without a context', async (t) => {
  const client = await connect({ query: { model_id: 'eleven_turbo_v2_5', auto_mode: 'true' } });
  client.send(
    { text: '' },
    { text: ' ', context_id: 'c' },
    { text: 'Hello there.', context_id: 'c' },
    { text: 'And you?', context_id: 'c' },
    { text: '', context_id: 'c' },
    { context_id: 'c', flush: true },
    { context_id: 'c', close_context: true },
  );
  await client.final('c');
  t.equal(client.text('c'), 'Hello there. And you? ');
  let told = 0;
  for (const { charStartTimesMs, charDurationsMs } of client.alignments('c'))
    told += (charStartTimesMs.at(-1) ?? NaN) + (charDurationsMs.at(-1) ?? NaN);
  const audio = client.audio('c').length / 32;
  t.ok(Math.abs(told - audio) < 100, `its running sum ends at ${told} ms, the audio at ${audio}`);
  client.send({ close_socket: true });
  exactly(t, await client.ended(), { code: 1000 });
});

t.test('a flush gives no final frame, a close does; the name can be used again', async (t) => {
  const client = await connect();
  client.send({ text: 'Hello. ', context_id: 'c', flush: true });
  await client.heard(1, 'c');
  t.notOk(client.frames.some(({ isFinal }) => isFinal));
  client.send({ context_id: 'c', close_context: true });
  await client.final('c');
  const before = client.audio('c').length;
  client.send({ text: 'Again. ', context_id: 'c', flush: true });
  await client.heard(before + 1, 'c');
  client.leave();
});

t.test('the sixth context is refused with 1008', async (t) => {
  const client = await connect();
  for (let name = 0; name < 6; name++) client.send({ text: ' ', context_id: `c${name}` });
  exactly(t, await client.ended(), { code: 1008 });
  exactly(t, client.frames, [{ error: 'max_contexts_exceeded', code: 1008 }]);
});

t.test('voice settings that change within a context end it alone', async (t) => {
  const client = await connect();
  client.send({ text: 'Hello. ', context_id: 'other', flush: true }, { text: ' ', context_id: 'c' });
  client.send({ text: 'a', context_id: 'c', voice_settings: { speed: 1.1 } });
  client.send({ context_id: 'other', close_context: true });
  await client.final('other');
  exactly(t, client.errors(), [
    { error: 'invalid_input_message', param: 'voice_settings', contextId: 'c', code: 1008 },
  ]);
  t.ok(client.audio('other').length > 0);
  t.equal(client.closed, undefined);
  client.leave();
});

t.test('a schedule that changes within a context ends it alone, the same one again does not', async (t) => {
  const client = await connect();
  const schedule = { generation_config: { chunk_length_schedule: [50] } };
  client.send({ text: ' ', context_id: 'a', ...schedule }, { text: 'Hello. ', context_id: 'a', ...schedule });
  client.send({ text: ' ', context_id: 'b' }, { text: 'x', context_id: 'b', ...schedule });
  client.send({ context_id: 'a', close_context: true });
  await client.final('a');
  exactly(t, client.errors(), [{ param: 'generation_config', contextId: 'b', code: 1008 }]);
  t.ok(client.audio('a').length > 0);
  client.leave();
});

t.test('settings of the first message reach the contexts', async (t) => {
  const length = async (speed: number): Promise<number> => {
    const client = await connect();
    client.send({ text: ' ', voice_settings: { speed } });
    client.send(
      { text: 'Hello there, how are you? ', context_id: 't1' },
      { context_id: 't1', close_context: true },
    );
    await client.final('t1');
    client.leave();
    return client.audio('t1').length;
  };
  const [slow, fast] = [await length(0.7), await length(1.2)];
  t.ok(slow > fast * 1.4, `${slow} bytes at 0.7, ${fast} at 1.2`);
});

t.test('overflow, refused formats, keys: as on stream-input', async (t) => {
  const full = await connect();
  full.send({ text: 'a'.repeat(2 ** 20 + 1), context_id: 'c' }, { close_socket: true });
  exactly(t, await full.ended(), { code: 1000 });
  exactly(t, full.frames, [{ error: 'buffer_overflow', code: 1009, contextId: 'c' }]);
  const refused = await connect({ query: { output_format: 'ulaw_8000' } });
  exactly(t, await refused.ended(), { code: 1008 });
  const stranger = await connect({ headers: {} });
  stranger.send({ text: ' ', context_id: 'c' });
  exactly(t, await stranger.ended(), { code: 1008 });
  const late = await connect({ headers: {} });
  late.send({ text: 'Hello. ', context_id: 'c', 'xi-api-key': TEST_KEY, flush: true });
  await late.heard(1, 'c');
  late.leave();
});

t.test('inactivity closes a context alone, and then the socket', async (t) => {
  const client = await connect({ query: { inactivity_timeout: '0.5' } });
  client.send({ text: 'Not flushed', context_id: 'c' });
  await client.final('c');
  t.ok(client.audio('c').length > 0, 'what waited was spoken');
  exactly(t, await client.ended(), { code: 1008 });
  exactly(t, client.frames.at(-1), { error: 'input_timeout_exceeded', code: 1008 });
});

t.test('contexts of one socket share its queue and hold back each other, no other socket', async (t) => {
  const stalled = await connect();
  stalled.socket.pause();
  for (const context_id of ['a', 'b'])
    stalled.send({ text: 'This goes on for hours. '.repeat(20_000), context_id, flush: true });
  await until('both run', async () => (await running()) === 2);
  let last = -1;
  await until('its queue stands still', async () => {
    const before = last;
    last = await gauge(gateway, 'egress_queue_bytes');
    return last > 0 && last === before;
  });
  t.ok(last < 3 * 2 ** 20, `${last} bytes are queued`);
  const other = await connect();
  other.send({ text: 'Hello. ', context_id: 'c', flush: true }, { context_id: 'c', close_context: true });
  await other.final('c');
  for (const client of [stalled, other]) client.leave();
  await allFree();
});

t.test('an encoder that dies ends the contexts that used it, with errors that name them', async (t) => {
  const client = await connect({ query: { output_format: 'mp3_44100_128' } });
  for (const context_id of ['a', 'b'])
    client.send({ text: 'This goes on for hours. '.repeat(20_000), context_id, flush: true });
  await Promise.all([client.heard(1, 'a'), client.heard(1, 'b')]);
  process.kill(memberOf(gateway.pid, 'workers/encode'), 'SIGKILL');
  await until('both are told', () => client.errors().length === 2);
  t.strictSame(
    client
      .errors()
      .map(({ contextId }) => contextId)
      .toSorted(),
    ['a', 'b'],
  );
  exactly(t, client.errors(), [{ error: 'internal_error', code: 1011 }, { code: 1011 }]);
  t.equal(client.closed, undefined);
  let tries = 0;
  await until('speech is back', async () => {
    const context_id = `try ${++tries}`;
    client.send({ text: 'Again. ', context_id, flush: true }, { context_id, close_context: true });
    const over = () => client.of(context_id).some(({ isFinal, error }) => isFinal || error !== undefined);
    await until('this try is over', over);
    return client.audio(context_id).length > 0;
  });
  client.leave();
  await allFree();
});

t.test('an agent whose user interrupts each long answer goes on, as pipecat and LiveKit do it', async (t) => {
  const client = await connect({ query: LIVEKIT });
  const answer = (context_id: string, text: string): void => {
    client.send(
      { text: ' ', context_id },
      { text, context_id, flush: true },
      { context_id, close_context: true },
    );
  };
  for (let round = 0; round < 12; round++) {
    const context_id = `answer ${round}`;
    answer(context_id, 'This goes on for hours. '.repeat(200));
    await client.heard(1, context_id);
    if (round % 2 === 0) client.send({ context_id, close_context: true });
  }
  answer('last', 'Hello. ');
  await client.final('last');
  t.equal(client.closed, undefined);
  exactly(t, client.of('answer 0').at(-1), { isFinal: true }, 'what was closed twice is final at once');
  client.leave();
  await allFree();
});

const NAMES = ['a', 'b', 'c', undefined] as const;

function fuzzed(random: () => number): object {
  const context_id = pick(random, NAMES);
  return pick(random, [
    () => ({ text: 'Hello there. ', context_id }),
    () => ({ text: 'Hello there. ', context_id, flush: true }),
    () => ({ text: '', context_id }),
    () => ({ text: ' ', context_id }),
    () => ({ context_id, flush: true }),
    () => ({ context_id, close_context: true }),
    () => (random() < 0.1 ? { context_id, text: 5 } : { text: 'x ', context_id }),
    () => (random() < 0.1 ? { text: 5 } : { text: 'x ', context_id }),
    () =>
      random() < 0.1 ? { context_id, text: 'x', voice_settings: { speed: 9 } } : { text: 'x ', context_id },
  ])();
}

t.test('random frames: every context that was opened is final, or is told why not', async (t) => {
  const random = seeded(4);
  const codes = new Map<number, number>();
  for (let round = 0; round < 3; round++) {
    const clients = await Promise.all(Array.from({ length: 15 }, () => connect()));
    for (const client of clients) {
      for (let frame = 0; frame < 15; frame++) client.send(fuzzed(random));
      client.send({ close_socket: true });
    }
    for (const client of clients) {
      const { code } = await client.ended();
      codes.set(code, (codes.get(code) ?? 0) + 1);
      const refusals = client.errors().filter(({ contextId }) => contextId === undefined);
      t.equal(refusals.length, code === 1000 ? 0 : 1);
      const spoken = new Set(client.frames.flatMap(({ contextId }) => contextId ?? []));
      if (code !== 1000) continue;
      for (const name of spoken) {
        const { isFinal, error } = client.of(name).at(-1) ?? {};
        if (!isFinal && !error) t.fail(`${name} is not over`);
      }
    }
  }
  t.ok((codes.get(1000) ?? 0) > 3 && (codes.get(1008) ?? 0) > 3, JSON.stringify([...codes]));
  await until('no socket is left', async () => (await gauge(gateway, 'open_sockets')) === 0);
  await allFree();
});
