/** What users type: our own message, LiveKit's chat in both modes of transport, and what is dropped of it, which is told. */
import { EventEmitter } from 'node:events';
import {
  ChatMessage,
  DataPacket,
  DataStream_Chunk,
  DataStream_Header,
  DataStream_OperationType,
  DataStream_TextHeader,
  DataStream_Trailer,
  UserPacket,
} from '@livekit/protocol';
import { dispose, type Room } from '@livekit/rtc-node';
import t from '../../../../../fixtures/tap.js';
import { LIMITS } from '../../../../../../contracts/limits.js';
import { ClientMessages } from '../../../../../../gateway/agents/conversations/client/messages.js';
import type { SessionClientEvent } from '../../../../../../gateway/agents/conversations/client/events.js';
import { Inbox } from '../../../../../../media/embedded/inbox.js';
import { listenToData } from '../../../../../../media/livekit/incoming.js';
import { loadRtc } from '../../../../../../media/livekit/rtc.js';
import type { DataReport } from '../../../../../../media/wire.js';
import { until } from '../../../../../fixtures/until.js';

const { typedLength, clientMessages, clientStreams } = LIMITS.session;
const LINE = 'Do you have green lamps — 緑?';
const { CREATE, UPDATE, DELETE } = DataStream_OperationType;

type Value = DataPacket['value'];
const bytesOf = (value: Value, to: readonly string[] = []): Uint8Array =>
  new DataPacket({ value, destinationIdentities: [...to] }).toBinary();

/** The packets of a text stream, its text in pieces of `size` bytes. */
function stream(text: string, { topic = 'lk.chat', size = 7, id = 'one', operationType = CREATE } = {}) {
  const contentHeader = { case: 'textHeader' as const, value: new DataStream_TextHeader({ operationType }) };
  const bytes = Buffer.from(text);
  const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) => {
    const content = new Uint8Array(bytes.subarray(index * size, (index + 1) * size));
    const value = new DataStream_Chunk({ streamId: id, chunkIndex: BigInt(index), content });
    return { case: 'streamChunk' as const, value };
  });
  const begin = {
    case: 'streamHeader' as const,
    value: new DataStream_Header({ streamId: id, topic, contentHeader }),
  };
  const end = { case: 'streamTrailer' as const, value: new DataStream_Trailer({ streamId: id }) };
  return { begin, chunks, end, all: [begin, ...chunks, end] };
}

function inbox() {
  const time = { ms: 0 };
  const reports: DataReport[] = [];
  const box = new Inbox({
    ...{ agent: 'agent', now: () => time.ms, answer: () => undefined },
    report: (report) => reports.push(report),
  });
  return {
    time,
    send: (values: readonly Value[], to?: readonly string[]) =>
      values.forEach((value) => box.receive(bytesOf(value, to))),
    /** What was received since the last look: topic and text, or that it was too long. */
    get received() {
      return reports
        .splice(0)
        .map(
          ({ topic, payload, tooLong }) =>
            `${topic}: ${tooLong ? 'too long' : Buffer.from(payload).toString()}`,
        );
    },
  };
}

t.test(
  'embedded mode: a text stream for the agent is one message, in whatever pieces it comes',
  async (t) => {
    const it = inbox();
    it.send(stream(LINE).all);
    it.send(stream(LINE, { size: 1 }).all, ['agent', 'somebody']);
    t.same(it.received, [`lk.chat: ${LINE}`, `lk.chat: ${LINE}`]);
    const { begin, chunks, end } = stream(LINE);
    it.send([begin, ...chunks.toReversed(), end, end, ...chunks]);
    t.same(it.received, [`lk.chat: ${LINE}`], 'pieces have numbers');
    const header = new DataStream_Header({
      ...begin.value,
      streamId: 'in',
      inlineContent: Buffer.from(LINE),
    });
    it.send([{ case: 'streamHeader', value: header }, stream('', { id: 'in' }).end]);
    t.same(it.received, [`lk.chat: ${LINE}`], 'a short one fits into its header');
    it.send(stream(LINE).all, ['somebody']);
    it.send(stream(LINE, { topic: 'files' }).all);
    it.send(stream(LINE, { operationType: UPDATE }).all);
    it.send(stream(LINE, { operationType: DELETE }).all);
    t.same(it.received, [], 'not for the agent, of another topic, or a change of an earlier line');
  },
);

t.test('embedded mode: text streams are bounded in bytes, in number and in time', async (t) => {
  const it = inbox();
  it.send(stream('x'.repeat(clientStreams.bytes), { size: 15_000 }).all);
  t.equal(it.received[0]?.length, 'lk.chat: '.length + clientStreams.bytes);
  it.send(stream('x'.repeat(clientStreams.bytes + 1), { size: 15_000 }).all);
  t.same(it.received, ['lk.chat: too long'], 'said once');
  const many = Array.from({ length: clientStreams.atOnce + 1 }, (_, index) =>
    stream(`${index}`, { id: `s${index}` }),
  );
  it.send(many.flatMap(({ begin, chunks }) => [begin, ...chunks]));
  it.send(many.map(({ end }) => end));
  t.same(
    it.received,
    many.slice(1).map((_, index) => `lk.chat: ${index + 1}`),
    'the oldest gives way',
  );
  const { begin, chunks, end } = stream('late');
  it.send([begin, ...chunks]);
  it.time.ms += clientStreams.ms + 1;
  it.send([end]);
  t.same(it.received, []);
});

t.test('embedded mode: messages of the older chat, and what is too long', async (t) => {
  const it = inbox();
  const chat = (values: Partial<ChatMessage>): Value => ({
    case: 'chatMessage',
    value: new ChatMessage({ message: LINE, ...values }),
  });
  it.send([chat({}), chat({ editTimestamp: 5n }), chat({ deleted: true })]);
  t.same(it.received, [`lk.chat: ${LINE}`]);
  const payload = new Uint8Array(64 * 1024 + 1);
  it.send([{ case: 'user', value: new UserPacket({ topic: 'client-event', payload }) }]);
  t.same(it.received, ['client-event: too long']);
});

t.test(
  'livekit mode: text streams and chat messages are read as the library tells them, and bounded',
  async (t) => {
    t.teardown(() => dispose());
    const handlers = new Map<string, (reader: object, from: { readonly identity: string }) => void>();
    const room = Object.assign(new EventEmitter(), {
      registerTextStreamHandler: (topic: string, handler: (reader: object) => void) =>
        handlers.set(topic, handler),
    });
    const received: unknown[] = [];
    const rtc = await loadRtc();
    listenToData(rtc, room as unknown as Room, (from, topic, payload, tooLong) =>
      received.push([from, topic, Buffer.from(payload).toString(), tooLong]),
    );
    let closed = 0;
    const reader = (parts: readonly string[]) => ({
      async *[Symbol.asyncIterator]() {
        yield* parts;
      },
      close: () => Promise.resolve(void (closed += 1)),
    });
    handlers.get('lk.chat')?.(reader(['Do you have ', 'lamps?']), { identity: 'user' });
    await until('it is read', () => received.length === 1);
    handlers.get('lk.chat')?.(reader(Array.from({ length: 100 }, () => 'x'.repeat(1024))), {
      identity: 'user',
    });
    await until('it is refused', () => received.length === 2);
    await until('both readers are closed', () => closed === 2);
    room.emit(rtc.RoomEvent.ChatMessage, { message: 'Hi' }, { identity: 'user' });
    room.emit(rtc.RoomEvent.ChatMessage, { message: 'Hi, edited', editTimestamp: 1 }, { identity: 'user' });
    room.emit(rtc.RoomEvent.DataReceived, Buffer.from('{}'), { identity: 'user' }, undefined, 'client-event');
    t.same(received, [
      ['user', 'lk.chat', 'Do you have lamps?', false],
      ['user', 'lk.chat', '', true],
      ['user', 'lk.chat', 'Hi', false],
      ['user', 'client-event', '{}', false],
    ]);
  },
);

function client(onHold = false) {
  const time = { ms: 0 };
  const taken: SessionClientEvent[] = [];
  const told: string[] = [];
  const take = (event: SessionClientEvent): void => void taken.push(event);
  const messages = new ClientMessages(
    { monotonic: () => time.ms },
    {
      ...{ 'user.message': take, 'user.dtmf': take, 'user.activity': take, 'user.interrupt': take },
      ...{ 'user.hangup': take, 'captions.live': take, 'client_tool.result': take },
    },
    { onHold },
    {
      sendData: (_topic, payload) => {
        const { event, reason } = JSON.parse(Buffer.from(payload).toString()) as Record<string, string>;
        told.push(`${event} ${reason}`);
      },
    },
  );
  const send = (topic: string, text: string | object, tooLong = false): void => {
    const payload = Buffer.from(typeof text === 'string' ? text : JSON.stringify(text));
    messages.take({ kind: 'data', topic, payload, tooLong });
  };
  return { time, taken, told, send };
}

t.test('a line of LiveKit’s chat is a line of the user, once', async (t) => {
  const { taken, told, send } = client();
  send('lk.chat', LINE);
  send('lk-chat-topic', { id: 'a', timestamp: 1, message: LINE });
  t.same(
    taken,
    Array.from({ length: 2 }, () => ({ type: 'user.message', text: LINE, aloud: true })),
  );
  // Components send both, and mark the older one.
  send('lk-chat-topic', { id: 'b', message: LINE, ignoreLegacy: true });
  for (const nothing of ['', '   ']) send('lk.chat', nothing);
  for (const nothing of ['{', '[]', 'null', { message: 7 }, { text: LINE }]) send('lk-chat-topic', nothing);
  send('lk-chat-update-topic', { id: 'a', message: LINE });
  send('toString', LINE);
  t.equal(taken.length, 2);
  t.same(told, []);
});

t.test(
  'a typed line that is too long, too soon, or on hold is dropped, and the client is told why',
  async (t) => {
    const { time, taken, told, send } = client();
    send('client-event', { type: 'user.message', text: 'x'.repeat(typedLength) });
    t.equal(taken.length, 1);
    send('client-event', { type: 'user.message', text: 'x'.repeat(typedLength + 1) });
    send('lk.chat', 'x'.repeat(typedLength + 1));
    send('lk.chat', '', true);
    t.same(
      told,
      Array.from({ length: 3 }, () => 'user.message too_long'),
    );
    t.equal(taken.length, 1);
    time.ms += 60_000;
    for (let line = 0; line < clientMessages.burst; line += 1) send('lk.chat', 'Hi');
    t.equal(told.length, 3);
    for (let line = 0; line < 100; line += 1) send('lk.chat', 'Hi');
    send('client-event', { type: 'user.hangup' });
    t.equal(taken.at(-1)?.type, 'user.hangup');
    t.same(
      told.slice(3),
      Array.from({ length: clientMessages.burst }, () => 'user.message rate_limited'),
      'not without end',
    );
    const waiting = client(true);
    waiting.send('lk.chat', 'Hi');
    t.same(waiting.told, ['user.message on_hold']);
  },
);
