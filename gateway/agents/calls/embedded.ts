/**
 * Calls of embedded mode: each begins when a client spends the session's token, in the process that the client has
 * reached, and outlives the client's connections. actors/claim.ts decides whether its client comes at all.
 */
import { claim, type ClaimEvent } from '../../../actors/claim.js';
import { run, type RunningMachine } from '../../../actors/run.js';
import type { Clock } from '../../../contracts/clock.js';
import { CALL_TIMES } from '../../../contracts/limits/call-times.js';
import {
  IDENTITIES,
  type JoinableCall,
  type JoinableCalls,
  type SignalConnect,
  type SignalEnd,
  type SignalLink,
} from '../../../contracts/ports/calls/calls.js';
import type { JoinTokens } from '../../../contracts/ports/calls/join-tokens.js';
import type { RunningSession } from '../../../contracts/ports/sessions/sessions.js';
import { type Carrier, carrying } from './carriers.js';
import { type CallParts, OwnedCall } from './owned-call.js';
import { CallRegistry } from './registry.js';
import { FirstConnection } from './first-connection.js';

export interface EmbeddedParts extends CallParts {
  readonly calls: JoinableCalls;
  readonly joinTokens: Pick<JoinTokens, 'issue'>;
  /** Most calls that this process takes; absent for any number. */
  readonly places?: number | undefined;
  /** Whether a worker would take another call. */
  readonly hasMedia?: () => boolean;
  /** Calls of other kinds that take places as well. */
  readonly beside?: () => number;
}

/** The client of a call: its connections, and whether it comes at all. */
class Client {
  /** Resolves when it is decided whether the token is given back, and if so, once it has been. */
  settled: Promise<void> = Promise.resolve();
  #settle = (): void => undefined;
  readonly #claim: RunningMachine<ClaimEvent>;
  readonly #links = new Set<SignalLink>();

  /** `giveBack` ends the call without its session and gives the token back. Never rejects. */
  constructor(
    private readonly call: JoinableCall,
    clock: Clock,
    giveBack: () => Promise<void>,
  ) {
    this.#claim = run(claim, undefined, clock, {
      wait: () => {
        this.settled = new Promise((resolve) => (this.#settle = resolve));
      },
      settled: () => this.#settle(),
      giveBack: () => void giveBack().then(() => this.#claim.send({ type: 'given' })),
    });
  }

  /** One connection; a later one replaces it. */
  connect(how: SignalConnect, link: SignalLink): SignalEnd {
    const end = this.call.connect(how, link);
    this.#links.add(link);
    this.#claim.send({ type: 'opened' });
    return {
      receive: (frame) => end.receive(frame),
      closed: () => {
        this.#links.delete(link);
        end.closed();
        this.#claim.send({ type: 'closed' });
      },
    };
  }

  connected(): void {
    this.#claim.send({ type: 'connected' });
  }

  over(): void {
    this.#claim.send({ type: 'over' });
  }

  /** Breaks its connections, so that it connects anew. */
  disconnect(): void {
    for (const link of this.#links) link.close();
  }
}

type EmbeddedCall = OwnedCall<Carrier & { readonly client: Client }>;

/** The calls of this process, to which signalling connections connect. */
export class EmbeddedCalls {
  readonly #registry: CallRegistry<EmbeddedCall>;
  #stopping = false;

  constructor(private readonly parts: EmbeddedParts) {
    this.#registry = new CallRegistry(parts);
  }

  /** Whether another call may begin here. */
  get hasRoom(): boolean {
    const { places, beside, hasMedia } = this.parts;
    const isFull = places !== undefined && this.size + (beside?.() ?? 0) >= places;
    return !isFull && hasMedia?.() !== false;
  }

  /** Calls that have not ended. */
  get size(): number {
    return this.#registry.all.length;
  }

  /** True once no more calls begin here. */
  get stopping(): boolean {
    return this.#stopping;
  }

  /** Whether the session's call is here, and not ending. */
  owns(sessionId: string): boolean {
    return this.#registry.find(sessionId)?.ending === false;
  }

  /** Resolves once the token of a client that has just left is given back, so that it can join again. */
  settled(sessionId: string): Promise<void> {
    return this.#registry.find(sessionId)?.carrier.client.settled ?? Promise.resolve();
  }

  /**
   * Begins the call of a session that has just been joined, or continues one whose owner has died; does nothing if it has
   * begun already. `own`: parts of this call that replace those of all calls.
   */
  begin(session: RunningSession, own: Partial<CallParts> = {}, name: 'embedded' | 'test' = 'embedded'): void {
    if (this.#registry.find(session.record.id)) return;
    const parts = { ...this.parts, ...own };
    const call = this.#open(session, name);
    const client = new Client(call, parts.clock, () => this.#giveBack(owned));
    const carrier = { ...this.#carrier(name, session, client, () => owned), client };
    const owned: EmbeddedCall = new OwnedCall(call, session, parts, carrier);
    void owned.over.then(() => client.over());
    this.#registry.add(owned);
  }

  #carrier(
    name: 'embedded' | 'test',
    { record }: RunningSession,
    client: Client,
    owned: () => EmbeddedCall,
  ): Carrier {
    const { clock, runs } = this.parts;
    const connection = new FirstConnection(clock);
    return {
      ...carrying(name, record, runs),
      isSettled: () => connection.isSettled,
      connected() {
        connection.connected();
        client.connected();
      },
      // A client whose call others may have taken over gets no goodbye: it reconnects to them.
      closing(cause) {
        if (cause === 'lost') client.disconnect();
      },
      release: () => this.#leave(owned()),
    };
  }

  /** Recordings of a node that died stay as they are: the call continues in another part. */
  #open({ record: { id, workspaceId, agentName }, plan, part }: RunningSession, name: 'embedded' | 'test') {
    const { calls, clock, joinTokens } = this.parts;
    const { connectMs, goneMs } = CALL_TIMES;
    const expiresAt = new Date(clock.now() + connectMs + plan.maxDurationSeconds * 1000 + goneMs);
    return calls.openCall({
      sessionId: id,
      workspaceId,
      ...(name === 'test' && { isTest: true }),
      user: { identity: IDENTITIES.user, name: '' },
      agent: { identity: IDENTITIES.agent, name: agentName },
      record: plan.recordAudio,
      part,
      rotatedToken: () =>
        joinTokens.issue({ sessionId: id, identity: IDENTITIES.user, use: 'rejoin' }, expiresAt),
    });
  }

  /** Resolves when the session’s call has ended and its record is kept; at once if it is not here. */
  over(sessionId: string): Promise<void> {
    return this.#registry.find(sessionId)?.over ?? Promise.resolve();
  }

  /** Ends the session’s call, if it is here. */
  end(sessionId: string): void {
    this.#registry.find(sessionId)?.closedBy('session');
  }

  /** One connection of the session's client. Undefined if its call is not here. */
  connect(sessionId: string, how: SignalConnect, link: SignalLink): SignalEnd | undefined {
    return this.owns(sessionId)
      ? this.#registry.find(sessionId)?.carrier.client.connect(how, link)
      : undefined;
  }

  async #giveBack(call: EmbeddedCall): Promise<void> {
    const { runs, log } = this.parts;
    call.closedBy('unclaimed');
    await runs
      .release(call.id)
      .catch((error: unknown) => log.warn({ err: error }, 'a token was not given back'));
    this.#registry.remove(call);
  }

  /** Its client waits until its session is released, since the call may begin here again. */
  #leave(call: EmbeddedCall): Promise<void> {
    this.#registry.remove(call);
    return this.parts.runs.release(call.id);
  }

  /** Begins no more calls, and ends those left after `until`. Resolves when no token is being given back any more. */
  async stop(until: Promise<unknown>): Promise<void> {
    this.#stopping = true;
    const { all } = this.#registry;
    await this.#registry.stop(until);
    await Promise.all(all.map(({ carrier }) => carrier.client.settled));
  }
}
