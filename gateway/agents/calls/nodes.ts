/** Connections between nodes, and the list of nodes for their operator (ops/adr/0033-nodes.md). */
import { CALL_TIMES } from '../../../contracts/limits/call-times.js';
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import { isPlainObject } from '../../../contracts/schemas/plain-object.js';
import type { SignalConnect, SignalEnd, SignalLink } from '../../../contracts/ports/calls/calls.js';
import type { Caller, KeyAuthority } from '../../../contracts/ports/accounts/identity.js';
import { NODE_STATES, type NodeRecord, type Nodes, stateOf } from '../../../contracts/ports/calls/nodes.js';
import { Type } from '../../../contracts/schemas/type.js';
import { nativeError } from '../../server/native-error.js';
import { failuresAs } from '../../server/openapi/openapi-errors.js';
import type { Dialect, HttpRequest, Socket, SocketEvents, SocketRoute } from '../../server/port.js';
import { json } from '../../server/replies.js';
import { keyedRoutes, type RouteRow } from '../../server/routes.js';
import { enterHere, type JoiningParts } from './joining.js';
import { digestOf, type RelayClaims, type RelayGate } from './node-claims.js';
import { type Introduction, RELAY_PATH } from './node-relay.js';
import type { SocketCalls } from './socket-calls.js';
import type { SignalRelay } from './signal-relay.js';

export interface NodeParts {
  readonly keys: KeyAuthority;
  readonly nodes: Nodes;
  /** Only in embedded mode: the calls to which clients of other nodes are relayed. */
  readonly relayed?: RelayedParts;
}

export interface RelayedParts extends JoiningParts {
  readonly gate: RelayGate;
  readonly installation: string;
  /** Calls whose events others may follow. */
  readonly sockets: Pick<SocketCalls, 'owns' | 'connect'>;
  readonly near: SignalRelay;
}

const NodeList = Type.Object({
  nodes: Type.Array(
    Type.Object({
      node_id: Type.String(),
      url: Type.Union([Type.String(), Type.Null()], { description: 'Where other nodes reach it' }),
      state: Type.Enum([...NODE_STATES]),
      calls: Type.Integer(),
      places: Type.Union([Type.Integer(), Type.Null()], { description: 'Null: none told yet' }),
      load: Type.Number({ description: 'Share of its machine in use: 1 is all of its processors' }),
      call_cost: Type.Number({
        description: 'Share of its machine that one more call takes, as measured there',
      }),
      version: Type.String(),
      started_at: Type.String({ format: 'date-time' }),
      seen_at: Type.String({ format: 'date-time' }),
    }),
  ),
});

/** To thousandths. */
const rounded = (share: number): number => Math.round(share * 1000) / 1000;

const shown = (node: NodeRecord) => ({
  node_id: node.id,
  url: node.url,
  state: stateOf(node),
  calls: node.calls,
  places: node.places,
  load: rounded(node.load),
  call_cost: rounded(node.callCost),
  version: node.version,
  started_at: node.startedAt.toISOString(),
  seen_at: node.seenAt.toISOString(),
});

const failures = failuresAs(Type.Object({ status: Type.Integer(), message: Type.String() }));

const ROWS: readonly RouteRow<NodeParts, Caller>[] = [
  {
    method: 'GET',
    path: '/nodes',
    // For operators.
    permission: 'machine',
    handler: async (_request, { nodes }) =>
      json(200, { nodes: (await nodes.list()).map(shown) }, { 'cache-control': 'no-store' }),
    description: {
      summary: 'Gateway processes that share the database',
      tags: ['Operation'],
      responses: {
        200: { description: 'All of them, the oldest first', content: { 'application/json': NodeList } },
        ...failures(401),
      },
    },
  },
];

/** Undefined if the frame is not the one that was signed. */
function introducedBy(frame: string | Uint8Array, { digest }: RelayClaims): SignalConnect | undefined {
  if (typeof frame !== 'string' || digestOf(frame) !== digest) return undefined;
  const value: unknown = JSON.parse(frame);
  if (!isPlainObject(value)) return undefined;
  const { version, query, from } = value as unknown as Introduction;
  return { version: version === 0 ? 0 : 1, query: new URLSearchParams(query), from };
}

type Connected = (how: SignalConnect, link: SignalLink) => SignalEnd | undefined;

/** The way to the call from here: in this process, or in another one of the installation. Errors: `conflict`. */
async function wayTo(claims: RelayClaims, parts: RelayedParts): Promise<Connected> {
  const { calls, sockets, runs, near, installation, nodeId } = parts;
  const { sessionId, wants } = claims;
  const here: Connected = (how, link) =>
    sockets.connect(sessionId, how, link) ?? calls.connect(sessionId, how, link);
  if (wants === 'room') {
    await enterHere(claims, parts);
    return here;
  }
  if (sockets.owns(sessionId) || calls.owns(sessionId)) return here;
  const owner = await runs.owner(sessionId);
  const isNear = owner?.alive && owner.installation === installation && owner.nodeId !== nodeId;
  if (isNear && (await near.lives(owner.address)))
    return (how, link) => near.connect(owner.address, sessionId, how, link);
  throw new ServiceError('conflict', { message: 'The call is not here' });
}

/** A relayed connection: its first frame says how the client connected; all others are the client's. */
class RelayedSocket implements SocketEvents {
  #end: SignalEnd | undefined;
  #introduced = false;
  readonly #giveUp: () => void;

  constructor(
    private readonly socket: Socket,
    private readonly claims: RelayClaims,
    private readonly connect: Connected,
    { clock }: RelayedParts,
  ) {
    this.#giveUp = clock.after(CALL_TIMES.relayMs, () => socket.close('normal'));
  }

  message(frame: string | Uint8Array): void {
    if (this.#introduced) return this.#end?.receive(frame);
    this.#introduced = true;
    this.#giveUp();
    const how = introducedBy(frame, this.claims);
    const { socket } = this;
    socket.chargeTo(`session:${this.claims.sessionId}`);
    const link = {
      memory: socket.memory('frame'),
      send: (each: Uint8Array | string) => socket.send(each),
      close: () => socket.close('normal'),
    };
    this.#end = how && this.connect(how, link);
    if (!this.#end) socket.close('normal');
  }

  closed(): void {
    this.#giveUp();
    this.#end?.closed();
  }
}

const relayed = (parts: RelayedParts): SocketRoute => ({
  path: RELAY_PATH,
  // Authenticated by the signature of another node.
  permission: 'open',
  whileDraining: true,
  async upgrade(request: HttpRequest) {
    const claims = parts.gate.admit(request.headers.get('authorization'));
    request.authenticated();
    const connect = await wayTo(claims, parts);
    return {
      maxFrameBytes: LIMITS.socket.rtcFrameBytes,
      connectionMs: null,
      open: (socket) => new RelayedSocket(socket, claims, connect, parts),
    };
  },
});

export const nodesDialect = (parts: NodeParts): Dialect => ({
  name: 'nodes',
  prefixes: ['/nodes'],
  routes: keyedRoutes(ROWS, parts),
  sockets: parts.relayed ? [relayed(parts.relayed)] : [],
  errorReply: nativeError,
});
