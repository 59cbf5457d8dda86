/** The events of a session, and the small emitter for them. */
import type { SessionError } from './errors.js';

export type Status = 'disconnected' | 'connecting' | 'connected' | 'reconnecting';
export type Mode = 'listening' | 'thinking' | 'speaking';

/** The gateway's reason, else this client's: `user_hangup` after `end()`, `agent_hangup` if the agent left or the room was closed, `connection_lost`. */
export type EndReason =
  | 'user_hangup'
  | 'agent_hangup'
  | 'conversation_timeout'
  | 'escalated'
  | 'connection_lost';

interface ToolCall {
  readonly callId: string;
  readonly toolName: string;
  /** `client`, `webhook`, `mcp`, `builtin`; an open set. */
  readonly source: string;
}

export interface SessionEvents {
  /** The agent has joined; it listens, or speaks already. */
  readonly connect: { readonly sessionId: string | undefined };
  /** Once, and only after `connect`. */
  readonly disconnect: { readonly reason: EndReason };
  readonly statusChange: { readonly status: Status };
  readonly modeChange: { readonly mode: Mode };
  /** Each replaces the one before of its segment; the last has `final`. Live for who listens when the session is connected. */
  readonly userTranscript: { readonly segmentId: string; readonly text: string; readonly final: boolean };
  /** `delta`: the text that has just been spoken. `text`: all of the segment so far. */
  readonly agentResponseDelta: {
    readonly segmentId: string;
    readonly delta: string;
    readonly text: string;
  };
  /** The agent's words of a segment, as far as they were heard. */
  readonly agentResponse: { readonly segmentId: string; readonly text: string };
  /** A finished line of the conversation, typed ones included. */
  readonly message: { readonly role: 'user' | 'agent'; readonly text: string };
  readonly toolCallStarted: ToolCall & { readonly input: string; readonly inputTruncated: boolean };
  readonly toolCallCompleted: ToolCall & { readonly output: string; readonly outputTruncated: boolean };
  readonly toolCallFailed: ToolCall & { readonly error: string };
  /** An answer of the agent has ended: its latency in ms, and where that went. */
  readonly turnCompleted: {
    /** Counts the turns of the session, from 1. */
    readonly number: number;
    /** The turn id of its items in the session's record. */
    readonly turnId: number;
    /** `turn`, `typed`, `opener` …; an open set. */
    readonly cause: string;
    /** From the end of the user's voice to the first audio; null if nothing was heard. */
    readonly latencyMs: number | null;
    /** Its parts by name (`silence`, `endpointing`, `model` …), which add up to it. */
    readonly latency: Readonly<Record<string, number>> | null;
    /** `words`, `command`, `hang_up` …, an open set; null if it was not interrupted. */
    readonly interruptedBy: string | null;
    /** Why the model's answer is incomplete: `length`, `content_filter`, `unfinished`, an open set; null if it is not. */
    readonly answerCut: string | null;
  };
  /** Something that this client sent had no effect: `too_long`, `rate_limited`, `on_hold`, an open set. */
  readonly messageDropped: { readonly event: string; readonly reason: string };
  /** The call was handed over: another agent speaks from now on. */
  readonly agentChange: { readonly agentId: string; readonly agentName: string };
  /** The user has changed the language of the call, and the agent speaks it from now on: ISO 639-1. */
  readonly languageChange: { readonly language: string };
  /** An error. A failed `start`, `setMuted`, `useMicrophone` or `useSpeaker` rejects with it as well. */
  readonly error: SessionError;
}

type Listener<Event> = (event: Event) => void;

export class Emitter<Events> {
  readonly #listeners = new Map<keyof Events, Set<Listener<never>>>();

  /** Returns a function that removes the listener. */
  on<Name extends keyof Events>(name: Name, listener: Listener<Events[Name]>): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  /** Whether anybody listens to it. */
  hears(name: keyof Events): boolean {
    return (this.#listeners.get(name)?.size ?? 0) > 0;
  }

  /** A listener that throws does not stop the others: its error is reported like any uncaught one. */
  emit<Name extends keyof Events>(name: Name, event: Events[Name]): void {
    for (const listener of [...(this.#listeners.get(name) ?? [])]) {
      try {
        (listener as Listener<Events[Name]>)(event);
      } catch (error) {
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
