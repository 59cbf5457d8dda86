/**
 * A short text's first byte alone, and beside another workspace's fifty long ones, through the default engines. The
 * long ones are read as fast as they come; how far a listener who began with the first byte would have had to wait for
 * one of them in all is measured beside it.
 */
import { DEFAULTS, type Gateway, startGateway } from '../test/fixtures/gateway.js';
import { operator } from '../test/fixtures/operator.js';
import { median, quantile, row, speak } from './measure.js';

const SENTENCE = 'Your parcel has left our house, and will be there on Monday.';
const LONG = 'The harbour was quiet that morning, and nobody saw the small boat leave the pier. '
  .repeat(25)
  .slice(0, 2000);
const LONG_TEXTS = 50;
const ROUNDS = 25;
const PAUSE_MS = 1000;
const KBPS = 64;
const FORMAT = { format: 'mp3', mp3_bitrate: KBPS } as const;
const SHORT = { ...FORMAT, text: SENTENCE, latency: 'low' } as const;
/** What a long text begins with: its first byte comes when its first piece has been spoken. */
const PIECE = { ...FORMAT, text: LONG.slice(0, 400) } as const;
const PIECE_ROUNDS = 9;
const BYTES_PER_SECOND = (KBPS * 1000) / 8;

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A key of another workspace. */
async function otherKey({ dataDir }: Gateway): Promise<string> {
  const env = { DATA_DIR: dataDir };
  await operator('workspaces', env)('create', 'Other');
  const { out, err } = await operator('keys', env)('create', 'long texts', '--workspace', 'Other');
  const key = /\bsk_[\w-]{43}/.exec(out)?.[0];
  if (key === undefined) throw new Error(`no key was made: ${out}${err}`);
  return key;
}

/** One long text while it is read. Times in milliseconds. */
class Listener {
  begun: number | undefined;
  ended = false;
  bytes = 0;
  /** How long its listener has heard nothing in all, once begun. */
  stalled = 0;

  heard(length: number, now: number): void {
    this.begun ??= now;
    const played = (this.bytes / BYTES_PER_SECOND) * 1000;
    if (this.bytes > 0) this.stalled = Math.max(this.stalled, now - this.begun - played);
    this.bytes += length;
  }
}

async function listen(gateway: Gateway, key: string, listener: Listener, signal: AbortSignal): Promise<void> {
  const response = await fetch(`${gateway.base}/v1/tts`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...FORMAT, text: LONG }),
    signal,
  });
  if (!response.ok || !response.body) throw new Error(`${response.status}: ${await response.text()}`);
  for await (const chunk of response.body) listener.heard((chunk as Uint8Array).length, performance.now());
  listener.ended = true;
}

/** First bytes of so many requests as are answered; one that fails is told by its absence. */
async function firstBytes(gateway: Gateway, body: unknown, rounds: number): Promise<number[]> {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const timed = await speak(gateway, body).catch(() => undefined);
    if (timed) times.push(timed.firstByte);
    await pause(PAUSE_MS);
  }
  return times;
}

const gateway = await startGateway({ ...DEFAULTS, DATABASE_URL: '' });
try {
  const key = await otherKey(gateway);
  await speak(gateway, SHORT);
  const alone = await firstBytes(gateway, SHORT, ROUNDS);
  const piece = median(await firstBytes(gateway, PIECE, PIECE_ROUNDS));
  const leaving = new AbortController();
  const listeners = Array.from({ length: LONG_TEXTS }, () => new Listener());
  const since = performance.now();
  const reading = Promise.allSettled(
    listeners.map((listener) => listen(gateway, key, listener, leaving.signal)),
  );
  await pause(PAUSE_MS);
  const beside = await firstBytes(gateway, SHORT, ROUNDS);
  const seconds = (performance.now() - since) / 1000;
  leaving.abort();
  await reading;

  const begun = listeners.map((listener) => (listener.begun ?? Infinity) - since);
  const spoken = listeners.map(({ bytes }) => bytes / BYTES_PER_SECOND);
  row(`first byte of ${SENTENCE.length} characters alone, median of ${ROUNDS}`, median(alone), 'ms');
  row('alone, p95', quantile(alone, 0.95), 'ms');
  row(`beside ${LONG_TEXTS} texts of ${LONG.length} characters, median`, median(beside), 'ms');
  row('beside them, p95', quantile(beside, 0.95), 'ms');
  row('beside them, failed', ROUNDS - beside.length, '');
  row('one piece of a long text alone, first byte, median', piece, 'ms');
  const target = 2 * median(alone) + piece;
  row('beside them, against twice alone and one piece', median(beside) / target, '', '1');
  row('beside them, against alone', median(beside) / median(alone), '');
  row('the long ones: first byte, median', median(begun), 'ms');
  row('the long ones: first byte, last', Math.max(...begun), 'ms');
  row('the long ones: speech a second of all', spoken.reduce((sum, each) => sum + each, 0) / seconds, 's');
  row('the long ones: least speech of one', Math.min(...spoken), 's');
  row('the long ones: ended', listeners.filter(({ ended }) => ended).length, '');
  row('the long ones: longest stall once begun', Math.max(...listeners.map((each) => each.stalled)), 'ms');
} finally {
  await gateway.stop();
}
