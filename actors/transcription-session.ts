/**
 * One socket of protocol B's realtime transcription (protocol-b.md section 5; decisions.md "Protocol B"). Audio
 * does not come by here: the host keeps it, and a commit carries what the host took out of its buffer.
 *
 * Invariants:
 * - every commit and every refused commit has exactly one answer, in the order in which they came, unless the
 *   session ends before;
 * - one job at a time, a commit's transcription or a guess; a commit cancels a guess and never waits for it;
 * - what a job says after it was cancelled or another has begun changes nothing: no guess is told once the audio
 *   it was made of has been committed;
 * - an error that closes cancels what runs, is told, and is followed by one `close` and nothing else.
 */
import { assign, emit, enqueueActions, setup } from 'xstate';
import type { CloseReason } from '../contracts/close-codes.js';
import { LIMITS } from '../contracts/limits.js';
import type { Transcript } from '../contracts/ports/speech.js';

/** What the client is told, and how the session ends where it does. */
export interface SessionFault {
  /** The protocol's name of the error. */
  readonly type: string;
  readonly message: string;
  readonly close?: CloseReason;
}

/** Audio that a commit took out of the buffer, oldest first. */
export type CommittedAudio = readonly Uint8Array[];

type Waiting = { readonly audio: CommittedAudio } | { readonly fault: SessionFault };

export type SessionEvent =
  /** So much new audio waits that a guess at it is due. */
  | { readonly type: 'audio' }
  | { readonly type: 'commit'; readonly audio: CommittedAudio }
  /** A commit that cannot be done; the session goes on. */
  | { readonly type: 'refusal'; readonly fault: SessionFault }
  | { readonly type: 'heard'; readonly job: number; readonly transcript: Transcript }
  | { readonly type: 'failed'; readonly job: number; readonly fault: SessionFault }
  | { readonly type: 'guessed'; readonly job: number; readonly text: string }
  | { readonly type: 'notGuessed'; readonly job: number }
  /** A frame that cannot be taken: told at once. */
  | { readonly type: 'fault'; readonly fault: SessionFault }
  | { readonly type: 'gone' };

export type SessionEffect =
  | { readonly type: 'transcribe'; readonly job: number; readonly audio: CommittedAudio }
  | { readonly type: 'guess'; readonly job: number }
  /** What runs is to be stopped. */
  | { readonly type: 'cancel' }
  | { readonly type: 'partial'; readonly text: string }
  | { readonly type: 'committed'; readonly transcript: Transcript }
  | { readonly type: 'error'; readonly fault: SessionFault }
  | { readonly type: 'close'; readonly reason: CloseReason };

interface Context {
  /** The number of the last job. */
  readonly job: number;
  /** Commits that came while another is transcribed, oldest first. */
  readonly waiting: readonly Waiting[];
}

const TIME_LIMIT: SessionFault = {
  type: 'session_time_limit_exceeded',
  message: `The session has reached its limit of ${LIMITS.socket.connectionMs / 1000} seconds`,
  close: 'policy',
};

const parts = setup({
  types: {} as { context: Context; events: SessionEvent; emitted: SessionEffect },
  delays: { sessionLimit: LIMITS.socket.connectionMs },
  guards: {
    isCurrent: ({ context, event }) => 'job' in event && event.job === context.job,
    isFatal: (_, { close }: SessionFault) => close !== undefined,
    isCommitNext: ({ context }) => context.waiting[0] !== undefined && 'audio' in context.waiting[0],
  },
  actions: {
    count: assign({ job: ({ context }) => context.job + 1 }),
    transcribe: emit(({ context }, audio: CommittedAudio) => ({
      type: 'transcribe' as const,
      job: context.job,
      audio,
    })),
    guess: emit(({ context }) => ({ type: 'guess' as const, job: context.job })),
    cancel: emit({ type: 'cancel' }),
    tellPartial: emit((_, text: string) => ({ type: 'partial' as const, text })),
    tellCommitted: emit((_, transcript: Transcript) => ({ type: 'committed' as const, transcript })),
    tellError: emit((_, fault: SessionFault) => ({ type: 'error' as const, fault })),
    endWith: enqueueActions(({ enqueue }, fault: SessionFault) => {
      enqueue.emit({ type: 'error', fault });
      enqueue.emit({ type: 'close', reason: fault.close ?? 'internal' });
    }),
    wait: assign({
      waiting: ({ context }, waiting: Waiting) => [...context.waiting, waiting],
    }),
    /** Those that are refused and have no commit before them any more. */
    tellRefusals: enqueueActions(({ context, enqueue }) => {
      const commit = context.waiting.findIndex((waiting) => 'audio' in waiting);
      const refused = commit < 0 ? context.waiting : context.waiting.slice(0, commit);
      for (const waiting of refused) if ('fault' in waiting) enqueue.emit({ type: 'error', ...waiting });
      enqueue.assign({ waiting: context.waiting.slice(refused.length) });
    }),
    transcribeNext: enqueueActions(({ context, enqueue }) => {
      const [next, ...waiting] = context.waiting;
      if (!next || !('audio' in next)) return;
      const job = context.job + 1;
      enqueue.assign({ job, waiting });
      enqueue.emit({ type: 'transcribe', job, ...next });
    }),
  },
});

export const transcriptionSession = parts.createMachine({
  id: 'session',
  context: { job: 0, waiting: [] },
  initial: 'open',
  states: {
    open: {
      initial: 'listening',
      after: {
        sessionLimit: {
          target: 'closed',
          actions: ['cancel', { type: 'endWith', params: TIME_LIMIT }],
        },
      },
      on: {
        fault: [
          {
            guard: { type: 'isFatal', params: ({ event }) => event.fault },
            target: 'closed',
            actions: ['cancel', { type: 'endWith', params: ({ event }) => event.fault }],
          },
          { actions: { type: 'tellError', params: ({ event }) => event.fault } },
        ],
        gone: { target: 'closed', actions: 'cancel' },
      },
      states: {
        /** No commit is unanswered. */
        listening: {
          initial: 'idle',
          on: {
            commit: {
              target: 'transcribing',
              actions: ['count', { type: 'transcribe', params: ({ event }) => event.audio }],
            },
            refusal: { actions: { type: 'tellError', params: ({ event }) => event.fault } },
          },
          states: {
            idle: { on: { audio: { target: 'guessing', actions: ['count', 'guess'] } } },
            guessing: {
              on: {
                guessed: {
                  guard: 'isCurrent',
                  target: 'idle',
                  actions: { type: 'tellPartial', params: ({ event }) => event.text },
                },
                notGuessed: { guard: 'isCurrent', target: 'idle' },
                commit: {
                  target: '#session.open.transcribing',
                  actions: ['cancel', 'count', { type: 'transcribe', params: ({ event }) => event.audio }],
                },
              },
            },
          },
        },
        transcribing: {
          on: {
            commit: { actions: { type: 'wait', params: ({ event }) => ({ audio: event.audio }) } },
            refusal: { actions: { type: 'wait', params: ({ event }) => ({ fault: event.fault }) } },
            heard: {
              guard: 'isCurrent',
              target: 'answered',
              actions: { type: 'tellCommitted', params: ({ event }) => event.transcript },
            },
            failed: [
              {
                guard: ({ context, event }) => event.job === context.job && event.fault.close !== undefined,
                target: '#session.closed',
                actions: { type: 'endWith', params: ({ event }) => event.fault },
              },
              {
                guard: 'isCurrent',
                target: 'answered',
                actions: { type: 'tellError', params: ({ event }) => event.fault },
              },
            ],
          },
        },
        answered: {
          entry: 'tellRefusals',
          always: [
            { guard: 'isCommitNext', target: 'transcribing', actions: 'transcribeNext' },
            { target: 'listening' },
          ],
        },
      },
    },
    closed: { type: 'final' },
  },
});
