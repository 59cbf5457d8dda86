/**
 * How many real-time streams the `encode` child sustains, driven as the gateway drives it (its own process, the
 * kernel's frames and credit), against the bare encoder in one thread. Rounds alternate, so that the machine's drift
 * cancels; both get the same chunks of the same 16 kHz speech.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEncode } from '../codecs/encode/encoder.js';
import { openSink } from '../codecs/encode/sinks.js';
import { resolveOutput } from '../codecs/formats.js';
import { bytesOf, type OutputFormat } from '../contracts/audio.js';
import { createFlite } from '../engines/backends/flite/index.js';
import { silentLog } from '../contracts/log.js';
import { createPool } from '../processes/pool.js';
import { superviseRole } from '../processes/supervise.js';
import { joined, spoken } from '../test/fixtures/engines-listening.js';
import { cpuMs, median, row } from './measure.js';

const RATE = 16_000;
const CHUNK_SAMPLES = RATE / 10;
const STREAM_SECONDS = 10;
/** At once, through the child; the bare encoder does them one after another. */
const STREAMS = 24;
const ROUNDS = 7;
const SENTENCE = 'The package was delivered to the front door this morning, and the driver left a note.';

const OUTPUTS: Readonly<Record<string, OutputFormat>> = {
  'mp3, 128 kbit/s, 44.1 kHz': resolveOutput({ format: 'mp3', sampleRate: 44_100, mp3Bitrate: 128 }),
  'opus, 48 kHz': resolveOutput({ format: 'opus' }),
};

/** Speech, repeated until it fills a stream: encoders are quicker with tones and silence. */
async function makeChunks(): Promise<Int16Array[]> {
  const sentence = await spoken(await createFlite(), SENTENCE);
  const times = Math.ceil((STREAM_SECONDS * RATE) / sentence.length);
  const speech = joined(...Array.from({ length: times }, () => sentence));
  return Array.from({ length: STREAM_SECONDS * 10 }, (_, index) =>
    speech.slice(index * CHUNK_SAMPLES, (index + 1) * CHUNK_SAMPLES),
  );
}

const chunks = await makeChunks();
const folder = await mkdtemp(join(tmpdir(), 'bench-'));
const children = await superviseRole({
  role: 'encode',
  entry: new URL('../gateway/workers/encode.js', import.meta.url),
  count: 1,
  socketFolder: join(folder, 's'),
  log: silentLog,
});
const pool = createPool({ sockets: children.sockets, log: silentLog });
const encode = createEncode(pool);

async function* speech(): AsyncGenerator<Int16Array> {
  yield* chunks;
}

async function drain(output: OutputFormat): Promise<number> {
  const { signal } = new AbortController();
  let bytes = 0;
  for await (const part of encode(speech(), RATE, output, signal)) bytes += part.length;
  return bytes;
}

function encodeBare(output: OutputFormat): number {
  const sink = openSink(RATE, output);
  try {
    let bytes = 0;
    for (const chunk of chunks) bytes += sink.push(Buffer.from(bytesOf(chunk))).length;
    return bytes + sink.finish().length;
  } finally {
    sink.free();
  }
}

interface Round {
  /** Seconds of audio a second. */
  readonly bare: number;
  readonly child: number;
  /** The same, a second of CPU time: what it would be with nobody beside it. */
  readonly bareCpu: number;
  readonly childCpu: number;
  /** Share of one core that this process, in the gateway's place, needed meanwhile. */
  readonly ours: number;
}

const seconds = (): number => performance.now() / 1000;
const AUDIO_SECONDS = STREAMS * STREAM_SECONDS;

/** CPU time of this process since `since`, in seconds. */
function cpuSeconds(since?: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1e6;
}

function bareRound(output: OutputFormat): { bare: number; bareCpu: number; bytes: number } {
  const start = { at: seconds(), cpu: process.cpuUsage() };
  let bytes = 0;
  for (let stream = 0; stream < STREAMS; stream++) bytes += encodeBare(output);
  const bare = AUDIO_SECONDS / (seconds() - start.at);
  return { bare, bareCpu: AUDIO_SECONDS / cpuSeconds(start.cpu), bytes };
}

async function round(output: OutputFormat): Promise<Round> {
  const { bare, bareCpu, bytes } = bareRound(output);
  const [pid = -1] = children.pids();
  const before = { child: cpuMs(pid), ours: cpuMs(process.pid), at: seconds() };
  const made = await Promise.all(Array.from({ length: STREAMS }, () => drain(output)));
  const took = seconds() - before.at;
  if (made.reduce((sum, length) => sum + length, 0) !== bytes) throw new Error('the child made other bytes');
  return {
    bare,
    bareCpu,
    child: AUDIO_SECONDS / took,
    childCpu: (AUDIO_SECONDS * 1000) / (cpuMs(pid) - before.child),
    ours: (cpuMs(process.pid) - before.ours) / 1000 / took,
  };
}

function report(name: string, rounds: readonly Round[]): void {
  const of = (pick: (one: Round) => number): number => median(rounds.map(pick));
  row(
    `${name}: the bare encoder in one thread`,
    of(({ bare }) => bare),
    '× real time',
  );
  row(
    `${name}: streams through the encode child`,
    of(({ child }) => child),
    '× real time',
  );
  row(
    `${name}: the child against the bare encoder`,
    of(({ child, bare }) => child / bare),
    '',
    '0.9',
  );
  row(
    `${name}: the same by CPU time, whoever else runs`,
    of(({ childCpu, bareCpu }) => childCpu / bareCpu),
    '',
  );
  row(
    `${name}: CPU of the gateway's side meanwhile`,
    of(({ ours }) => ours * 100),
    '% of a core',
  );
}

try {
  await pool.ready();
  for (const [name, output] of Object.entries(OUTPUTS)) {
    await round(output);
    const rounds: Round[] = [];
    for (let index = 0; index < ROUNDS; index++) rounds.push(await round(output));
    report(name, rounds);
  }
} finally {
  pool.close();
  await children.stop();
  await rm(folder, { recursive: true, force: true });
}
