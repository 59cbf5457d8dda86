/**
 * Leads a client's connection to its call: to the node that owns it, to a takeover if that has died, and a call that begins to the
 * node that has room for it, here or elsewhere (docs/contract/transport.md; ops/adr/0033-nodes.md).
 */
import { tooManyCalls } from '../../../contracts/admission/call-places.js';
import { CALL_TIMES } from '../../../contracts/limits/call-times.js';
import type { Clock } from '../../../contracts/clock.js';
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { Log } from '../../../contracts/log.js';
import type { PublishedAgents } from '../../../contracts/ports/agents/agents.js';
import type { HeldLease } from '../../../contracts/ports/calls/nodes.js';
import type { CallOwner, JoinRefusal, SessionRuns } from '../../../contracts/ports/sessions/sessions.js';
import { withAgentInCharge } from '../conversations/recovery.js';
import type { EmbeddedCalls } from './embedded.js';
import type { Connect, Joins, NodeRelay, RelayRequest } from './node-relay.js';

export interface JoiningParts {
  readonly nodeId: string;
  readonly runs: Pick<SessionRuns, 'join' | 'takeOver' | 'owner'>;
  readonly calls: Pick<EmbeddedCalls, 'owns' | 'settled' | 'stopping' | 'hasRoom' | 'begin' | 'connect'>;
  readonly agents: Pick<PublishedAgents, 'version'>;
  readonly relay: NodeRelay;
  readonly held: Pick<HeldLease, 'holds'>;
  readonly clock: Clock;
  readonly log: Log;
}

export const refused = (message: string): ServiceError => new ServiceError('invalid_key', { message });

const REFUSALS: Readonly<Record<Exclude<JoinRefusal, 'full'>, string>> = {
  unknown: 'The session does not exist',
  used: 'The token was used already',
  expired: 'The token has expired',
  ended: 'The session has ended',
};

/** The error of a client that may not join, or not now. */
export const refusedFor = (why: JoinRefusal): ServiceError =>
  why === 'full' ? tooManyCalls() : refused(REFUSALS[why]);

/** Interval between two searches for the owner while a client waits. */
const LOOK_MS = 200;

const again = (): ServiceError =>
  new ServiceError('overloaded', { message: 'The call cannot go on yet, try again', retryAfter: 1 });

function checkRoom({ calls }: JoiningParts): void {
  if (calls.stopping) throw new ServiceError('draining', { retryAfter: LIMITS.http.drainRetrySeconds });
  if (calls.hasRoom) return;
  throw new ServiceError('overloaded', {
    message: 'This node has no place for another call, try again later',
    retryAfter: LIMITS.http.drainRetrySeconds,
  });
}

/** Continues or begins the call here, unless its owner has the lease, which is then the result. Errors: `invalid_key`, 429, 503. */
async function enter({ sessionId }: Joins, parts: JoiningParts): Promise<CallOwner | undefined> {
  const { runs, calls, held } = parts;
  checkRoom(parts);
  if (!held.holds) throw again();
  const joined = await runs.join(sessionId);
  const entered = 'refused' in joined && joined.refused === 'used' ? await runs.takeOver(sessionId) : joined;
  if ('owner' in entered) return entered.owner;
  if ('refused' in entered) throw refusedFor(entered.refused);
  calls.begin(await withAgentInCharge(entered, parts.agents));
  return undefined;
}

/** Makes sure that the call is here, for a connection that another node has relayed. Errors: those of `enter`, and 503. */
export async function enterHere(joins: Joins, parts: JoiningParts): Promise<void> {
  const { calls } = parts;
  await calls.settled(joins.sessionId);
  if (joins.use === 'rejoin' && calls.owns(joins.sessionId)) return;
  const owner = await enter(joins, parts);
  if (!owner) return;
  await refuseSecond(owner, joins, parts);
  throw again();
}

/**
 * Refuses a first token that was used already, if its call is somewhere: a process that has just died may have taken it, without its
 * client having got another one. Errors: `invalid_key`.
 */
async function refuseSecond(owner: CallOwner, request: Joins, parts: JoiningParts): Promise<void> {
  if (request.use === 'rejoin') return;
  if (owner.nodeId === parts.nodeId || (await parts.relay.hasCall(owner, request))) throw refusedFor('used');
}

/** Undefined if the owner cannot be reached at the moment. */
async function toOwner(
  owner: CallOwner,
  request: RelayRequest,
  { nodeId, relay, log }: JoiningParts,
): Promise<Connect | undefined> {
  // Its call is ending here.
  if (owner.nodeId === nodeId) return undefined;
  try {
    return await relay.toOwner(owner, request);
  } catch (error) {
    log.warn({ err: error, node: owner.nodeId }, 'the owner of a call could not be reached');
    return undefined;
  }
}

/** The present way into the call; undefined if its owner has the lease and cannot be reached. */
async function attempt(
  request: RelayRequest,
  parts: JoiningParts,
  isFirst: boolean,
): Promise<Connect | undefined> {
  const { runs, calls, relay } = parts;
  const { sessionId, use, how } = request;
  const here: Connect = (link) => calls.connect(sessionId, how, link);
  await calls.settled(sessionId);
  if (use === 'rejoin' && calls.owns(sessionId)) return here;
  const known = use === 'rejoin' ? await runs.owner(sessionId) : undefined;
  if (known?.alive) return toOwner(known, request, parts);
  if (calls.stopping || !calls.hasRoom) return relay.toRoom(request);
  // A client that comes back is not sent around: its call has waited long enough.
  const better = use === 'join' && isFirst ? await relay.toBetter(request) : undefined;
  if (better) return better;
  const owner = await enter(request, parts);
  if (!owner) return here;
  await refuseSecond(owner, request, parts);
  return use === 'rejoin' ? toOwner(owner, request, parts) : undefined;
}

/** A log whose first warning alone is written: each of a client's searches says the same. */
function warningOnce(log: Log): Log {
  let warned = false;
  return {
    debug: (...line) => log.debug(...line),
    info: (...line) => log.info(...line),
    error: (...line) => log.error(...line),
    warn(...line) {
      if (!warned) log.warn(...line);
      warned = true;
    },
  };
}

/**
 * The way into the call. If its owner does not answer, the client waits until it does or the call may be taken over.
 * Errors: `invalid_key`; `concurrency_exceeded` if the workspace has as many calls as it may; 503 with `Retry-After` if no
 * node has room, or the wait was in vain.
 */
export async function join(request: RelayRequest, joining: JoiningParts): Promise<Connect> {
  const { clock } = joining;
  const parts = { ...joining, log: warningOnce(joining.log) };
  const end = clock.monotonic() + CALL_TIMES.takeoverMs;
  for (let isFirst = true; ; isFirst = false) {
    const connect = await attempt(request, parts, isFirst);
    if (connect) return connect;
    if (clock.monotonic() >= end) throw again();
    await new Promise<void>((resolve) => void clock.after(LOOK_MS, resolve));
  }
}
