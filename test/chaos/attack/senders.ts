/** How attackers send: floods of requests, bodies that stall, and sockets with frames. */
import { connect, type Socket } from 'node:net';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { isTurnOver } from '../../../contracts/time/loop-turn.js';
import { toldBy } from '../world.js';
import { count, type Told } from './told.js';

/** A request that is answered later than this was not answered. */
const LATE_MS = 60_000;
/** Frames waiting in our own socket, in bytes: an attacker needs memory as well. */
const MOST_WAITING = 4 * 1024 * 1024;
const TURN_MS = 5;

/** How a request failed that has no status. */
const failureOf = (error: unknown): number | string =>
  error instanceof Error && error.name === 'TimeoutError' ? 'no answer' : toldBy(error);

/** The status of a whole answer, or how it failed, at its beginning or later. */
export const answerOf = (url: string, options: RequestInit): Promise<number | string> =>
  fetch(url, options)
    .then(async (response) => {
      await response.arrayBuffer();
      return response.status;
    })
    .catch(failureOf);

export const ask = async (told: Told, url: string, options: RequestInit): Promise<void> => {
  count(told, await answerOf(url, { ...options, signal: AbortSignal.timeout(LATE_MS) }));
};

/** A request whose answer is as long as anybody listens: for `ms`. */
export const listen = async (told: Told, url: string, options: RequestInit, ms: number): Promise<void> => {
  const left = new AbortController();
  const status = await fetch(url, { ...options, signal: left.signal })
    .then(async ({ status, body }) => {
      const end = AbortSignal.timeout(ms);
      await body?.pipeTo(new WritableStream(), { signal: end }).catch(() => undefined);
      return status;
    })
    .catch(failureOf);
  left.abort();
  count(told, status);
};

/** A request whose answer is not read for `ms`, and then not wanted. */
export const leaveUnread = async (
  told: Told,
  url: string,
  options: RequestInit,
  ms: number,
): Promise<void> => {
  const left = new AbortController();
  const status = await fetch(url, { ...options, signal: left.signal })
    .then(({ status }) => pause(ms, status))
    .catch(failureOf);
  left.abort();
  count(told, status);
};

/** Does it `times` times, `atOnce` at the same time. */
export async function flood(
  times: number,
  atOnce: number,
  work: (turn: number) => Promise<void>,
): Promise<void> {
  let turn = 0;
  const one = async (): Promise<void> => {
    while (turn < times) await work(turn++);
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, times) }, one));
}

/** Waits until what was written has left, or nobody wants it any more. */
async function taken(socket: Socket, isOver: () => boolean): Promise<void> {
  while (socket.writableNeedDrain && !socket.destroyed && !isOver()) await pause(TURN_MS);
}

/** Requests that declare a long body, send a part of it, and then nothing for `stallMs`. */
export async function stall(
  told: Told,
  base: string,
  { head, first, bytes, stallMs }: { head: readonly string[]; first: string; bytes: number; stallMs: number },
): Promise<void> {
  const { hostname, port } = new URL(base);
  const socket = connect(Number(port), hostname);
  let answer = '';
  socket.on('data', (data) => (answer += data.toString('latin1'))).on('error', () => undefined);
  socket.write([...head, `Host: ${hostname}`, `Content-Length: ${136_314_880}`, '', first].join('\r\n'));
  const piece = Buffer.alloc(64 * 1024, 97);
  for (let sent = 0; sent < bytes && !socket.destroyed && answer === ''; sent += piece.length)
    if (!socket.write(piece)) await taken(socket, () => answer !== '');
  for (let waited = 0; waited < stallMs && !socket.destroyed && answer === ''; waited += 100)
    await pause(100);
  socket.destroy();
  count(told, Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0) || 'no answer');
}

interface Frames {
  readonly path: string;
  readonly key?: string;
  /** Of a browser's page. */
  readonly origin?: string;
  /** The frames in turn, bytes as binary ones; sent until there are no more. */
  readonly frames: Iterable<string | Uint8Array>;
  /** How long the socket stays open afterwards. */
  readonly restMs: number;
}

/** A socket with frames; tells how it was closed, or that it stayed open. */
export async function sendFrames(
  told: Told,
  base: string,
  { path, key, origin, frames, restMs }: Frames,
): Promise<void> {
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}`, 'xi-api-key': key };
  const socket = new WebSocket(`${base.replace('http', 'ws')}${path}`, {
    ...{ headers, perMessageDeflate: false },
    ...(origin !== undefined && { origin }),
  });
  const closed = new Promise<number | string>((resolve) => {
    socket.on('close', resolve);
    socket.on('error', (error) => resolve(toldBy(error)));
    socket.on('message', () => undefined);
  });
  const open = await Promise.race([
    closed,
    new Promise((resolve) => socket.once('open', () => resolve('open'))),
  ]);
  if (open !== 'open') return void count(told, open as number | string);
  for (const frame of frames) {
    if (socket.readyState !== WebSocket.OPEN) break;
    socket.send(frame);
    // The victim lives in this process as well.
    if (isTurnOver()) await nextTurn();
    while (socket.bufferedAmount > MOST_WAITING && socket.readyState === WebSocket.OPEN) await pause(TURN_MS);
  }
  const end = await Promise.race([closed, pause(restMs, 'stayed open')]);
  socket.terminate();
  count(told, end);
}

export function* repeated<Frame>(frame: Frame, times: number): Generator<Frame> {
  for (let turn = 0; turn < times; turn += 1) yield frame;
}
