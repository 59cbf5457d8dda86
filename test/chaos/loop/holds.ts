/** Sends inputs to a gateway with a probe, and reads how long they held its event loop. */
import { connect, type Socket, type TcpNetConnectOpts } from 'node:net';
import { request } from 'node:http';
import { WebSocket } from 'ws';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { BUILT } from '../../../contracts/places.js';
import { temporaryFolder } from '../../fixtures/folders.js';
import { startGateway, type Gateway } from '../../fixtures/gateway.js';
import type { Input } from './inputs.js';
import type { SocketInput } from './sockets.js';

/** How long an answer is read, once it has begun, and awaited before. */
const READ_MS = 300;
const ANSWER_MS = 60_000;
const TRIES = 3;
const QUIET_MS = 50;
const OPEN = 101;
/** How long a frame may take to arrive. */
const FRAME_MS = 20_000;

export interface Probed {
  readonly gateway: Gateway;
  look(): Promise<Seen>;
}

/** Of the loop since it was last looked at. */
export interface Seen {
  /** The longest turn, in milliseconds of processor time. */
  readonly longestMs: number;
  /** Of the time, 0 to 1: in the rest there was nothing to do. Waiting for a busy processor is no rest. */
  readonly utilization: number;
}

export async function startProbed(env: Record<string, string> = {}): Promise<Probed> {
  const path = join(temporaryFolder('probe-'), 'probe');
  const probe = new URL('test/chaos/loop/probe.js', BUILT).href;
  const gateway = await startGateway({
    WORKERS: '1',
    ...env,
    NODE_OPTIONS: `--import=${probe}`,
    LOOP_PROBE: path,
  });
  const look = (): Promise<Seen> =>
    new Promise((resolve, reject) => {
      let told = '';
      const socket = connect(path).setEncoding('latin1');
      socket.on('data', (text: string) => (told += text));
      socket.on('error', reject).on('close', () => {
        const [longestMs = 0, utilization = 0] = told.split(' ').map(Number);
        resolve({ longestMs, utilization });
      });
    });
  return { gateway, look };
}

interface Patience {
  /** Resolves once no answer is waited for any more. */
  readonly given?: Promise<unknown>;
  /** The body has been handed to the system. */
  readonly sent?: () => void;
}

/** Sends one request; resolves with its status once the answer has been read for a while, with 0 if none has come until then. */
export function send(
  { base, authorization }: Gateway,
  method: string,
  path: string,
  input: Input,
  body: Buffer,
  { given = pause(ANSWER_MS, undefined, { ref: false }), sent = () => {} }: Patience = {},
): Promise<number> {
  return new Promise((resolve) => {
    const headers = { ...authorization, 'content-type': input.type, 'content-length': body.length };
    const asked = request(base + path + (input.query ?? ''), { method, headers, agent: false });
    const over = (status: number): void => {
      asked.destroy();
      resolve(status);
    };
    void given.then(() => over(0));
    asked.on('error', () => over(0));
    asked.on('response', (response) => {
      const status = response.statusCode ?? 0;
      setTimeout(() => over(status), READ_MS).unref();
      response.on('end', () => over(status)).on('error', () => over(status));
      response.resume();
    });
    asked.end(body, sent);
  });
}

export interface Hold {
  readonly ms: number;
  readonly status: number;
}

/** How long the loop is looked at until it has had little to do for some time. */
const SETTLED = { mostMs: ANSWER_MS, everyMs: 150, utilization: 0.5, times: 4 };

/** What is known of a request that is looked at. */
interface Sending {
  isSent: boolean;
  isOver: boolean;
}

/** The longest turn until then, from when all has been sent on, or until it is over. */
async function settled(
  look: Probed['look'],
  sending: Sending = { isSent: true, isOver: false },
): Promise<number> {
  let most = 0;
  const end = performance.now() + SETTLED.mostMs;
  for (let quiet = 0; quiet < SETTLED.times && performance.now() < end && !sending.isOver;) {
    await pause(SETTLED.everyMs);
    const { longestMs, utilization } = await look();
    most = Math.max(most, longestMs);
    quiet = sending.isSent && utilization < SETTLED.utilization ? quiet + 1 : 0;
  }
  return most;
}

/** Opens a socket; resolves with the status of its handshake, 101 if it is open. */
function opened(socket: WebSocket): Promise<number> {
  return new Promise((resolve) => {
    socket.on('open', () => resolve(OPEN)).on('error', () => resolve(0));
    socket.on('unexpected-response', (_, { statusCode = 0 }) => {
      resolve(statusCode);
      socket.terminate();
    });
  });
}

/** Resolves once the socket has sent a pong, which comes after what it was sent before, or has closed: with the code. */
function received(socket: WebSocket): Promise<number> {
  return new Promise((resolve) => {
    const late = setTimeout(() => resolve(OPEN), FRAME_MS);
    socket.on('pong', () => resolve(OPEN)).on('close', resolve);
    socket.on('pong', () => clearTimeout(late)).on('close', () => clearTimeout(late));
    socket.ping();
  });
}

/** Frames in one piece, as a client sends them: masked, with a mask of zeros. `body`: at most 125 bytes. */
function rawFrames(body: Buffer, isText: boolean, times: number): Buffer {
  const head = Buffer.from([isText ? 0x81 : 0x82, 0x80 | body.length, 0, 0, 0, 0]);
  const frame = Buffer.concat([head, body]);
  return Buffer.alloc(times * frame.length, frame);
}

async function sendFrame({ gateway, look }: Probed, input: SocketInput, body: Buffer): Promise<Hold> {
  let connection: Socket | undefined;
  const socket = new WebSocket(await input.address(gateway), {
    headers: gateway.authorization,
    createConnection: ((options: TcpNetConnectOpts) => (connection = connect(options))) as typeof connect,
  });
  try {
    const status = await opened(socket);
    if (status !== OPEN) return { ms: (await look()).longestMs, status };
    for (const frame of input.before ?? []) socket.send(frame);
    await pause(QUIET_MS);
    await look();
    if (input.times === undefined) socket.send(body, { binary: !input.isText });
    else connection?.write(rawFrames(body, input.isText, input.times));
    const code = await received(socket);
    return { ms: await settled(look), status: code };
  } finally {
    socket.terminate();
  }
}

/** The hold of one frame: as `holdOf`. */
export async function holdOfFrame(probed: Probed, input: SocketInput, enoughMs: number): Promise<Hold> {
  const body = input.body();
  let best: Hold = { ms: Infinity, status: 0 };
  for (let tried = 0; tried < TRIES && best.ms > enoughMs; tried += 1) {
    const hold = await sendFrame(probed, input, body);
    if (hold.ms < best.ms) best = hold;
  }
  return best;
}

/**
 * One request; an answer that waits for a child, as long texts do on a busy machine, is not waited for once the loop has nothing
 * more to do.
 */
async function sendOnce(
  { gateway, look }: Probed,
  method: string,
  path: string,
  input: Input,
  body: Buffer,
): Promise<Hold> {
  await pause(QUIET_MS);
  await look();
  const sending: Sending = { isSent: false, isOver: false };
  const settling = settled(look, sending);
  const sent = (): void => void (sending.isSent = true);
  const status = await send(gateway, method, path, input, body, { given: settling, sent });
  sending.isOver = true;
  const before = await settling;
  return { ms: Math.max(before, (await look()).longestMs), status };
}

/** The hold of one input: the best of three tries, or the first that is below `enoughMs`. */
export async function holdOf(
  probed: Probed,
  method: string,
  path: string,
  input: Input,
  enoughMs: number,
): Promise<Hold> {
  const body = input.body();
  let best: Hold = { ms: Infinity, status: 0 };
  for (let tried = 0; tried < TRIES && best.ms > enoughMs; tried += 1) {
    const hold = await sendOnce(probed, method, path, input, body);
    if (hold.ms < best.ms) best = hold;
  }
  return best;
}
