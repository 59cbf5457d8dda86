/**
 * The memory of sockets on both HTTP stacks: the attack of many small appends (X2), sockets that have to go, clients that do
 * not read, and that nothing stays charged, whatever way a socket ended.
 */
import { once } from 'node:events';
import t from '../../fixtures/tap.js';
import { WebSocket } from 'ws';
import { systemClock } from '../../../contracts/clock.js';
import { silentLog } from '../../../contracts/log.js';
import type { RequestTrace } from '../../../contracts/ports/trace.js';
import { defaultVocabulary } from '../../../contracts/vocabulary.js';
import { ItemAudioCache } from '../../../gateway/dialects/protocol-a/realtime/item-audio-cache.js';
import { RealtimeSession } from '../../../gateway/dialects/protocol-a/realtime/session.js';
import { defaultSettings } from '../../../gateway/dialects/protocol-a/realtime/settings.js';
import type { ProtocolAParts } from '../../../gateway/dialects/protocol-a/parts.js';
import { Ledger } from '../../../gateway/server/memory/ledger.js';
import type { Socket } from '../../../gateway/server/port.js';
import { stacks, startEdge } from '../../fixtures/edge/edge.js';
import { accept, closeOf, type Seen } from '../../fixtures/edge/sockets.js';
import { exactly } from '../../fixtures/exactly.js';
import { until } from '../../fixtures/until.js';

const KiB = 1024;
const BUDGET = 8 * 1024 * KiB;
const PIECE = 128 * KiB;

const trace: RequestTrace = { context: { traceparent: '' }, engine: () => undefined };
const parts = { vocabulary: defaultVocabulary, clock: systemClock, log: silentLog } as ProtocolAParts;

/** A realtime session of protocol A, whose workspace the path names. */
const realtime = (workspaceId: string) => (socket: Socket) =>
  new RealtimeSession(
    socket,
    {
      caller: { workspaceId, keyId: 'k' },
      ...{ generationId: `gen-${workspaceId}`, options: {}, hasOptionHeaders: false, trace },
      settings: defaultSettings('realtime', defaultVocabulary),
    },
    parts,
    new ItemAudioCache(),
    () => undefined,
  );

for (const stack of stacks(t.comment)) {
  void t.test(`on ${stack}`, async (t) => {
    const ledger = new Ledger(BUDGET);
    const seen: Seen = { sockets: [], messages: [], gone: [], closed: [] };
    const server = await startEdge(stack, [], {
      memory: ledger,
      sockets: [
        {
          path: '/realtime/{workspace}',
          permission: 'open',
          upgrade: async ({ params }) => ({
            maxFrameBytes: BUDGET,
            open: realtime(params['workspace'] ?? ''),
          }),
        },
        { path: '/silent', permission: 'open', upgrade: async () => accept(seen) },
      ],
    });
    t.teardown(() => server.close());
    const connect = async (path: string) => {
      const client = new WebSocket(`ws://127.0.0.1:${server.port}${path}`, { perMessageDeflate: false });
      const events: { readonly type: string; readonly error?: { readonly code: string } }[] = [];
      client.on('message', (data: Buffer) => void events.push(JSON.parse(String(data)) as never));
      await once(client, 'open');
      return { client, events };
    };
    const append = (audio: string): string => JSON.stringify({ type: 'input_audio_buffer.append', audio });
    /** An answer shows that the frames before it were taken. */
    const answered = async ({ client, events }: Awaited<ReturnType<typeof connect>>): Promise<void> => {
      const answers = () => events.filter(({ error }) => error?.code === 'unknown_event_type').length;
      const before = answers();
      client.send('{"type":"none"}');
      await until('all frames are taken', () => answers() > before);
    };
    /** One frame at a time, each read at once: larger ones, and those that wait for a turn of the loop, are charged themselves. */
    const fill = async (session: Awaited<ReturnType<typeof connect>>, bytes: number): Promise<void> => {
      const piece = append(Buffer.alloc(PIECE).toString('base64'));
      for (let sent = 0; sent < bytes; sent += PIECE) {
        session.client.send(piece);
        await answered(session);
      }
    };

    await t.test(
      '20,000 appends of a byte in odd spellings cost two blocks, and none after the close',
      async (t) => {
        const session = await connect('/realtime/attacker');
        const frames = ['AA== ', 'A A==', 'data:audio/pcm;base64,AA=='].map(append);
        // As many at once as may wait.
        for (let turn = 0; turn < 2; turn += 1) {
          for (let count = 0; count < 10_000; count += 1) session.client.send(frames[count % 3] ?? '');
          await answered(session);
        }
        t.equal(session.events.filter(({ type }) => type === 'error').length, 2, 'those of the answers');
        t.equal(ledger.bytesOf('audio'), (16 + 64) * KiB);
        session.client.terminate();
        await until('it is closed', () => ledger.bytes === 0);
      },
    );

    await t.test('the largest socket of the largest workspace goes, with an error and 1013', async (t) => {
      const large = await connect('/realtime/large');
      const small = await connect('/realtime/large');
      const other = await connect('/realtime/other');
      const closed = closeOf(large.client);
      await fill(small, 512 * KiB);
      await fill(large, 5 * 1024 * KiB);
      await fill(large, 3 * 1024 * KiB);
      exactly(
        t,
        large.events.at(-2),
        { type: 'error', error: { code: 'memory_exhausted' } },
        'refused for itself',
      );
      await fill(other, 3 * 1024 * KiB);
      exactly(t, await closed, { code: 1013 });
      exactly(t, large.events.at(-1), { type: 'error', error: { code: 'memory_exhausted' } });
      t.equal(ledger.bytesOf('audio'), (3 * 1024 + 512) * KiB, 'the others have theirs');
      for (const { client } of [small, other]) client.close();
      await until('all are closed', () => ledger.bytes === 0);
    });

    await t.test('a client that does not read is charged for its frames, and goes', async (t) => {
      const { client } = await connect('/silent');
      const socket = await until('it is open', () => seen.sockets.at(-1));
      client.pause();
      socket.chargeTo('reader');
      const frame = Buffer.alloc(64 * KiB);
      let most = 0;
      while (seen.gone.length === 0) {
        socket.send(frame);
        most = Math.max(most, ledger.bytesOf('frame'));
        await new Promise(setImmediate);
      }
      t.ok(most > BUDGET / 2 && most <= BUDGET, `${most} bytes`);
      await until('it is closed', () => seen.closed.length === 1, 30_000);
      t.strictSame(seen.closed, [1013]);
      t.equal(ledger.bytes, 0);
      client.terminate();
    });
  });
}
