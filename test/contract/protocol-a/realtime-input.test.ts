/**
 * Input of protocol A's realtime socket, on a whole gateway: audio and its transcripts, items, limits, and random
 * frames (docs/contract/protocol-a.md 5).
 */
import t from '../../fixtures/tap.js';
import { LIMITS } from '../../../contracts/limits.js';
import { exactly } from '../../fixtures/exactly.js';
import { lentGateway } from '../../fixtures/lent-gateway.js';
import { gauge } from '../../fixtures/native/live.js';
import { shortOrLong } from '../../fixtures/long.js';
import { memoryOf } from '../../fixtures/processes/resources.js';
import {
  format,
  TRANSCRIBING,
  item,
  realtime,
  response,
  TRANSCRIPTION,
} from '../../fixtures/protocol-a/realtime-events.js';
import { pick, seeded } from '../../fixtures/random.js';
import { appended, type ServerEvent } from '../../fixtures/protocol-a/realtime-client.js';
import { until } from '../../fixtures/until.js';

const gateway = await lentGateway(t);

const { connect, speech } = realtime(gateway);

t.test('speech to text: the order of events, overlapping commits told apart by their items', async (t) => {
  const client = await connect(TRANSCRIBING);
  const texts = Array.from({ length: 8 }, (_, index) => `Commit number ${index}. It has two sentences.`);
  const spoken = await Promise.all(texts.map((text) => speech(text)));
  for (const audio of spoken) client.append(audio.subarray(0, 7001)).append(audio.subarray(7001)).commit();
  await until('all are transcribed', () => client.of(`${TRANSCRIPTION}.completed`).length === texts.length);
  const committed = client.of('input_audio_buffer.committed');
  t.equal(committed[0]?.['previous_item_id'], null);
  for (const [index, event] of committed.entries()) {
    const { item_id: id } = event;
    if (index > 0) t.equal(event['previous_item_id'], committed[index - 1]?.['item_id']);
    const own = client.events.filter(
      (other) => other['item_id'] === id || (other['item'] as { id?: string } | undefined)?.id === id,
    );
    const deltas = own.filter(({ type }) => type.endsWith('.delta')).map(({ delta }) => delta);
    t.strictSame(
      own.map(({ type }) => type).filter((type, at, types) => types[at - 1] !== type),
      [
        'input_audio_buffer.committed',
        'conversation.item.added',
        'conversation.item.done',
        `${TRANSCRIPTION}.delta`,
        `${TRANSCRIPTION}.completed`,
      ],
    );
    t.equal(deltas.length, 2, 'one a segment');
    t.equal(deltas.join(''), texts[index]);
    exactly(t, own.at(-1), {
      content_index: 0,
      transcript: texts[index],
      usage: { type: 'duration', seconds: Number },
    });
  }
  exactly(t, client.of('conversation.item.added')[0], {
    item: { role: 'user', content: [{ type: 'input_audio', transcript: null }] },
  });
  client.respond();
  exactly(t, await client.error(), { code: 'invalid_event' }, 'it does not speak');
  client.leave();
});

t.test('base64 with the line breaks of mail, and a byte order mark before an event, are taken', async (t) => {
  const client = await connect();
  const lines = (await speech('Line by line.')).toString('base64').replace(/.{76}/g, '$&\r\n');
  for (const frame of [
    { type: 'input_audio_buffer.append', audio: `${lines}\n` },
    { audio: '', type: 'input_audio_buffer.append' },
    { type: 'input_audio_buffer.commit' },
  ])
    client.socket.send(`\ufeff${JSON.stringify(frame)}`);
  t.equal((await client.next(`${TRANSCRIPTION}.completed`))['transcript'], 'Line by line.');
  client.send({ type: 'input_audio_buffer.append', audio: lines }).commit();
  t.equal((await client.next(`${TRANSCRIPTION}.completed`))['transcript'], 'Line by line.');
  client.leave();
});

t.test('clear drops what waits; the next commit holds what came after', async (t) => {
  const client = await connect();
  client.append(await speech('Dropped.')).send({ type: 'input_audio_buffer.clear' });
  await client.next('input_audio_buffer.cleared');
  client.append(await speech('Kept.'));
  client.update(format('audio/pcm', 8000));
  exactly(t, await client.error(), { code: 'unsupported_audio_format' }, 'not while audio waits');
  client.commit();
  t.equal((await client.next(`${TRANSCRIPTION}.completed`))['transcript'], 'Kept.');
  client.leave();
});

t.test('a turn that ends within a sample leaves the later ones whole, and so does a clear', async (t) => {
  const client = await connect();
  const texts = ['First.', 'Second.', 'Third.'] as const;
  const [first, second, third] = await Promise.all([speech(texts[0]), speech(texts[1]), speech(texts[2])]);
  const heard = async (audio: Uint8Array): Promise<unknown> =>
    (await client.append(audio).commit().next(`${TRANSCRIPTION}.completed`))['transcript'];
  /** The end of a pause that an odd number of bytes cuts. */
  const [rest, odd] = [Buffer.alloc(1323), Buffer.alloc(1001)];
  t.equal(await heard(Buffer.concat([first, odd])), texts[0]);
  t.equal(await heard(Buffer.concat([rest, second, odd])), texts[1], 'the stream goes on');
  client.append(Buffer.concat([rest, first, odd])).send({ type: 'input_audio_buffer.clear' });
  t.equal(await heard(Buffer.concat([rest, third, odd])), texts[2], 'also after a clear');
  t.equal(await heard(second), texts[1], 'another stream begins');
  client.append(odd).send({ type: 'input_audio_buffer.clear' });
  t.equal(await heard(first), texts[0], 'also after a clear');
  client.leave();
});

t.test('without transcription a commit makes an item and no more', async (t) => {
  const client = await connect();
  const audio = await speech('Unheard.');
  client
    .update({ audio: { input: { transcription: null } } })
    .append(audio)
    .commit();
  const { id } = item(await client.next('conversation.item.done'));
  client.send({ type: 'conversation.item.retrieve', item_id: id });
  const retrieved = item(await client.next('conversation.item.retrieved'));
  exactly(t, retrieved, { content: [{ transcript: null, audio: audio.toString('base64') }] });
  client.leave();
});

t.test(
  'items: audio that is created is transcribed; retrieve answers with bytes; delete; truncate',
  async (t) => {
    const client = await connect();
    const audio = await speech('An item of its own.');
    const part = { type: 'input_audio', audio: audio.toString('base64') };
    client.send({ type: 'conversation.item.create', item: { id: 'heard', role: 'user', content: [part] } });
    exactly(t, await client.next('conversation.item.added'), {
      item: { id: 'heard', content: [{ transcript: null }] },
    });
    exactly(t, await client.next(`${TRANSCRIPTION}.completed`), {
      item_id: 'heard',
      transcript: 'An item of its own.',
    });
    const retrieve = async (id: unknown) => {
      client.send({ type: 'conversation.item.retrieve', item_id: id });
      return item(await client.next('conversation.item.retrieved')) as unknown as {
        content: Record<string, string>[];
      };
    };
    t.strictSame((await retrieve('heard')).content, [
      { type: 'input_audio', transcript: 'An item of its own.', audio: part.audio },
    ]);
    client.send({ type: 'conversation.item.create', item: { id: 'heard', role: 'user', content: [part] } });
    exactly(
      t,
      await client.error(),
      { code: 'invalid_event', param: 'item.id' },
      'an id stands for one item',
    );
    const told = { type: 'input_audio', transcript: 'Known already.', audio: part.audio };
    client.send({ type: 'conversation.item.create', item: { id: 'known', role: 'user', content: [told] } });
    client.say('Spoken to be cut.').respond();
    const spoken = (response(await client.next('response.done')) as unknown as { output: { id: string }[] })
      .output[0]!.id;
    const whole = (await retrieve(spoken)).content[0];
    t.equal(whole?.['audio'], client.audio().toString('base64'));
    const ms = client.audio().length / 48;
    client.send({
      type: 'conversation.item.truncate',
      item_id: spoken,
      content_index: 0,
      audio_end_ms: ms + 1,
    });
    exactly(t, await client.error(), { code: 'invalid_event', param: 'audio_end_ms' });
    client.socket.send(
      `{"type":"conversation.item.truncate","item_id":"${spoken}","content_index":0,"audio_end_ms":1e999}`,
    );
    exactly(t, await client.error(), { message: 'audio_end_ms must be a number, 0 or more' });
    client.send({ type: 'conversation.item.truncate', item_id: spoken, content_index: 0, audio_end_ms: 100 });
    exactly(t, await client.next('conversation.item.truncated'), {
      item_id: spoken,
      content_index: 0,
      audio_end_ms: 100,
    });
    const cut = (await retrieve(spoken)).content[0];
    t.strictSame(cut, { type: 'output_audio', audio: client.audio().subarray(0, 4800).toString('base64') });
    for (const id of ['heard', 'known', spoken]) {
      client.send({ type: 'conversation.item.delete', item_id: id });
      exactly(t, await client.next('conversation.item.deleted'), { item_id: id });
      client.send({ type: 'conversation.item.retrieve', item_id: id });
      exactly(t, await client.error(), { code: 'item_not_found', param: 'item_id' });
    }
    t.equal(client.of(`${TRANSCRIPTION}.completed`).length, 1, 'what has a transcript is not transcribed');
    client.send({ type: 'conversation.item.truncate', item_id: 'a', content_index: 0, audio_end_ms: -1 });
    exactly(t, await client.error(), { code: 'item_not_found' });
    client.leave();
  },
);

t.test('limits: text of an item, text of a response, pending items', async (t) => {
  const client = await connect();
  const most = 'a'.repeat(LIMITS.realtime.itemTextBytes);
  client.say(`${most}b`);
  exactly(t, await client.error(), { code: 'conversation_too_large' });
  client.say(most);
  await client.next('conversation.item.done');
  client.say('One more.').respond();
  exactly(t, await client.error(), { code: 'conversation_too_large', param: 'response.input' });
  for (let index = 2; index < LIMITS.realtime.pendingItems; index += 1) client.say(`Item ${index}.`);
  await until(
    'all are taken',
    () => client.of('conversation.item.done').length === LIMITS.realtime.pendingItems,
  );
  client.say('Too much.');
  exactly(t, await client.error(), { code: 'conversation_too_large' });
  client.append(Buffer.alloc(4800)).commit();
  exactly(t, await client.error(), { code: 'conversation_too_large' }, 'audio counts among the pending');
  const [first] = client.of('conversation.item.added');
  client.send({ type: 'conversation.item.delete', item_id: item(first!).id });
  await client.next('conversation.item.deleted');
  client.say('Room again.');
  await client.next('conversation.item.done');
  client.leave();
});

t.test('limits: texts of a response are read no further than they may be spoken', async (t) => {
  const client = await connect();
  const part = { type: 'input_text', text: 'a'.repeat(LIMITS.realtime.itemTextBytes / 2 - 1) };
  const long = { id: 'long', role: 'user', content: [part, part] };
  client.send({ type: 'conversation.item.create', item: long });
  await client.next('conversation.item.done');
  const references = ['long', 'long', 'nothing'].map((id) => ({ type: 'item_reference', id }));
  client.respond({ input: references });
  exactly(t, await client.error(), { code: 'conversation_too_large', param: 'response.input' });
  client.leave();
});

t.test('limits: 100 MiB of audio in buffer and items together; what does not fit is dropped', async (t) => {
  const client = await connect();
  const MiB = 2 ** 20;
  const piece = JSON.stringify(appended(Buffer.alloc(20 * MiB)));
  /** One after the other, since 100 MiB of frames that wait are too many as well: an answer shows that one was taken. */
  const taken = async (): Promise<void> => {
    client.send({ type: 'session.update', session: { type: 'realtime' } });
    await client.next('session.updated');
  };
  for (let index = 0; index < 4; index += 1) {
    client.socket.send(piece);
    await taken();
  }
  client.append(Buffer.alloc(20 * MiB - 1));
  await taken();
  const audio = (bytes: number) => ({
    type: 'conversation.item.create',
    item: { role: 'user', content: [{ type: 'input_audio', audio: Buffer.alloc(bytes).toString('base64') }] },
  });
  client.send(audio(2));
  exactly(t, await client.error(), { code: 'conversation_too_large' });
  client.append(Buffer.alloc(2));
  exactly(t, await client.error(), { code: 'conversation_too_large', param: 'audio' });
  client.append(Buffer.alloc(1)).append(Buffer.alloc(1));
  exactly(t, await client.error(), { code: 'conversation_too_large' });
  client.send({ type: 'input_audio_buffer.clear' });
  await client.next('input_audio_buffer.cleared');
  client.append(Buffer.alloc(2)).commit();
  exactly(t, await client.next(`${TRANSCRIPTION}.completed`), { transcript: '' });
  client.leave();
});

t.test('a frame over 32 MiB closes with 1009', async (t) => {
  const client = await connect();
  client.socket.send('x'.repeat(LIMITS.socket.frameBytes + 1));
  t.equal(await client.closed(), 1009);
});

/** A random value that JSON can carry, a few levels deep. */
function anything(random: () => number, depth = 0): unknown {
  const leaves: [unknown, ...unknown[]] = [
    null,
    true,
    -1,
    1e300,
    0.1,
    '',
    'AAAA',
    'root',
    'one',
    'audio/pcm',
    '\u0000\ud800',
    'x'.repeat(2000),
  ];
  if (depth > 4 || random() < 0.4) return pick(random, leaves);
  const members = Array.from({ length: Math.floor(random() * 6) }, () => anything(random, depth + 1));
  if (random() < 0.5) return members;
  return Object.fromEntries(members.map((member) => [pick(random, NAMES), member]));
}

const NAMES = [
  'type',
  'session',
  'audio',
  'input',
  'output',
  'format',
  'rate',
  'voice',
  'speed',
  'turn_detection',
  'transcription',
  'model',
  'item',
  'id',
  'item_id',
  'role',
  'content',
  'text',
  'transcript',
  'response',
  'previous_item_id',
  'event_id',
  'metadata',
  'conversation',
  'content_index',
  'audio_end_ms',
  '__proto__',
] as const;
const TYPES = [
  'session.update',
  'conversation.item.create',
  'conversation.item.retrieve',
  'conversation.item.delete',
  'conversation.item.truncate',
  'input_audio_buffer.append',
  'input_audio_buffer.commit',
  'input_audio_buffer.clear',
  'response.create',
  'response.cancel',
] as const;

/** An event that is valid except for one random member, most of the time. */
function nearly(random: () => number): object {
  const message = {
    id: pick(random, ['one', 'two', 'three']),
    type: 'message',
    role: pick(random, ['user', 'user', 'assistant', 'system']),
    content: [
      pick(random, [
        { type: 'input_text', text: 'a b. ' },
        { type: 'input_audio', audio: 'AAAAAAAA' },
      ]),
    ],
  };
  const event: Record<string, unknown> = {
    type: pick(random, TYPES),
    event_id: 'e',
    session: { audio: { input: { format: pick(random, ['audio/pcm', 'audio/wav']) }, output: { speed: 2 } } },
    item: message,
    item_id: pick(random, ['one', 'two', 'three']),
    audio: pick(random, ['AAAA', 'AAA=', 'AA', 'A', '%', 'data:audio/wav;base64,AAAA']),
    response: pick<object>(random, [
      {},
      { input: [message] },
      { input: [{ type: 'item_reference', id: 'one' }] },
    ]),
    content_index: 0,
    audio_end_ms: 10,
  };
  if (random() < 0.3) event[pick(random, NAMES)] = anything(random);
  return event;
}

function fuzzed(random: () => number): string | Uint8Array {
  const frames: [() => string | Uint8Array, ...(() => string | Uint8Array)[]] = [
    () => JSON.stringify(nearly(random)),
    () => JSON.stringify(nearly(random)),
    () => JSON.stringify(nearly(random)),
    () => JSON.stringify({ type: pick(random, TYPES), ...(anything(random) as object) }),
    () => JSON.stringify(anything(random)),
    () => Buffer.from(JSON.stringify(nearly(random))),
    () => Uint8Array.from({ length: Math.floor(random() * 400) }, () => Math.floor(random() * 256)),
    () => '{"type":'.repeat(Math.floor(random() * 3000)),
    () => `{"type":"input_audio_buffer.append","audio":"${'/+8='.repeat(Math.floor(random() * 30_000))}"}`,
    () => `{"type":"session.update","session":${'['.repeat(9000)}${']'.repeat(9000)}}`,
  ];
  const frame = pick(random, frames)();
  return random() < 0.1 ? frame.slice(0, Math.floor(random() * frame.length)) : frame;
}

t.test('random frames never end a session, crash or leak', async (t) => {
  const random = seeded(11);
  const before = memoryOf(gateway.pid);
  for (let round = 0; round < shortOrLong(2, 4); round += 1) {
    const clients = await Promise.all(
      Array.from({ length: 10 }, () => connect(random() < 0.3 ? TRANSCRIBING : {})),
    );
    for (const client of clients) {
      for (let frame = 0; frame < 60; frame += 1) client.socket.send(fuzzed(random));
      client.send({ type: 'the end', event_id: 'last' });
    }
    for (const client of clients) {
      const isLast = (event: ServerEvent) => (event['error'] as { event_id?: string }).event_id === 'last';
      await until('the last is answered', () => client.closeCode || client.of('error').some(isLast));
      t.equal(client.closeCode, undefined);
      t.ok(client.of('error').length > 5);
      client.leave();
    }
  }
  await until('no socket is left', async () => (await gauge(gateway, 'open_sockets')) === 0);
  await until('no job is left', async () => (await gauge(gateway, 'speech_jobs_running')) === 0);
  t.ok(memoryOf(gateway.pid) - before < 300 * 2 ** 20);
  const client = await connect();
  client.say('Still here.').respond();
  exactly(t, response(await client.next('response.done')), { status: 'completed' });
  client.leave();
});
