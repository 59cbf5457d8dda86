/**
 * Relays to calls of other nodes, and to nodes that have more room for one (ops/adr/0033-nodes.md; contracts/admission/placement.ts):
 * over the owner's Unix socket within an installation, otherwise over a WebSocket to its address. A relayed connection is
 * never relayed to another machine again.
 */
import { WebSocket } from 'ws';
import { CALL_TIMES } from '../../../contracts/limits/call-times.js';
import type { Clock } from '../../../contracts/clock.js';
import { tooManyCalls } from '../../../contracts/admission/call-places.js';
import { type Candidate, Placement } from '../../../contracts/admission/placement.js';
import { type ErrorCode, ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { Log } from '../../../contracts/log.js';
import type { SignalConnect, SignalEnd, SignalLink } from '../../../contracts/ports/calls/calls.js';
import { MeteredMemory, pieceOf } from '../../../contracts/ports/accounts/memory.js';
import type { JoinClaims } from '../../../contracts/ports/calls/join-tokens.js';
import type { KnownNodes, NodeFigures } from '../../../contracts/ports/calls/nodes.js';
import type { CallOwner } from '../../../contracts/ports/sessions/sessions.js';
import { digestOf, type RelayClaims, signed } from './node-claims.js';
import type { SignalRelay } from './signal-relay.js';

/** Path on which nodes accept one another's connections. */
export const RELAY_PATH = '/nodes/signal';

/** Connects an open connection of the client to its call. Undefined if the call has just ended. */
export type Connect = (link: SignalLink) => SignalEnd | undefined;

/** What a client joins, and with which token. */
export type Joins = Pick<JoinClaims, 'sessionId' | 'use'>;

export interface RelayRequest extends Joins {
  readonly how: SignalConnect;
}

export interface NodeRelay {
  /** Errors: `transport_failed` if the owner does not answer or no longer has the call. */
  toOwner(owner: CallOwner, request: RelayRequest): Promise<Connect>;
  /** Whether the owner answers, and has the call. */
  hasCall(owner: CallOwner, joins: Joins): Promise<boolean>;
  /** To a node that has much more room than this one; undefined if there is none, or it did not take the call. Errors: `invalid_key`, 429. */
  toBetter(request: RelayRequest): Promise<Connect | undefined>;
  /** Whether another node has room, as far as is known here. */
  knowsRoom(): boolean;
  /** To a node that has room. Errors: `overloaded` if none has; `invalid_key` if the client may not join; 429. */
  toRoom(request: RelayRequest): Promise<Connect>;
}

export interface RelayParts {
  readonly key: Uint8Array;
  readonly installation: string;
  readonly nodes: KnownNodes;
  /** This node, right now. */
  readonly here: () => NodeFigures;
  /** Relay within this installation. */
  readonly near: SignalRelay;
  readonly clock: Clock;
  readonly log: Log;
}

/** The first frame of a relayed connection. */
export interface Introduction extends Omit<SignalConnect, 'query'> {
  readonly query: string;
}

const { relayMs, pingIntervalMs } = CALL_TIMES;
const { waitingBytes, tries: MOST_TRIES } = LIMITS.node;

/** The introduction omits the client's token, which is only for the node that it has reached. */
function introduce({ version, query, from }: SignalConnect): string {
  const rest = new URLSearchParams(query);
  rest.delete('access_token');
  return JSON.stringify({ version, query: rest.toString(), from } satisfies Introduction);
}

/** The error with which this node repeats a refusal of the other one. */
function refusalOf(status: number, retryAfter: string | undefined): ServiceError {
  if (status === 401) return new ServiceError('invalid_key');
  if (status === 429) return tooManyCalls();
  if (status === 503) return new ServiceError('overloaded', { retryAfter: Number(retryAfter) || 1 });
  return new ServiceError('transport_failed', { message: `The node of the call answered ${status}` });
}

/** Resolves when it is open. Errors: `refusalOf`; `transport_failed` if nobody answers in time. */
function opened(socket: WebSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once('open', resolve);
    socket.once('unexpected-response', (request, response) => {
      request.destroy();
      reject(refusalOf(response.statusCode ?? 0, response.headers['retry-after']));
    });
    socket.on('error', (cause) =>
      reject(
        new ServiceError('transport_failed', { message: 'The node of the call does not answer', cause }),
      ),
    );
  });
}

/** Ends a connection whose other side has vanished. */
function watch(socket: WebSocket): void {
  let answered = true;
  socket.on('pong', () => (answered = true));
  const timer = setInterval(() => {
    if (!answered) return socket.terminate();
    answered = false;
    socket.ping();
  }, pingIntervalMs);
  timer.unref();
  socket.once('close', () => clearInterval(timer));
}

/** Passes frames unread in both directions; a side that does not keep up loses the connection, not the call. */
function carry(socket: WebSocket, link: SignalLink): SignalEnd {
  socket.on('message', (frame: Buffer, isBinary) => link.send(isBinary ? frame : frame.toString()));
  socket.once('close', () => link.close());
  if (socket.readyState !== WebSocket.OPEN) link.close();
  const memory = new MeteredMemory(link.memory);
  let waiting = 0;
  return {
    receive(frame) {
      const bytes = pieceOf(frame.length);
      if (waiting + bytes > waitingBytes || !memory.set(waiting + bytes)) return socket.terminate();
      waiting += bytes;
      socket.send(frame, () => void memory.set((waiting -= bytes)));
    },
    closed: () => socket.close(),
  };
}

type Asked = Omit<RelayClaims, 'digest'>;

/** A connection to another node, to which the client's introduction is still to be sent. Errors: those of `opened`. */
async function asking(url: string, asked: Asked, first: string, parts: RelayParts): Promise<WebSocket> {
  const { key, clock } = parts;
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}${RELAY_PATH}`, {
    headers: { authorization: signed(key, { ...asked, digest: digestOf(first) }, clock) },
    handshakeTimeout: relayMs,
    perMessageDeflate: false,
    maxPayload: waitingBytes,
  });
  await opened(socket);
  return socket;
}

/** Resolves when the other node has let the client in. Errors: those of `opened`. */
async function far(url: string, asked: Asked, how: SignalConnect, parts: RelayParts): Promise<Connect> {
  const first = introduce(how);
  const socket = await asking(url, asked, first, parts);
  socket.send(first);
  // Reads nothing until the client's link is there; gives up in the end, as a client that has left meanwhile never connects.
  socket.pause();
  const giveUp = parts.clock.after(relayMs, () => socket.terminate());
  watch(socket);
  return (link) => {
    giveUp();
    const end = carry(socket, link);
    socket.resume();
    return end;
  };
}

const askedOf = ({ to }: { readonly to: string }, { sessionId, use }: Joins): Asked => ({
  ...{ to, wants: 'owner', sessionId, use },
});

const GONE = { message: 'The process of the call does not answer' };

/** Refusals of one node that every other one would repeat. */
const FINAL: ReadonlySet<string> = new Set<ErrorCode>(['invalid_key', 'concurrency_exceeded']);

const noRoom = (): ServiceError =>
  new ServiceError('overloaded', {
    message: 'No node has a place for this call, try again later',
    retryAfter: LIMITS.http.drainRetrySeconds,
  });

interface Placing extends RelayParts {
  readonly placement: Placement;
}

/** Asks a node to take the call; undefined if it does not. Errors: those that every node would repeat. */
async function ask(
  node: Candidate,
  { sessionId, use, how }: RelayRequest,
  parts: Placing,
): Promise<Connect | undefined> {
  const { placement, log } = parts;
  const { id, url, installation: to } = node;
  try {
    const connect = await far(url, { to, wants: 'room', sessionId, use }, how, parts);
    placement.sent(node);
    return connect;
  } catch (error) {
    const code = error instanceof ServiceError ? error.code : undefined;
    if (code !== undefined && FINAL.has(code)) throw error;
    if (code === 'overloaded') placement.refused(node);
    else placement.unreachable(node);
    log.warn({ err: error, node: id }, 'a node did not take a call');
    return undefined;
  }
}

/** The first of these nodes that takes the call. */
async function firstOf(
  nodes: readonly Candidate[],
  request: RelayRequest,
  parts: Placing,
): Promise<Connect | undefined> {
  for (const node of nodes) {
    const connect = await ask(node, request, parts);
    if (connect) return connect;
  }
  return undefined;
}

export function createNodeRelay(parts: RelayParts): NodeRelay {
  const { nodes, installation, clock } = parts;
  const placement = new Placement({ known: () => nodes.known, installation, clock });
  const placing = { ...parts, placement };
  /** Where an owner of another installation is reached. */
  const elsewhere = ({ url, installation: to }: CallOwner) =>
    to === null || url === null || to === installation ? undefined : { url, to };
  return {
    async toOwner(owner, request) {
      const { sessionId, how } = request;
      const there = elsewhere(owner);
      if (there) return far(there.url, askedOf(there, request), how, parts);
      if (!(await parts.near.lives(owner.address))) throw new ServiceError('transport_failed', GONE);
      return (link) => parts.near.connect(owner.address, sessionId, how, link);
    },
    async hasCall(owner, joins) {
      const there = elsewhere(owner);
      if (!there) return parts.near.lives(owner.address);
      // Without an introduction nobody is let in.
      const socket = await asking(there.url, askedOf(there, joins), '', parts).catch(() => undefined);
      socket?.terminate();
      return socket !== undefined;
    },
    knowsRoom: () => placement.withRoom(1).length > 0,
    async toBetter(request) {
      const node = placement.better(parts.here());
      return node && ask(node, request, placing);
    },
    async toRoom(request) {
      const first = await firstOf(placement.withRoom(MOST_TRIES), request, placing);
      if (first) return first;
      // What is known is some seconds old: a node may have room since.
      await nodes.look();
      const connect = await firstOf(placement.withRoom(MOST_TRIES), request, placing);
      if (!connect) throw noRoom();
      return connect;
    },
  };
}
