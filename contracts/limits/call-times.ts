/**
 * Every time limit that decides the fate of a call, in one table: the process that waits, the awaited event, and the
 * action if it does not come. Milliseconds. `CALL_ORDER` lists which must end before which, and why. Who closes what for
 * which cause is in docs/architecture.md "Who closes a call".
 */
const SECOND = 1000;

export const CALL_TIMES = {
  /** Gateway process: the last words and messages leave; then the client is disconnected. */
  goodbyeMs: 300,
  /** Gateway process: a client says how much it has heard of speech that was cleared; then what was sent counts as heard. */
  correctionMs: 500,
  /** Gateway process: a report that a media worker has sent arrives; then a token that brought no client becomes valid again. */
  reportMs: 1 * SECOND,
  /** Gateway process: interval of its heartbeat. */
  heartbeatMs: 1 * SECOND,
  /** Room worker, leaving: the agent's last messages are sent; then it disconnects. */
  roomLastWordsMs: 1 * SECOND,
  /** Media or room worker: a client that sent `leave` may be reconnecting; if it is not back in time, it has hung up. */
  leaveGraceMs: 1.5 * SECOND,
  /** Room worker, leaving: the server removes the agent; then the agent counts as gone anyway. */
  roomLeaveMs: 2 * SECOND,
  /** Gateway process: the owner of a call accepts a relayed connection; then the client's connection is closed. */
  relayMs: 2 * SECOND,
  /** Room worker: a user whose media was lost is seen again; then the gateway process asks the server whether they are in the room. */
  missedMs: 3 * SECOND,
  /** Media worker: a client that was told to leave closes its connection itself, or reports an error; then it is closed. */
  farewellMs: 3 * SECOND,
  /** Gateway process: its heartbeat is stored; then it does nothing more for its calls (if it has peers). */
  silentMs: 4 * SECOND,
  /** Gateway process: a client that returns waits for its call's owner, or until it may be taken over; then it is told to retry. */
  takeoverMs: 4 * SECOND,
  /** Gateway process: another one's heartbeat arrives; then its calls may be taken over. */
  leaseMs: 5 * SECOND,
  /** Gateway process: a worker releases a call that was ended; then its job is stopped. */
  releaseMs: 5 * SECOND,
  /** Client: interval of pings on its signalling connection. */
  pingIntervalMs: 5 * SECOND,
  /** Gateway process: a client that spent its token opens signalling; then the token becomes valid again. */
  claimMs: 10 * SECOND,
  /** As `silentMs` and `leaseMs`, for a process that was alone at its last heartbeat. */
  aloneSilentMs: 12 * SECOND,
  aloneLeaseMs: 15 * SECOND,
  /** Client: an answer to a ping comes; then it treats the connection as lost and joins again. */
  pingTimeoutMs: 15 * SECOND,
  /**
   * Media worker: a client without signalling, or told to join again, returns; then its media is closed, or it counts as hung up.
   * Gateway process: a realtime client whose socket broke off returns; then its call is lost.
   */
  reconnectWindowMs: 15 * SECOND,
  /** Room worker: the server lets the agent in and takes its track; then the call has failed. */
  roomJoinMs: 15 * SECOND,
  /** Agent's statechart: a user whose media was lost is connected again; then the user counts as hung up. */
  goneMs: 20 * SECOND,
  /** Any process, sweeping: the client of a call whose process has died returns; then its session ends as failed. */
  returnMs: 60 * SECOND,
  /** Any process, sweeping: a client that joined at the last moment connects; then the session counts as not joined. */
  connectMs: 60 * SECOND,
  /** The owner, sweeping, by its own clock: a call that outlived its longest duration ends; then its session is ended. */
  overtimeMs: 60 * SECOND,
  /**
   * Gateway process that was alone, with media of its own: as `aloneSilentMs`. Nobody else was there who could take its calls over, and a
   * client that found somebody later has left this one's media: so a database that is away for long interrupts nobody.
   */
  aloneAwayMs: 120 * SECOND,
  /** Any process, sweeping: the session's token is used; then the session counts as not joined. */
  joinWindowMs: 120 * SECOND,
} as const;

type CallTime = keyof typeof CALL_TIMES;

interface Before {
  /** Times whose sum is shorter than `than`. */
  readonly shorter: readonly CallTime[];
  readonly than: CallTime;
  readonly why: string;
}

const before = (shorter: CallTime | readonly CallTime[], than: CallTime, why: string): Before => ({
  shorter: [shorter].flat(),
  than,
  why,
});

/** From a reconnecting client to the sweep that ends whatever is left: each step leaves the one before it time to act. */
export const CALL_ORDER: readonly Before[] = [
  before(
    'reportMs',
    'leaveGraceMs',
    'who reconnects before its media was up finds its token, not its session ended',
  ),
  before(
    'leaveGraceMs',
    'reconnectWindowMs',
    'who says `leave` is at most as long expected as who says nothing',
  ),
  before('reconnectWindowMs', 'goneMs', 'who is told to join anew is not given up on the way'),
  before(['heartbeatMs', 'heartbeatMs'], 'silentMs', 'one heartbeat that fails silences nobody'),
  before('silentMs', 'leaseMs', 'who may be taken over has fallen silent'),
  before('aloneSilentMs', 'aloneLeaseMs', 'who may be taken over has fallen silent'),
  before('aloneSilentMs', 'aloneAwayMs', 'media of its own has its client to itself'),
  before(
    'leaseMs',
    'goneMs',
    'a client whose node has died is not given up before another may take its call over',
  ),
  before(['aloneLeaseMs', 'takeoverMs'], 'returnMs', 'a lost call can be taken over before it is ended'),
  before(
    ['pingIntervalMs', 'pingTimeoutMs', 'pingTimeoutMs'],
    'returnMs',
    'a client whose node lost its power finds out, and so does its first attempt that reaches the dead node',
  ),
  before(
    'goneMs',
    'returnMs',
    'who was lost with his node has as long to return as one who lost his network',
  ),
  before(
    'goneMs',
    'connectMs',
    'the owner decides about a user who was connected, the sweep about one who never was',
  ),
  before(
    ['missedMs', 'missedMs', 'roomLeaveMs', 'leaseMs', 'heartbeatMs'],
    'goneMs',
    'an agent that does not see its user is replaced before the user is given up',
  ),
  before('pingIntervalMs', 'pingTimeoutMs', 'a ping is answered before its connection is taken for lost'),
  before('pingTimeoutMs', 'goneMs', 'a client that finds its connection lost comes back in time'),
  before('relayMs', 'pingTimeoutMs', 'who cannot be relayed is told, and does not find out by itself'),
  before('claimMs', 'connectMs', 'a token is given back before its session is ended as not joined'),
  before('claimMs', 'joinWindowMs', 'a token that is given back can still be used'),
  before('roomJoinMs', 'joinWindowMs', 'the agent is in its room while its user may still come'),
  before(
    ['roomLastWordsMs', 'roomLeaveMs'],
    'releaseMs',
    'an agent leaves its room before its job is stopped',
  ),
  before('farewellMs', 'releaseMs', 'a client closes its connection before the worker is stopped'),
  before('correctionMs', 'releaseMs', 'what was heard is settled while its call is there'),
  before(['goodbyeMs', 'releaseMs'], 'overtimeMs', 'the owner ends its call before the sweep does'),
];
