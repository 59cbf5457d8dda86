/**
 * One context of protocol B's speech sockets (docs/contract/protocol-b.md 3): the only one of a `stream-input` socket, one
 * of several on `multi-stream-input`. Text and audio bypass this machine: text goes from the buffer into the job's feed,
 * audio from the job to the socket.
 *
 * Invariants:
 * - at most one `begin`, so that all audio of a context is one stream of its codec;
 * - each context ends with exactly one `finish` or `refuse`, or with none if the socket closes first;
 * - `finish` follows the end of the job, if one began; a running job is cancelled before a `refuse`, and before the
 *   `finish` of a context that is stopped;
 * - `idle` is emitted once per silence of the client, and never after `end`; nothing follows the context's end.
 */
import { emit, setup } from 'xstate';

/** A fault on these sockets as the client is told it; `code` is the close code. */
export interface SocketFault {
  readonly message: string;
  readonly error: string;
  readonly code: number;
  /** The option at fault, in the client's spelling. */
  readonly param?: string | undefined;
}

export interface StreamInput {
  readonly inactivityMs: number;
  /** Why the context may not speak, if that is known before there is text (rule 5). */
  readonly refusal?: SocketFault | undefined;
}

export type StreamInputEvent =
  /** The client has sent a message. */
  | { readonly type: 'message' }
  /** The waiting text is to be spoken; `fed`: whether the feed was given any. */
  | { readonly type: 'speak'; readonly fed: boolean }
  /** No more text will come. */
  | { readonly type: 'end' }
  /** The client wants to hear no more of it. */
  | { readonly type: 'stop' }
  | { readonly type: 'done' }
  | { readonly type: 'failed'; readonly fault: SocketFault }
  | { readonly type: 'gone' };

export type StreamInputEffect =
  | { readonly type: 'begin' }
  | { readonly type: 'endText' }
  | { readonly type: 'cancel' }
  /** The client has been silent for too long. */
  | { readonly type: 'idle' }
  | { readonly type: 'finish' }
  | { readonly type: 'refuse'; readonly fault: SocketFault };

const parts = setup({
  types: {} as {
    context: StreamInput;
    input: StreamInput;
    events: StreamInputEvent;
    emitted: StreamInputEffect;
  },
  delays: { silence: ({ context }) => context.inactivityMs },
  guards: {
    isRefused: ({ context }) => context.refusal !== undefined,
    isFed: (_, { fed }: { fed: boolean }) => fed,
  },
  actions: {
    begin: emit({ type: 'begin' }),
    endText: emit({ type: 'endText' }),
    cancel: emit({ type: 'cancel' }),
    idle: emit({ type: 'idle' }),
    finish: emit({ type: 'finish' }),
    refuse: emit((_, { fault }: { fault: SocketFault | undefined }) => ({
      type: 'refuse' as const,
      fault: fault as SocketFault,
    })),
  },
});

/** A context that may not speak is refused only at a flush, or at its end, which implies one. */
const REFUSED = {
  guard: 'isRefused',
  target: '#context.closed',
  actions: {
    type: 'refuse',
    params: ({ context }: { context: StreamInput }) => ({ fault: context.refusal }),
  },
} as const;

export const streamInput = parts.createMachine({
  id: 'context',
  context: ({ input }) => input,
  initial: 'silent',
  states: {
    silent: {
      after: { silence: { actions: 'idle' } },
      on: {
        message: { target: 'silent', reenter: true },
        speak: [
          REFUSED,
          {
            guard: { type: 'isFed', params: ({ event }) => event },
            target: 'speaking.open',
            actions: 'begin',
          },
        ],
        end: [REFUSED, { target: 'closed', actions: 'finish' }],
        stop: { target: 'closed', actions: 'finish' },
        failed: { target: 'closed', actions: { type: 'refuse', params: ({ event }) => event } },
        gone: 'closed',
      },
    },
    /** The job runs. */
    speaking: {
      initial: 'open',
      on: {
        done: { target: 'closed', actions: 'finish' },
        stop: { target: 'closed', actions: ['cancel', 'finish'] },
        failed: {
          target: 'closed',
          actions: ['cancel', { type: 'refuse', params: ({ event }) => event }],
        },
        gone: { target: 'closed', actions: 'cancel' },
      },
      states: {
        /** Its feed accepts text. */
        open: {
          after: { silence: { actions: 'idle' } },
          on: {
            message: { target: 'open', reenter: true },
            end: { target: 'draining', actions: 'endText' },
          },
        },
        draining: {},
      },
    },
    closed: { type: 'final' },
  },
});
