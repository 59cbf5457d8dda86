/**
 * One request to a STUN or TURN server and its answer, over UDP, TCP or TLS. Datagrams are sent again until an answer is there
 * (RFC 8489, 6.2.1).
 *
 * Invariant: what was opened is closed when `signal` is aborted or `close` is called.
 */
import { createSocket } from 'node:dgram';
import { randomBytes } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { connect as connectPlain, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { IceAddress } from './ice-url.js';
import {
  answerIn,
  lengthOfMessage,
  requestBytes,
  type StunAnswer,
  type StunRequest,
} from './stun-message.js';

/** Until a datagram is sent again; doubled each time. */
const RESEND_MS = 500;
const TRANSACTION_BYTES = 12;

/** A way to a server. */
interface Way {
  send(message: Buffer): void;
  close(): void;
  /** Whether what is sent may be lost. */
  readonly isLossy: boolean;
}

interface Heard {
  message(message: Buffer): void;
  failed(error: Error): void;
}

async function datagrams({ host, port }: IceAddress, heard: Heard): Promise<Way> {
  const { address, family } = await lookup(host);
  const socket = createSocket(family === 6 ? 'udp6' : 'udp4');
  socket.on('message', (message) => heard.message(message)).on('error', (error) => heard.failed(error));
  // Connected, so that a port at which nobody listens is an error.
  socket.connect(port, address);
  const close = (): void => void socket.close();
  await once(socket, 'connect').catch((error: unknown) => {
    close();
    throw error;
  });
  return { isLossy: true, send: (message) => socket.send(message), close };
}

async function stream(
  { host, port, transport }: IceAddress,
  heard: Heard,
  signal: AbortSignal,
): Promise<Way> {
  const isTls = transport === 'tls';
  // Addresses are no names of certificates' servers.
  const servername = isIP(host) === 0 ? host : undefined;
  const tls = { host, port, ...(servername !== undefined && { servername }) };
  const socket: Socket = isTls ? connectTls(tls) : connectPlain(port, host);
  const end = (): void => void socket.destroy();
  signal.addEventListener('abort', end);
  socket.once('close', () => signal.removeEventListener('abort', end));
  let waiting = Buffer.alloc(0);
  socket.on('data', (bytes: Buffer) => {
    waiting = Buffer.concat([waiting, bytes]);
    const length = lengthOfMessage(waiting) ?? Infinity;
    if (waiting.length < length) return;
    heard.message(waiting.subarray(0, length));
    waiting = waiting.subarray(length);
  });
  socket.on('error', (error) => heard.failed(error));
  await once(socket, isTls ? 'secureConnect' : 'connect', { signal });
  socket.on('close', () => heard.failed(Object.assign(new Error('closed'), { code: 'ECONNRESET' })));
  return { isLossy: false, send: (message) => void socket.write(message), close: end };
}

export class StunExchange {
  #way: Way | undefined;
  #waits:
    | { readonly transaction: Buffer; take(answer: StunAnswer): void; fail(error: Error): void }
    | undefined;

  private constructor(private readonly signal: AbortSignal) {}

  /** Errors: those of sockets and of DNS; the reason of `signal`. */
  static async open(address: IceAddress, signal: AbortSignal): Promise<StunExchange> {
    const exchange = new StunExchange(signal);
    const heard: Heard = {
      message: (message) => exchange.#take(message),
      failed: (error) => exchange.#waits?.fail(error),
    };
    const opening = address.transport === 'udp' ? datagrams(address, heard) : stream(address, heard, signal);
    exchange.#way = await opening;
    if (signal.aborted) exchange.close();
    signal.throwIfAborted();
    return exchange;
  }

  close(): void {
    this.#way?.close();
    this.#way = undefined;
  }

  /** Sends it, and hopes. */
  tell(request: Omit<StunRequest, 'transaction'>): void {
    this.#way?.send(requestBytes({ ...request, transaction: randomBytes(TRANSACTION_BYTES) }));
  }

  /** Errors: those of sockets, the reason of `signal`. */
  async ask(request: Omit<StunRequest, 'transaction'>): Promise<StunAnswer> {
    const transaction = randomBytes(TRANSACTION_BYTES);
    const message = requestBytes({ ...request, transaction });
    let resend: NodeJS.Timeout | undefined;
    const send = (waitMs: number): void => {
      this.#way?.send(message);
      if (this.#way?.isLossy) resend = setTimeout(send, waitMs, 2 * waitMs);
    };
    let left = (): void => undefined;
    try {
      return await new Promise<StunAnswer>((take, fail) => {
        left = () => fail(this.signal.reason as Error);
        this.signal.addEventListener('abort', left);
        this.#waits = { transaction, take, fail };
        send(RESEND_MS);
      });
    } finally {
      clearTimeout(resend);
      this.#waits = undefined;
      this.signal.removeEventListener('abort', left);
    }
  }

  #take(message: Buffer): void {
    const answer = answerIn(message);
    if (answer && this.#waits?.transaction.equals(answer.transaction)) this.#waits.take(answer);
  }
}
