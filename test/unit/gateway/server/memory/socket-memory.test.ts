/**
 * What waits for a socket is charged to its workspace: each kind of socket refuses, and ends, in its own shape when the memory
 * budget is used up, and nothing stays charged to one that has closed.
 */
import { setImmediate as turn } from 'node:timers/promises';
import t from '../../../../fixtures/tap.js';
import { CLOSE } from '../../../../../contracts/close-codes.js';
import { PIECE_BYTES } from '../../../../../contracts/ports/accounts/memory.js';
import { silentLog } from '../../../../../contracts/log.js';
import type { StreamProvider } from '../../../../../gateway/agents/phone/provider.js';
import { PhoneStream } from '../../../../../gateway/agents/phone/stream.js';
import { EgressQueue } from '../../../../../gateway/server/egress-queue.js';
import { Ledger } from '../../../../../gateway/server/memory/ledger.js';
import { SocketMemory } from '../../../../../gateway/server/memory/socket-memory.js';
import type { Socket } from '../../../../../gateway/server/port.js';
import { SimulatedClock } from '../../../../fixtures/clock.js';
import { exactly } from '../../../../fixtures/exactly.js';
import { chargedTo } from '../../../../fixtures/edge/socket-memory.js';
import { open as openRealtime, base64 } from '../../../../fixtures/protocol-a/realtime-host.js';
import { open as openSpeech } from '../../../../fixtures/protocol-b/stream-input-host.js';
import {
  chunkFrame,
  openSession,
  second,
} from '../../../../fixtures/protocol-b/transcription-session-host.js';
import { standIn } from '../../../../fixtures/stand-in.js';

const KiB = 1024;
const MESSAGE = 'The server has no memory left for this request, try again later';

/** Another workspace, smaller than any other holder, that needs as much as is left and a little more. */
function crowd(ledger: Ledger): boolean {
  const share = ledger.openShare({ kind: 'body', holder: 'other', evict: () => undefined });
  const bytes = ledger.budgetBytes - ledger.bytes + 1;
  return share.charge(bytes);
}

t.test('protocol A: an append is refused in band, and the session goes on', async (t) => {
  const ledger = new Ledger(20 * KiB);
  const { send, of, session, ends } = openRealtime({}, ledger);
  send('input_audio_buffer.append', { audio: base64(1, 2) });
  t.equal(ledger.bytesOf('audio'), 16 * KiB);
  send('input_audio_buffer.append', { audio: Buffer.alloc(16 * KiB).toString('base64'), event_id: 'e' });
  const error = { type: 'server_error', code: 'memory_exhausted', message: MESSAGE, event_id: 'e' };
  exactly(t, of('error'), [{ error }]);
  send('conversation.item.create', {
    item: { role: 'user', content: [{ type: 'input_text', text: 'a'.repeat(8000) }] },
  });
  exactly(t, of('error')[1], { error: { code: 'memory_exhausted' } }, 'nor is there memory for text');
  t.equal(session.input.bytes, 2);
  t.strictSame(ends, []);
});

t.test('protocol A: a session that has to go says so, and gives everything back', async (t) => {
  const ledger = new Ledger(64 * KiB);
  const { send, of, ends } = openRealtime({}, ledger);
  send('input_audio_buffer.append', { audio: Buffer.alloc(40 * KiB).toString('base64') });
  send('conversation.item.create', { item: { role: 'user', content: [{ type: 'input_text', text: 'a' }] } });
  t.equal(ledger.bytesOf('text'), 2 * PIECE_BYTES);
  t.ok(crowd(ledger));
  exactly(t, of('error'), [{ error: { type: 'server_error', code: 'memory_exhausted', message: MESSAGE } }]);
  t.strictSame(ends, ['memory']);
  t.equal(ledger.bytesOf('audio') + ledger.bytesOf('text'), 0);
});

t.test('protocol A: audio of finished items goes before its session does', async (t) => {
  const ledger = new Ledger(48 * KiB);
  const { send, of, ends, audioCache, transcription } = openRealtime({}, ledger);
  send('input_audio_buffer.append', { audio: Buffer.alloc(30 * KiB).toString('base64') });
  send('input_audio_buffer.commit');
  await turn();
  transcription.jobs[0]?.end({ text: 'heard', language: 'en', duration: 1, segments: [] });
  await turn();
  t.equal(audioCache.size, 1);
  t.equal(ledger.bytesOf('audio'), 30 * KiB + 512, 'once');
  t.ok(crowd(ledger));
  t.equal(audioCache.size, 0);
  t.strictSame([of('error'), ends], [[], []]);
});

t.test('protocol A: odd commits and odd clears leave later turns whole', async (t) => {
  const { send, session, transcription } = openRealtime();
  const pieces = (...lengths: number[]) => {
    for (const length of lengths)
      send('input_audio_buffer.append', { audio: Buffer.alloc(length, 7).toString('base64') });
  };
  pieces(1323);
  send('input_audio_buffer.clear');
  pieces(1323);
  send('input_audio_buffer.commit');
  pieces(1322);
  send('input_audio_buffer.commit');
  pieces(1);
  send('input_audio_buffer.commit');
  await turn();
  const lengths = transcription.jobs.map(({ request: { audio } }) =>
    'chunks' in audio ? Buffer.concat(audio.chunks).length : -1,
  );
  t.strictSame(lengths, [1324, 1322], 'half a sample alone is no turn');
  t.equal(session.input.bytes, 1);
});

t.test('protocol B: a chunk is refused in band, and the session goes on', async (t) => {
  const ledger = new Ledger(40 * KiB);
  const { chunk, send, frames, types, closes } = openSession('', undefined, ledger);
  chunk(second());
  chunk(second());
  exactly(t, frames.at(-1), { message_type: 'resource_exhausted', error: /no memory left/ });
  send(chunkFrame(new Uint8Array(0)));
  t.strictSame(closes, []);
  t.equal(types().filter((type) => type === 'resource_exhausted').length, 1);
});

t.test('protocol B: a session that has to go says so, and gives everything back', async (t) => {
  const ledger = new Ledger(40 * KiB);
  const { chunk, frames, closes } = openSession('', undefined, ledger);
  chunk(second(), { commit: true });
  t.ok(crowd(ledger));
  exactly(t, frames.at(-1), { message_type: 'resource_exhausted', error: MESSAGE });
  exactly(t, closes, [{ code: CLOSE.memory.code }]);
  t.equal(ledger.bytesOf('audio'), 0);
});

/** Synthesis that never reads its text. */
const busy = {
  synthesizeTimed: () => ({
    [Symbol.asyncIterator]: () => ({
      next: () => new Promise<never>(() => undefined),
      return: () => Promise.resolve({ done: true, value: undefined } as const),
    }),
  }),
};

t.test(
  'stream-input: text is charged while it waits; without memory the socket closes with 1013',
  async (t) => {
    const ledger = new Ledger(24 * KiB);
    const socket = await openSpeech({ speech: busy, ledger });
    socket.send({ text: 'a'.repeat(10 * KiB) });
    await turn();
    t.ok(ledger.bytesOf('text') >= 4 * KiB);
    socket.send({ text: 'a'.repeat(40 * KiB) });
    await turn();
    exactly(t, socket.log.slice(-2), [{ error: 'system_busy', code: 1013 }, { close: { code: 1013 } }]);
    t.equal(ledger.bytes, 0);
  },
);

t.test('multi-stream-input: without memory a context ends, and the socket when it has to go', async (t) => {
  const ledger = new Ledger(48 * KiB);
  const socket = await openSpeech({ path: 'multi-stream-input', speech: busy, ledger });
  socket.send({ text: 'a'.repeat(60 * KiB), context_id: 'one' });
  await turn();
  exactly(t, socket.log, [{ contextId: 'one', error: 'system_busy' }]);
  t.equal(ledger.bytes, 0, 'of a context that has ended nothing waits');
  socket.send({ text: 'a'.repeat(40 * KiB), context_id: 'two' });
  await turn();
  t.ok(crowd(ledger));
  exactly(t, socket.log.slice(-2), [{ error: 'system_busy', code: 1013 }, { close: { code: 1013 } }]);
  t.equal(ledger.bytesOf('text'), 0);
});

t.test('frames that come before the key is known are charged to the address', async (t) => {
  const ledger = new Ledger(8 * KiB);
  const socket = await openSpeech({ headers: {}, slowKeys: true, ledger });
  socket.send({ text: ' ', xi_api_key: 'good' });
  t.equal(ledger.bytesOf('frame'), PIECE_BYTES);
  for (let count = 0; count < 40; count += 1) socket.send({ text: 'a' });
  exactly(t, socket.log.at(-1), { close: { code: 1013 } });
  t.equal(ledger.bytes, 0);
});

/** A media stream of a telephone provider whose call has not been set up yet. */
function openStream(ledger: Ledger) {
  const closes: unknown[] = [];
  const memory = chargedTo(ledger, (error) => stream.mustEnd(error));
  const socket: Socket = {
    ...memory.charged,
    failed: (error) => {
      throw error;
    },
    send: () => undefined,
    queuedBytes: 0,
    drained: () => Promise.resolve(),
    close(reason) {
      closes.push(reason);
      stream.gone();
      memory.close();
    },
    authenticated: () => undefined,
  };
  const provider = { name: 'twilio', read: (message: string) => JSON.parse(message) as unknown };
  const parts = {
    calls: { begin: () => new Promise<never>(() => undefined) },
    tokens: { verify: () => 'session' },
    admit: undefined,
    clock: new SimulatedClock(),
    log: silentLog,
  };
  const handshake = { query: new URLSearchParams(), headers: new Map<string, string>(), baseUrl: '' };
  const stream = new PhoneStream(socket, provider as unknown as StreamProvider, handshake, parts);
  const format = { codec: 'mulaw', rate: 8000 };
  stream.message(JSON.stringify({ type: 'start', stream: 's', callId: 'c', token: 't', format }));
  const hear = (text: string): void => stream.message(JSON.stringify({ type: 'media', audio: text }));
  return { hear, closes };
}

t.test(
  'telephone: messages that wait for their call are charged, and the stream closes with 1013',
  async (t) => {
    for (const isRefused of [true, false]) {
      const ledger = new Ledger(8 * KiB);
      const { hear, closes } = openStream(ledger);
      for (let count = 0; count < 20; count += 1) hear('a');
      t.equal(ledger.bytesOf('frame'), 20 * PIECE_BYTES);
      if (isRefused) hear('a'.repeat(8 * KiB));
      else t.ok(crowd(ledger));
      exactly(t, closes, [{ code: 1013 }]);
      t.equal(ledger.bytesOf('frame'), 0);
    }
  },
);

t.test('the egress queue charges what its client has not read, each frame with 256 bytes', async (t) => {
  const ledger = new Ledger(100 * KiB);
  const share = ledger.openShare({ kind: 'frame', holder: 'w', evict: () => undefined });
  const wire = { bufferedBytes: 0, send: () => void (wire.bufferedBytes = 64 * KiB) };
  const queue = new EgressQueue(standIn<ConstructorParameters<typeof EgressQueue>[0]>(wire), () => share);
  queue.push('first');
  t.ok(queue.charge());
  t.equal(ledger.bytes, 64 * KiB, 'the wire’s');
  for (let count = 0; count < 128; count += 1) queue.push('x');
  t.ok(queue.charge());
  t.equal(ledger.bytes, 96 * KiB);
  for (let count = 0; count < 128; count += 1) queue.push('x');
  t.notOk(queue.charge());
  queue.clear();
  wire.bufferedBytes = 0;
  queue.flush();
  t.equal(ledger.bytes, 0);
});

t.test('a socket’s shares are opened with their first charge, for the holder of that time', async (t) => {
  const ledger = new Ledger(10 * KiB);
  let holder = 'address:1';
  const ends: string[] = [];
  const memory = new SocketMemory(
    ledger,
    () => holder,
    () => void ends.push('socket'),
  );
  const [audio, text] = [memory.share('audio', () => void ends.push('audio')), memory.share('text')];
  audio.release(1);
  holder = 'w';
  t.ok(audio.charge(6 * KiB));
  t.ok(crowd(ledger), 'somebody smaller gets its place');
  t.strictSame(ends, ['audio']);
  t.ok(audio.charge(KiB), 'what may go alone may come back');
  t.ok(text.charge(KiB));
  memory.close();
  t.equal(ledger.bytesOf('audio') + ledger.bytesOf('text'), 0);
  t.notOk(audio.charge(1), 'nothing after the close');
});
