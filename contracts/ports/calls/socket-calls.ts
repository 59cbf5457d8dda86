/**
 * Calls by one WebSocket that carries everything: audio, words and messages (docs/contract/agent-realtime.md), or by a WebRTC connection
 * whose data channel stands for it. The dialect translates between its client's events and these; the call is like any other behind it.
 */
import { ServiceError } from '../../errors.js';
import type { MemoryShare } from '../accounts/memory.js';
import type { RunningSession, SessionPlan } from '../sessions/sessions.js';
import type { PlainObject } from '../../schemas/plain-object.js';
import type { CallEvent, LineFormat, SignalEnd, SignalLink, TranscriptText } from './calls.js';
import type { ChannelEvents, ConnectionOffer, OfferedLine } from './offered-calls.js';

/** What a call tells its client, in order. */
export type CallNews =
  /** The user's voice begins or ends; `at`: milliseconds of their audio up to there, if known. */
  | { readonly on: 'voice'; readonly active: boolean; readonly at?: number | undefined }
  /** More speech of that utterance was made; its audio follows. */
  | { readonly on: 'made'; readonly utterance: number; readonly ms: number }
  /** More of what that utterance says, as a text of its own: the whole answer, what comes before a tool or after it, a filler. */
  | { readonly on: 'written'; readonly utterance: number; readonly text: string }
  /** So much of it is heard; the words of it follow. */
  | { readonly on: 'playing'; readonly utterance: number; readonly ms: number }
  /** The same, behind its words. `ended`: all of it, or it was cleared. */
  | { readonly on: 'heard'; readonly utterance: number; readonly ms: number; readonly ended: boolean }
  /** Speech that was not heard yet is dropped. */
  | { readonly on: 'cleared' }
  /** The agent goes on after a pause: what the user has let be heard meanwhile does not interrupt it. */
  | { readonly on: 'resumed' }
  | { readonly on: 'state'; readonly state: string }
  | { readonly on: 'text'; readonly text: TranscriptText }
  /** A message that other clients get on their data channel (docs/contract/platform.md 6.9). */
  | { readonly on: 'message'; readonly message: PlainObject };

/** The client's side. Nothing is called after `close`. */
export interface SocketLink {
  /** Charged for the user's audio that waits. */
  readonly memory: MemoryShare;
  /** The agent's voice, in pieces of 20 ms. `utterance`: undefined for what follows speech: silence, or a soft end. */
  speak(audio: Uint8Array, utterance: number | undefined): void;
  told(news: CallNews): void;
  /** Called once, when the call has ended. */
  close(): void;
}

/** Events that the client causes, as the conversation takes them. */
export type ClientWish = Extract<
  CallEvent,
  { readonly kind: 'item' | 'answer' | 'instructions' | 'amended' | 'heard' }
>;

export interface SocketCall {
  /**
   * The user's audio, which may come faster than anybody speaks, and is heard as fast as that; what is late, at once. Nothing of it is kept if more than `most`
   * bytes would wait (`full`), or if there is no memory for it (`exhausted`).
   */
  hear(audio: Uint8Array, most: number): 'taken' | 'full' | 'exhausted';
  /** So many bytes of the user's audio, which follow, have come since then, by the clock, before the call began. */
  kept(bytes: number, since: number): void;
  /** Drops audio that was not heard yet. */
  forget(): void;
  /** A message of the client, as others send it on their data channel. */
  message(message: object): void;
  wish(wish: ClientWish): void;
  /** Whether the client says itself when the user's turn is over (`release`). */
  manual(is: boolean): void;
  /** The user's turn is over with the audio so far. `isAnswered`: also if nothing was said in it. */
  release(isAnswered: boolean): void;
  /** The client's connection broke off: it may come back. */
  away(): void;
  /** The client is back. */
  back(): void;
  /** The client has closed its socket. */
  hungUp(): void;
  /** The socket broke off. */
  broken(): void;
}

export interface SocketCallOptions {
  /** Of the agent's voice, and of the user's. */
  readonly format: LineFormat;
  readonly heard: LineFormat;
  /** What its client has changed of the agent before it begins. */
  readonly revised: (plan: SessionPlan) => SessionPlan;
  /** The connection that carries its audio, if that is not the socket. */
  readonly line?: OfferedLine | undefined;
  /** A session whose process has died, taken over; absent: one that waits for its call. */
  readonly resumed?: RunningSession | undefined;
}

/** A session whose client offers its connection. */
export interface OfferedSession {
  readonly sessionId: string;
  readonly workspaceId: string;
  readonly record: boolean;
}

/** A further connection with the events of a session: somebody who watches it, or its client, which comes back. */
export const FURTHER_CONNECTIONS = ['watch', 'return'] as const;
export type FurtherConnection = (typeof FURTHER_CONNECTIONS)[number];

/** Whose events are wanted: a session of that workspace, and of that agent if one is given. */
export interface EventsOf {
  readonly id: string;
  readonly workspaceId: string;
  readonly agentId?: string | undefined;
}

/** Connects an open connection with a session. Undefined if the session is not there. */
export type WayToCall = (link: SignalLink) => SignalEnd | undefined;

export interface SocketCalls {
  /** Whether a call may begin here. Errors: `draining`, `overloaded`. */
  checkRoom(): void;
  /** Answers a client's offer. The line takes a place until it ends. Errors: `draining`, `overloaded`. */
  offered(session: OfferedSession, offer: ConnectionOffer, channel: ChannelEvents): OfferedLine;
  /** Ends the line of a session whose call has not begun. False if it is not here. */
  leave(sessionId: string, workspaceId: string): boolean;
  /** Begins the call of a session that waits for it. Errors: `overloaded`, `invalid_key`, 429. */
  begin(sessionId: string, options: SocketCallOptions, link: SocketLink): Promise<SocketCall>;
  /** Takes over a session whose process has died; undefined if its process lives, or it has ended. Errors: `draining`, `overloaded`. */
  takeOver(sessionId: string): Promise<RunningSession | undefined>;
  /** Gives up a session that was taken over, and whose call has not begun. */
  giveUp(sessionId: string): Promise<void>;
  /** Lets further connections of a session in, in whatever process they arrive, until the result is called. */
  admit(
    session: EventsOf,
    enter: (as: FurtherConnection, link: SignalLink) => SignalEnd | undefined,
  ): () => void;
  /** The way to a session, here or in the process that has its call; undefined if none is known. Errors: `transport_failed`. */
  wayTo(session: EventsOf, as: FurtherConnection): Promise<WayToCall | undefined>;
  /** Whether another process may have a session of which none is known yet. */
  readonly hasPeers: boolean;
}

/** The calls of this process. Errors: `conflict` where another server carries calls. */
export function carriedHere(calls: SocketCalls | undefined): SocketCalls {
  if (calls) return calls;
  const message =
    'Agents are reached here only where the gateway carries calls itself, and LIVEKIT_URL has a LiveKit server carry them: ' +
    'leave it unset, or let clients join by POST /v1/agent/sessions';
  throw new ServiceError('conflict', { message });
}
