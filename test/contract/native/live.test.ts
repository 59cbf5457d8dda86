/** WebSocket /v1/tts/live through a whole gateway (docs/contract/native.md 3; docs/contract/decisions.md "Native"). */
import { encode } from '@msgpack/msgpack';
import t from '../../fixtures/tap.js';
import { LIMITS } from '../../../contracts/limits.js';
import { exactly } from '../../fixtures/exactly.js';
import { lentGateway } from '../../fixtures/lent-gateway.js';
import { gauge, LiveClient } from '../../fixtures/native/live.js';
import { shortOrLong } from '../../fixtures/long.js';
import { memoryOf } from '../../fixtures/processes/resources.js';
import { until } from '../../fixtures/until.js';

/** The last has a number of three digits. */
const SOCKETS = shortOrLong(101, 200);
const gateway = await lentGateway(t);

const connect = (headers: Record<string, string> = {}) => new LiveClient(gateway, headers).opened();

const running = () => gauge(gateway, 'speech_jobs_running');

/** The transcript of a file, and its duration in seconds. */
async function transcript(audio: Uint8Array): Promise<{ text: string; duration: number }> {
  const form = new FormData();
  form.set('audio', new Blob([audio]));
  const response = await fetch(`${gateway.base}/v1/asr`, {
    method: 'POST',
    headers: gateway.authorization,
    body: form,
  });
  return (await response.json()) as { text: string; duration: number };
}

const heard = async (audio: Uint8Array): Promise<string> => (await transcript(audio)).text;

t.test('start, text, stop: audio of all the text, then one finish, and nothing behind it', async (t) => {
  const client = await connect();
  client.start({ format: 'wav' }).text('Hello, ', 'live ', 'world! ', 'And more.').stop();
  const finish = await client.finished();
  exactly(t, finish, { event: 'finish', reason: 'stop', time: Number });
  t.equal(await heard(client.audio), 'Hello, live world! And more.');
  t.equal(client.events.at(-1), finish, 'nothing after it');
  const times = client.events.map(({ time }) => time ?? -1);
  t.ok(
    times.every((time, at) => time >= (times[at - 1] ?? 0)),
    'time only grows',
  );
  client.stop();
  t.equal(await client.closed(), 1000);
  t.equal(client.finishes().length, 1);
});

t.test('all four formats, and the text of the start itself', async (t) => {
  const formats = { mp3: 44_100, opus: 48_000, wav: 24_000 };
  await Promise.all(
    Object.entries(formats).map(async ([format, rate]) => {
      const client = await connect();
      client.start({ format, sample_rate: rate, text: 'First ' }).text('and last.').stop();
      await client.finished();
      t.equal(await heard(client.audio), 'First and last.', format);
      client.leave();
    }),
  );
});

t.test('a flush is spoken at once', async (t) => {
  const client = await connect();
  client.start().text('No end here');
  client.send({ event: 'flush' });
  await until('it is heard', () => client.audio.length > 16_000);
  t.equal(client.finishes().length, 0);
  client.text(' but here').stop();
  await client.finished();
  client.leave();
});

/** The delay of a decoder by format, and the longest frame of all formats. */
const DELAY_SECONDS = { mp3: 1105 / 44_100, opus: 0 };
const FRAME_SECONDS = 1152 / 44_100;

t.test(
  'all of a flushed clause is sent while no more text comes, whatever the encoder would hold',
  async (t) => {
    const text = 'All of it';
    const plain = await connect();
    plain.start().text(text).stop();
    await plain.finished();
    const whole = plain.audio.length / 32_000;
    plain.leave();
    for (const [format, sample_rate, speed] of [
      ['mp3', 44_100, 1],
      ['opus', 48_000, 1],
      ['mp3', 44_100, 0.7],
    ] as const) {
      const client = await connect();
      client.start({ format, sample_rate, prosody: { speed } }).text(text).send({ event: 'flush' });
      const wanted = whole / speed + DELAY_SECONDS[format] - FRAME_SECONDS;
      await until(
        `${format} at ${speed} is sent whole`,
        async () => client.audio.length > 0 && (await transcript(client.audio)).duration >= wanted,
      );
      t.equal(client.finishes().length, 0, 'before the stop');
      client.text(' and more').stop();
      await client.finished();
      if (speed === 1) t.equal(await heard(client.audio), `${text} and more`);
      client.leave();
    }
  },
);

t.test('another start after finish, with another request', async (t) => {
  const client = await connect();
  for (let round = 1; round <= 3; round++) {
    const before = client.audio.length;
    client.start({ format: 'wav' }).text(`Round ${round}.`).stop();
    await client.finished(round);
    t.equal(await heard(client.audio.subarray(before)), `Round ${round}.`);
  }
  client.stop();
  t.equal(await client.closed(), 1000, 'a stop after finish says that it was the last');
  t.equal(client.finishes().length, 3);
});

t.test('null means absent, also for text, as clients encode undefined', async (t) => {
  const client = await connect();
  client.send({
    event: 'start',
    request: { text: undefined, reference_id: null, format: 'mp3', references: [] },
  });
  client.text('a').stop();
  exactly(t, await client.finished(), { reason: 'stop' });
  client.leave();
});

t.test('a wrong key refuses the upgrade with a JSON body', async (t) => {
  for (const authorization of ['', 'Bearer wrong', 'Basic abc']) {
    const client = new LiveClient(gateway, { authorization });
    const { status, body } = await until('the refusal', () => client.refusal);
    t.equal(status, 401);
    exactly(t, JSON.parse(body), { status: 401, message: String });
  }
});

t.test(
  'what breaks the protocol: one finish with the reason, then the close code (decision 5: frames of 32 MiB)',
  async (t) => {
    const bytes = (value: unknown) => encode(value);
    const start = (request: unknown) => bytes({ event: 'start', request });
    const good = start({ text: '', format: 'pcm' });
    const text = bytes({ event: 'text', text: 'a' });
    const deep = Uint8Array.from({ length: 5000 }, () => 0x91);
    const cases: [string, (string | Uint8Array)[], number, RegExp][] = [
      ['a text frame', ['{"event":"start"}'], 1003, /binary/],
      ['an empty frame', [new Uint8Array(0)], 1007, /MessagePack/],
      ['not MessagePack', [Uint8Array.of(0xc1)], 1007, /MessagePack/],
      ['a map cut short', [Uint8Array.of(0x82, 0xa1)], 1007, /MessagePack/],
      ['nested too deep', [deep], 1007, /MessagePack/],
      ['two values', [Buffer.concat([good, good])], 1007, /MessagePack/],
      ['no map', [bytes([1, 2])], 1008, /event must be one of/],
      ['no event', [bytes({ text: 'a' })], 1008, /event must be one of/],
      ['an unknown event', [bytes({ event: 'close' })], 1008, /event must be one of/],
      ['text before start', [text], 1008, /must be start/],
      ['flush before start', [bytes({ event: 'flush' })], 1008, /must be start/],
      ['stop before start', [bytes({ event: 'stop' })], 1008, /must be start/],
      ['a second start', [good, good], 1008, /while a synthesis runs/],
      [
        'text of another type',
        [good, bytes({ event: 'text', text: 7 })],
        1008,
        /text must be of type string/,
      ],
      ['text that is missing', [good, bytes({ event: 'text' })], 1008, /missing field text/],
      ['a start without a request', [bytes({ event: 'start' })], 1008, /missing field request/],
      ['a format that is not there', [start({ format: 'ogg' })], 1008, /unknown variant `ogg`/],
      ['a rate that is not there', [start({ format: 'mp3', sample_rate: 8000 })], 1008, /sample rate 8000/],
      [
        'an unknown voice',
        [start({ reference_id: 'f'.repeat(32) })],
        1008,
        /^Reference not found: no voice "f{32}"; GET \/model lists/,
      ],
      [
        'reference audio without an engine',
        [start({ references: [{ audio: new Uint8Array(9), text: 'x' }] })],
        1008,
        /reference audio/,
      ],
      ['a frame over 32 MiB', [new Uint8Array(LIMITS.socket.frameBytes + 1)], 1009, /32 MiB/],
      [
        'more text than may wait',
        [good, bytes({ event: 'text', text: 'a'.repeat(LIMITS.native.liveTextBytes + 1) })],
        1008,
        /Too much text/,
      ],
    ];
    await Promise.all(
      cases.map(async ([name, frames, code, message]) => {
        const client = await connect();
        for (const frame of frames) client.socket.send(frame);
        t.equal(await client.closed(), code, name);
        t.equal(client.finishes().length, 1, `${name}: one finish`);
        exactly(t, client.events.at(-1), { event: 'finish', reason: 'error', message }, name);
      }),
    );
    await until('all slots are free', async () => (await running()) === 0);
  },
);

t.test('a client that leaves frees its slot, whatever it was at', async (t) => {
  const clients = await Promise.all([connect(), connect(), connect()]);
  clients[0]?.start();
  clients[1]?.start().text('a long story. '.repeat(60_000));
  clients[2]?.start().text('a long story. '.repeat(60_000)).stop();
  await until('all three run', async () => (await running()) === 3);
  await until('two are heard', () => clients.filter(({ audio }) => audio.length > 0).length === 2);
  for (const client of clients) client.leave();
  await until('all slots are free', async () => (await running()) === 0);
  t.pass();
});

t.test('a client that stops reading holds back only its own synthesis, in bounded memory', async (t) => {
  const stalled = await connect();
  stalled.socket.pause();
  stalled.start({ sample_rate: 44_100 }).text('This goes on for hours. '.repeat(30_000)).stop();
  await until('it has begun', async () => (await running()) === 1);
  const queued = async () => gauge(gateway, 'egress_queue_bytes');
  let last = -1;
  await until('its queue stands still', async () => {
    const before = last;
    last = await queued();
    return last > 0 && last === before;
  });
  t.ok(last < 2 * LIMITS.http.egressBytes, `${last} bytes are queued of hours of audio`);
  const other = await connect();
  other.start({ format: 'wav' }).text('Not held back.').stop();
  await other.finished();
  t.equal(await heard(other.audio), 'Not held back.');
  t.equal(await running(), 1);
  t.equal(stalled.closeCode, undefined);
  const before = stalled.events.length;
  stalled.socket.resume();
  await until('it goes on where it stood', () => stalled.events.length > before + 50);
  for (const client of [stalled, other]) client.leave();
  await until('all slots are free', async () => (await running()) === 0);
});

t.test(`${SOCKETS} sockets speak at once, in bounded memory`, async (t) => {
  const before = memoryOf(gateway.pid);
  let peak = before;
  const sampling = setInterval(() => (peak = Math.max(peak, memoryOf(gateway.pid))), 20);
  t.teardown(() => clearInterval(sampling));
  const clients = await Promise.all(Array.from({ length: SOCKETS }, () => connect()));
  for (const client of clients) client.start().text('All of us '.repeat(20));
  await until('all hold a slot', async () => (await running()) === SOCKETS);
  for (const [index, client] of clients.entries())
    client.text(`speak at once, and I am number ${index}.`).stop();
  await Promise.all(clients.map((client) => client.finished()));
  t.ok(clients.every((client) => client.finishes().length === 1 && client.finishes()[0]?.reason === 'stop'));
  const lengths = new Set(clients.map(({ audio }) => audio.length));
  t.equal(lengths.size, 3, 'as many as there are lengths of numbers');
  const grown = (peak - before) / 2 ** 20;
  t.comment(`${grown.toFixed(0)} MiB more at its peak`);
  t.ok(grown < 100 + SOCKETS, `${grown.toFixed(0)} MiB`);
  for (const client of clients) client.leave();
  await until('all are gone', async () => (await gauge(gateway, 'open_sockets')) === 0);
});
