/** The host of a live socket, with a speech port and a client that the test moves step by step. */
import { setImmediate as turn } from 'node:timers/promises';
import { decode, encode } from '@msgpack/msgpack';
import t from '../../../../fixtures/tap.js';
import { ServiceError } from '../../../../../contracts/errors.js';
import { LIMITS } from '../../../../../contracts/limits.js';
import { silentLog } from '../../../../../contracts/log.js';
import type { MemoryLedger } from '../../../../../contracts/ports/accounts/memory.js';
import type {
  StreamingSynthesisRequest,
  Speech,
  TimedAudio,
} from '../../../../../contracts/ports/speech/speech.js';
import { defaultVocabulary } from '../../../../../contracts/vocabulary.js';
import { liveSockets } from '../../../../../gateway/dialects/native/live.js';
import { BARE_AUDIO, TIMED_AUDIO } from '../../../../../gateway/dialects/native/live-audio.js';
import { LiveSession } from '../../../../../gateway/dialects/native/live-session.js';
import type { NativeParts } from '../../../../../gateway/dialects/native/parts.js';
import type { HttpRequest, Socket } from '../../../../../gateway/server/port.js';
import { Ledger } from '../../../../../gateway/server/memory/ledger.js';
import { SimulatedClock } from '../../../../fixtures/clock.js';
import { exactly, rejectsExactly } from '../../../../fixtures/exactly.js';
import type { ServerEvent } from '../../../../fixtures/native/live.js';
import { chargedTo } from '../../../../fixtures/edge/socket-memory.js';
import { pick, seeded } from '../../../../fixtures/random.js';
import { standIn } from '../../../../fixtures/stand-in.js';

type Order = { readonly audio: number } | 'end' | ServiceError;

/** A speech port whose jobs follow the test's orders, and notice an abort. */
class ToldSpeech {
  readonly jobs: { orders: Order[]; wake: () => void; signal: AbortSignal; over: boolean }[] = [];

  readonly port = standIn<Speech>({
    synthesize: (_request: StreamingSynthesisRequest, _caller: unknown, signal: AbortSignal) =>
      this.#speak(signal),
    synthesizeTimed: (_request: StreamingSynthesisRequest, _caller: unknown, signal: AbortSignal) =>
      this.#timed(signal),
  });

  async *#timed(signal: AbortSignal): AsyncGenerator<TimedAudio> {
    const words = [
      { text: 'One,', start: 0, end: 1 },
      { text: 'two.', start: 1, end: 2 },
    ];
    const piece = { index: 3, text: 'One, two.', at: 9, offset: 4, duration: 1.5, complete: false, words };
    for await (const audio of this.#speak(signal)) yield { audio, piece, end: 5.5 };
  }

  tell(job: number, order: Order): void {
    this.jobs[job]?.orders.push(order);
    this.jobs[job]?.wake();
  }

  async *#speak(signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const job = { orders: [] as Order[], wake: () => undefined as void, signal, over: false };
    this.jobs.push(job);
    signal.addEventListener('abort', () => job.wake());
    try {
      for (;;) {
        // Like an engine, it may send more after an abort: the host must drop that.
        const order = job.orders.shift();
        if (order === 'end') return;
        if (order instanceof ServiceError) throw order;
        if (order) yield Uint8Array.of(order.audio);
        else if (signal.aborted) throw signal.reason as Error;
        else await new Promise<void>((resolve) => (job.wake = resolve));
      }
    } finally {
      job.over = true;
    }
  }
}

const trace = { context: { traceparent: '' }, engine: () => undefined };

function open(audio = BARE_AUDIO, ledger?: MemoryLedger) {
  const speech = new ToldSpeech();
  const clock = new SimulatedClock();
  let isClosed = false;
  const log: (ServerEvent | { readonly close: unknown })[] = [];
  let readable = true;
  let release = (): void => undefined;
  const memory = chargedTo(ledger, (error) => session.mustEnd(error));
  const socket: Socket = {
    ...memory.charged,
    failed: (error) => {
      throw error;
    },
    send: (data) => void log.push(decode(data as Uint8Array) as ServerEvent),
    queuedBytes: 0,
    drained: () => (readable ? Promise.resolve() : new Promise((resolve) => (release = resolve))),
    close(reason) {
      if (!isClosed) log.push({ close: reason });
      end();
    },
    authenticated: () => undefined,
  };
  const warned: object[] = [];
  const warn = (details: object): void => void warned.push(details);
  const own = { speech: speech.port, clock, log: { ...silentLog, warn } };
  const parts = own as Partial<NativeParts> as NativeParts;
  const client = {
    caller: { workspaceId: 'w', keyId: 'k' },
    model: 's1',
    audio,
    generationId: 'g',
    trace,
  } as const;
  const ends: number[] = [];
  const session = new LiveSession(socket, client, parts, (status) => void ends.push(status));
  const end = (): void => {
    if (!isClosed) session.gone();
    isClosed = true;
    memory.close();
    release();
  };
  return {
    speech,
    clock,
    log,
    ends,
    warned,
    session,
    send: (event: unknown) => void (isClosed || session.message(encode(event))),
    leave() {
      end();
      session.closed();
    },
    read(now: boolean) {
      readable = now;
      if (now) release();
    },
  };
}

const start = { event: 'start', request: { format: 'pcm' } };

t.test('a client that does not read is given no more, and goes on where it stood', async (t) => {
  const { speech, log, send, read } = open();
  send(start);
  await turn();
  read(false);
  for (let audio = 1; audio <= 5; audio++) speech.tell(0, { audio });
  await turn();
  t.equal(log.length, 1, 'one is on its way, the others are not pulled');
  t.equal(speech.jobs[0]?.orders.length, 4);
  read(true);
  await turn();
  t.equal(log.length, 5);
});

t.test(
  'unknown fields are named in the log, each once for a socket, however often it sends them',
  async (t) => {
    const { warned, log, send } = open();
    send({ event: 'start', request: { format: 'pcm', formt: 'wav' } });
    for (let round = 0; round < 2; round++) send({ event: 'text', text: 'Hello.', txt: null, delay: 5 });
    t.strictSame(log, [], 'they are no fault');
    exactly(t, warned, [{ fields: ['formt'] }, { fields: ['delay'] }]);
  },
);

t.test('time is counted from each start', async (t) => {
  const { speech, log, send, clock } = open();
  send(start);
  clock.advance(1500);
  speech.tell(0, { audio: 1 });
  await turn();
  speech.tell(0, 'end');
  await turn();
  send(start);
  clock.advance(20);
  speech.tell(1, 'end');
  await turn();
  exactly(t, log, [
    { event: 'audio', time: 1500 },
    { event: 'finish', time: 1500 },
    { event: 'finish', time: 20 },
  ]);
});

t.test('a client may keep its socket between the turns of a conversation', async (t) => {
  const { speech, log, send, clock } = open();
  for (const job of [0, 1, 2]) {
    send(start);
    speech.tell(job, 'end');
    await turn();
    clock.advance(59_000);
  }
  exactly(t, log, [{ event: 'finish' }, { event: 'finish' }, { event: 'finish' }]);
  clock.advance(1000);
  t.strictSame(log.at(-1), { close: 'normal' });
});

t.test(
  'with timestamps: the words whose audio is there, and an error event before a failed finish',
  async (t) => {
    const { speech, send, log } = open(TIMED_AUDIO);
    send(start);
    await turn();
    speech.tell(0, { audio: 7 });
    speech.tell(0, new ServiceError('engine_lost'));
    await turn();
    const [told, ...others] = log;
    t.strictSame(told, {
      event: 'audio',
      audio: Uint8Array.of(7),
      content: 'One, two.',
      alignment: { segments: [{ text: 'One', start: 0, end: 1 }], audio_duration: 1.5 },
      chunk_seq: 3,
      chunk_audio_offset_sec: 4,
      time: 0,
    });
    const message = /stopped while working/;
    const failed = [
      { event: 'error', error: message },
      { event: 'finish', reason: 'error', message },
    ];
    exactly(t, others, [...failed, { close: 'internal' }]);
    const stopped = open(TIMED_AUDIO);
    stopped.send(start);
    stopped.send({ event: 'stop' });
    await turn();
    stopped.speech.tell(0, 'end');
    await turn();
    exactly(t, stopped.log, [{ event: 'finish', reason: 'stop' }]);
  },
);

t.test('the status of a failed synthesis is that of the socket', async (t) => {
  const { speech, send, log, ends, session } = open();
  send(start);
  await turn();
  speech.tell(0, new ServiceError('engine_lost'));
  await turn();
  exactly(t, log, [{ event: 'finish', reason: 'error' }, { close: 'internal' }]);
  session.closed();
  t.strictSame(ends, [502]);
});

t.test('in a random walk each start has one finish, and nothing follows a close', async (t) => {
  const random = seeded(42);
  let whole = 0;
  for (let walk = 0; walk < 150; walk++) {
    const { speech, clock, log, send, leave, read } = open();
    let left = false;
    const running = (): boolean => speech.jobs.length > log.filter((sent) => 'reason' in sent).length;
    // Events that end the socket must not end every walk.
    const rarely = (fatal: boolean): boolean => fatal && random() < 0.95;
    const last = (): number => speech.jobs.length - 1;
    const moves: [() => void, ...(() => void)[]] = [
      () => running() || send(start),
      () => rarely(running()) || send(start),
      () => rarely(!running()) || send({ event: 'text', text: 'a b' }),
      () => rarely(!running()) || send({ event: 'flush' }),
      () => rarely(!running()) || send({ event: 'stop' }),
      () => speech.tell(last(), { audio: last() }),
      () => speech.tell(last(), { audio: last() }),
      () => speech.tell(Math.max(0, last() - 1), { audio: Math.max(0, last() - 1) }),
      () => speech.tell(last(), random() < 0.5 ? 'end' : { audio: last() }),
      () => random() < 0.1 && speech.tell(last(), new ServiceError('engine_failed')),
      () => clock.advance(random() * LIMITS.native.liveRestMs),
      () => read(random() < 0.5),
      () => random() < 0.1 && (leave(), (left = true)),
    ];
    for (let step = 0; step < 80 && !left; step++) {
      // Walks begin with `start`, so that most of them get far.
      if (step === 0) send(start);
      else pick(random, moves)();
      if (random() < 0.6) await turn();
    }
    const sent = log.length;
    if (!left) leave();
    for (const [job] of speech.jobs.entries()) speech.tell(job, { audio: job });
    await turn();
    await turn();
    t.equal(log.length, sent, 'nothing is sent to a client that has gone');
    t.ok(
      speech.jobs.every(({ over }) => over),
      'no job is left',
    );
    t.equal(clock.pending, 0, 'no timer is left');
    whole += log.filter((sent) => 'reason' in sent && sent.reason === 'stop').length;
    if (!t.strictSame(wrongIn(log), [], `walk ${walk}`)) return;
  }
  t.ok(whole > 50, `${whole} syntheses came to their end`);
});

/** The rules that the events to a client break, in words. */
function wrongIn(log: readonly (ServerEvent | { readonly close: unknown })[]): string[] {
  const wrong: string[] = [];
  let job = 0;
  for (const [at, sent] of log.entries()) {
    if ('close' in sent) {
      if (at !== log.length - 1) wrong.push('something follows a close');
    } else if (sent.event === 'finish') job += 1;
    else if (sent.audio?.[0] !== job) wrong.push(`audio of job ${sent.audio?.[0]} while ${job} is due`);
  }
  return wrong;
}

t.test('key and quota are checked before the upgrade', async (t) => {
  let known = 0;
  const upgrade = (headers: [string, string][], checkQuota: Speech['checkQuota']) => {
    const keys = {
      authenticate: (key: string) =>
        Promise.resolve(key === 'good' ? { workspaceId: 'w', keyId: 'k', role: 'full' } : undefined),
    };
    const speech = standIn<Speech>({ checkQuota });
    const parts = {
      keys,
      speech,
      clock: new SimulatedClock(),
      log: silentLog,
      vocabulary: defaultVocabulary,
    };
    const request = {
      headers: new Map(headers),
      method: 'GET',
      generationId: 'g',
      facts: {},
      permission: 'speech',
      authenticated: () => (known += 1),
    };
    const [socket] = liveSockets(parts as unknown as NativeParts);
    return socket!.upgrade(request as unknown as HttpRequest);
  };
  const fine = () => Promise.resolve();
  await rejectsExactly(t, upgrade([], fine), { code: 'missing_key', status: 401 });
  await rejectsExactly(t, upgrade([['authorization', 'Bearer bad']], fine), {
    code: 'invalid_key',
    status: 401,
  });
  t.equal(known, 0, 'the edge is told of known clients only');
  const spent = () => Promise.reject(new ServiceError('quota_exceeded'));
  await rejectsExactly(t, upgrade([['authorization', 'Bearer good']], spent), { code: 'quota_exceeded' });
  exactly(t, await upgrade([['authorization', 'Bearer good']], fine), { open: Function });
  t.equal(known, 2);
});

t.test(
  'waiting text is charged; without memory the socket finishes with an error, and closes with 1013',
  async (t) => {
    const ends = [
      {
        event: 'finish',
        reason: 'error',
        message: 'The server has no memory left for this request, try again later',
      },
      { close: 'memory' },
    ];
    const ledger = new Ledger(40 * 1024);
    const refused = open(BARE_AUDIO, ledger);
    refused.send({ event: 'start', request: { text: 'a'.repeat(30_000) } });
    t.ok(ledger.bytesOf('text') > 20_000);
    refused.send({ event: 'text', text: 'a'.repeat(30_000) });
    exactly(t, refused.log.slice(-2), ends);
    t.equal(ledger.bytes, 0);

    const evicted = open(BARE_AUDIO, ledger);
    evicted.send({ event: 'start', request: { text: 'a'.repeat(30_000) } });
    ledger.openShare({ kind: 'body', holder: 'other', evict: () => undefined }).charge(20_000);
    exactly(t, evicted.log.slice(-2), ends);
    t.equal(ledger.bytesOf('text'), 0);
  },
);
