/**
 * One socket of `/v1/tts/live` (docs/contract/native.md 3; docs/contract/decisions.md "Native"). Text and audio bypass
 * this machine: text goes directly into the job's feed, audio directly to the socket.
 *
 * Invariants:
 * - one job at a time; events of a job that was cancelled or replaced have no effect;
 * - each `begin` is followed by exactly one `finish`, or by none if the client leaves first;
 * - a job that is still running when its `finish` is due is cancelled first;
 * - a fault causes one `finish` with reason `error`, then one `close`; nothing follows a `close`.
 */
import { assign, emit, setup } from 'xstate';
import type { CloseReason } from '../contracts/close-codes.js';
import { LIMITS } from '../contracts/limits.js';
import type { SynthesisRequest } from '../contracts/ports/speech/speech.js';

/** Why a socket ends: the message for the client, and the reason of the close. */
export interface LiveFault {
  readonly message: string;
  readonly close: CloseReason;
}

export type LiveEvent =
  | { readonly type: 'start'; readonly request: SynthesisRequest }
  /** Text or a flush that arrives while no feed accepts it. */
  | { readonly type: 'text' }
  | { readonly type: 'flush' }
  | { readonly type: 'stop' }
  | { readonly type: 'done'; readonly job: number }
  | ({ readonly type: 'failed'; readonly job: number } & LiveFault)
  /** The client broke the protocol or a limit. */
  | ({ readonly type: 'fault' } & LiveFault)
  | { readonly type: 'gone' };

export type LiveEffect =
  | { readonly type: 'begin'; readonly job: number; readonly request: SynthesisRequest }
  | { readonly type: 'endText' }
  | { readonly type: 'cancel' }
  | { readonly type: 'finish'; readonly reason: 'stop' }
  | { readonly type: 'finish'; readonly reason: 'error'; readonly message: string }
  | { readonly type: 'close'; readonly reason: CloseReason };

interface Context {
  /** The number of the last job. */
  readonly job: number;
}

const NOT_STARTED = { message: 'The first event must be start', close: 'policy' } as const;
const STARTED = { message: 'start was sent while a synthesis runs', close: 'policy' } as const;
const STOPPED = { message: 'text was sent after stop', close: 'policy' } as const;

const parts = setup({
  types: {} as { context: Context; events: LiveEvent; emitted: LiveEffect },
  delays: { rest: LIMITS.native.liveRestMs },
  guards: {
    isCurrent: ({ context, event }) => 'job' in event && event.job === context.job,
  },
  actions: {
    count: assign({ job: ({ context }) => context.job + 1 }),
    begin: emit(({ context }, { request }: { request: SynthesisRequest }) => ({
      type: 'begin' as const,
      job: context.job,
      request,
    })),
    endText: emit({ type: 'endText' }),
    cancel: emit({ type: 'cancel' }),
    finish: emit({ type: 'finish', reason: 'stop' }),
    refuse: emit((_, { message }: LiveFault) => ({
      type: 'finish' as const,
      reason: 'error' as const,
      message,
    })),
    close: emit((_, reason: CloseReason) => ({ type: 'close' as const, reason })),
  },
});

/** Reports the fault, and closes. */
const refuses = (fault: LiveFault) => ({
  target: '#live.closed',
  actions: [
    { type: 'refuse', params: fault },
    { type: 'close', params: fault.close },
  ] as const,
});

/** The same while a job runs. */
const breaksOff = (fault: LiveFault) => {
  const { target, actions } = refuses(fault);
  return { target, actions: ['cancel', ...actions] as const };
};

export const nativeLive = parts.createMachine({
  id: 'live',
  context: { job: 0 },
  initial: 'waiting',
  on: {
    fault: {
      target: '#live.closed',
      actions: [
        { type: 'refuse', params: ({ event }) => event },
        { type: 'close', params: ({ event }) => event.close },
      ],
    },
    gone: '#live.closed',
  },
  states: {
    /** No job: before the first `start`, and after a `finish`. */
    waiting: {
      initial: 'unstarted',
      on: {
        start: {
          target: 'running',
          actions: ['count', { type: 'begin', params: ({ event }) => event }],
        },
        text: refuses(NOT_STARTED),
        flush: refuses(NOT_STARTED),
      },
      states: {
        unstarted: { on: { stop: refuses(NOT_STARTED) } },
        /** A job has ended; the client may start another, and no job is left to stop. */
        resting: {
          after: { rest: { target: '#live.closed', actions: { type: 'close', params: 'normal' } } },
          on: { stop: { target: '#live.closed', actions: { type: 'close', params: 'normal' } } },
        },
      },
    },
    running: {
      initial: 'open',
      on: {
        start: breaksOff(STARTED),
        done: { guard: 'isCurrent', target: 'waiting.resting', actions: 'finish' },
        failed: {
          guard: 'isCurrent',
          target: '#live.closed',
          actions: [
            { type: 'refuse', params: ({ event }) => event },
            { type: 'close', params: ({ event }) => event.close },
          ],
        },
        fault: {
          target: '#live.closed',
          actions: [
            'cancel',
            { type: 'refuse', params: ({ event }) => event },
            { type: 'close', params: ({ event }) => event.close },
          ],
        },
        gone: { target: '#live.closed', actions: 'cancel' },
      },
      states: {
        /** The job's feed accepts text and flushes. */
        open: { on: { stop: { target: 'draining', actions: 'endText' } } },
        /** No more text may come; the waiting text is spoken to its end. */
        draining: { on: { text: breaksOff(STOPPED) } },
      },
    },
    closed: { type: 'final' },
  },
});
