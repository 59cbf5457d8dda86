/**
 * The load of realtime.bench, in a process of its own: sockets that each append 20 ms of audio 50 times a second.
 * Frames are made once, under a mask of zeros, and what comes back is counted and thrown away, so that this side
 * stays cheap. Told what to do by its parent: `{open}`, `{run}`.
 */
import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

export interface Address {
  readonly port: number;
  readonly path: string;
  readonly authorization: string;
}

export interface Run {
  readonly seconds: number;
  /** Whether each socket commits once a second. */
  readonly commit: boolean;
}

export type Task = { readonly open: Address & { readonly sockets: number } } | { readonly run: Run };

export type Outcome = { readonly open: number } | { readonly appends: number; readonly commits: number };

const PER_SECOND = 50;
/** 20 ms at the rate of recognition, which nobody has to resample. */
const AUDIO_RATE = 16_000;
const AUDIO_BYTES = (AUDIO_RATE / PER_SECOND) * 2;
const HANDSHAKES_AT_ONCE = 32;
const QUIET_MS = 500;

/** A client's text frame. */
function frameOf(event: object): Buffer {
  const payload = Buffer.from(JSON.stringify(event));
  const head = Buffer.from([0x81, 0xfe, payload.length >> 8, payload.length & 0xff, 0, 0, 0, 0]);
  if (payload.length >= 126) return Buffer.concat([head, payload]);
  return Buffer.concat([Buffer.from([0x81, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
}

const audio = Buffer.alloc(AUDIO_BYTES).toString('base64');
const FRAMES = {
  append: frameOf({ type: 'input_audio_buffer.append', audio }),
  commit: frameOf({ type: 'input_audio_buffer.commit' }),
  clear: frameOf({ type: 'input_audio_buffer.clear' }),
  update: frameOf({
    type: 'session.update',
    session: { audio: { input: { format: { type: 'audio/pcm', rate: AUDIO_RATE } } } },
  }),
};

const sockets: Socket[] = [];
let received = 0;

function handshake({ port, path, authorization }: Address): Promise<Socket> {
  const key = randomBytes(16).toString('base64');
  const socket = connect({ port, host: '127.0.0.1', noDelay: true });
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
      `Sec-WebSocket-Key: ${key}\r\nSec-WebSocket-Version: 13\r\nAuthorization: ${authorization}\r\n\r\n`,
  );
  return new Promise((resolve, reject) => {
    socket.on('error', reject);
    socket.once('data', (head: Buffer) => {
      if (!head.toString('latin1').startsWith('HTTP/1.1 101'))
        return reject(new Error(head.toString('latin1')));
      socket.on('data', (bytes: Buffer) => (received += bytes.length));
      socket.write(FRAMES.update);
      resolve(socket);
    });
  });
}

/** A server that sheds load is asked again. */
async function open(address: Address, count: number): Promise<void> {
  for (let refused = 0; sockets.length < count;) {
    const batch = Math.min(HANDSHAKES_AT_ONCE, count - sockets.length);
    const opened = await Promise.allSettled(Array.from({ length: batch }, () => handshake(address)));
    for (const attempt of opened) {
      if (attempt.status === 'fulfilled') sockets.push(attempt.value);
      else if ((refused += 1) > count) throw attempt.reason;
    }
    if (opened.some(({ status }) => status === 'rejected')) await pause(1000);
  }
}

/** Until the server has nothing more to say. */
async function quiet(): Promise<void> {
  for (let before = -1; before !== received;) {
    before = received;
    await pause(QUIET_MS);
  }
}

/** Each socket has its own moment within the 20 ms. Without commits each clears its buffer once, at the end. */
async function run({ seconds, commit }: Run): Promise<Outcome> {
  const total = seconds * PER_SECOND * sockets.length;
  const beginning = performance.now();
  let commits = 0;
  for (let sent = 0; sent < total;) {
    const due = Math.min(total, ((performance.now() - beginning) / 1000) * PER_SECOND * sockets.length);
    for (; sent < due; sent += 1) {
      const index = sent % sockets.length;
      sockets[index]?.write(FRAMES.append);
      if (!commit || (Math.floor(sent / sockets.length) + index) % PER_SECOND !== 0) continue;
      sockets[index]?.write(FRAMES.commit);
      commits += 1;
    }
    await pause(1);
  }
  if (!commit) for (const socket of sockets) socket.write(FRAMES.clear);
  await quiet();
  return { appends: total, commits };
}

process.on('message', (task: Task) => {
  const work =
    'open' in task
      ? open(task.open, task.open.sockets).then(() => ({ open: sockets.length }))
      : run(task.run);
  work.then(
    (outcome: Outcome) => process.send?.(outcome),
    (error: unknown) => {
      console.error(error);
      process.exit(1);
    },
  );
});
