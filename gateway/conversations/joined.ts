/**
 * Conversations of embedded mode: each begins when a client spends the session's token, in the process that the client
 * has reached, and outlives the client's connections.
 */
import { LIMITS } from '../../contracts/limits.js';
import {
  IDENTITIES,
  type JoinableCall,
  type JoinableCalls,
  type SignalConnect,
  type SignalEnd,
  type SignalLink,
} from '../../contracts/ports/calls.js';
import type { Conversations } from '../../contracts/ports/conversations.js';
import type { JoinTokens } from '../../contracts/ports/join-tokens.js';
import type { RunningSession } from '../../contracts/ports/sessions.js';
import type { LiveConversation, LiveConversations, LiveParts } from './live.js';

export interface JoinedParts extends Pick<LiveParts, 'runs' | 'clock' | 'log'> {
  readonly calls: JoinableCalls;
  readonly joinTokens: Pick<JoinTokens, 'issue'>;
}

/** What is on its way from the worker has arrived by then. */
const WORD_MS = 1000;

interface Joined {
  readonly call: JoinableCall;
  readonly live: LiveConversation;
  /** Signalling connections that are open. */
  links: number;
}

export class JoinedConversations implements Conversations {
  readonly #joined = new Map<string, Joined>();
  readonly #returning = new Map<string, Promise<void>>();

  constructor(
    private readonly conversations: LiveConversations,
    private readonly parts: JoinedParts,
  ) {}

  holds(id: string): boolean {
    return this.#joined.get(id)?.live.ending === false;
  }

  settled(id: string): Promise<void> {
    return this.#returning.get(id) ?? Promise.resolve();
  }

  begin(session: RunningSession): void {
    const { id } = session.record;
    if (this.#joined.has(id)) return;
    const call = this.#open(session);
    const live = this.conversations.begin(call, session, () => this.parts.runs.activate(id));
    const joined: Joined = { call, live, links: 0 };
    this.#joined.set(id, joined);
    void live.over.then(() => this.#forget(id, joined));
    this.parts.clock.after(LIMITS.session.claimMs, () => this.#return(id, this.#missed(id, joined)));
  }

  #open({ record: { id, agentName }, plan }: RunningSession): JoinableCall {
    const { calls, clock, joinTokens } = this.parts;
    const { connectMs, goneMs } = LIMITS.session;
    const expiresAt = new Date(clock.now() + connectMs + plan.maxDurationSeconds * 1000 + goneMs);
    const options = {
      sessionId: id,
      user: { identity: IDENTITIES.user, name: '' },
      agent: { identity: IDENTITIES.agent, name: agentName },
      record: plan.recordAudio,
      rotatedToken: () =>
        joinTokens.issue({ sessionId: id, identity: IDENTITIES.user, use: 'rejoin' }, expiresAt),
    };
    return calls.open(options, new AbortController().signal);
  }

  connect(id: string, how: SignalConnect, link: SignalLink): SignalEnd | undefined {
    const joined = this.#joined.get(id);
    if (!joined || joined.live.ending) return undefined;
    const end = joined.call.connect(how, link);
    joined.links += 1;
    return {
      receive: (frame) => end.receive(frame),
      closed: () => {
        end.closed();
        joined.links -= 1;
        if (joined.links === 0 && !joined.live.begun) this.#return(id, this.#awaitWord(id, joined));
      },
    };
  }

  /**
   * A client that goes before its media is up may have no token to return with: it may use the first one again. Whoever
   * returns begins anew, here or in another process.
   */
  async #missed(id: string, joined: Joined): Promise<void> {
    if (joined.links > 0 || joined.live.begun || this.#joined.get(id) !== joined) return;
    joined.live.abandon();
    this.#forget(id, joined);
    this.conversations.forget(id, joined.live);
    await this.parts.runs
      .unjoin(id)
      .catch((error: unknown) => this.parts.log.warn({ err: error }, 'a token was not given back'));
  }

  /** That the user is connected may still be on its way from the worker: the client may have heard it, and gone. */
  async #awaitWord(id: string, joined: Joined): Promise<void> {
    await new Promise<void>((resolve) => this.parts.clock.after(WORD_MS, resolve));
    await this.#missed(id, joined);
  }

  /** Who joins meanwhile waits. */
  #return(id: string, work: Promise<void>): void {
    const given = work.finally(() => {
      if (this.#returning.get(id) === given) this.#returning.delete(id);
    });
    this.#returning.set(id, given);
  }

  #forget(id: string, joined: Joined): void {
    if (this.#joined.get(id) === joined) this.#joined.delete(id);
  }

  /** Resolves when no token is on its way back. */
  async stop(): Promise<void> {
    await Promise.all(this.#returning.values());
  }
}
