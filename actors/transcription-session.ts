/**
 * One socket of protocol B's realtime transcription (docs/contract/protocol-b.md 5; docs/contract/decisions.md "Protocol B"). Audio
 * does not come by here: the host keeps it, and is told when its uncommitted audio is committed and transcribed.
 *
 * Invariants:
 * - every commit and every refused commit has exactly one answer, in the order in which they came, unless the
 *   session ends before; one for which no place is left is refused at once, and keeps nothing;
 * - `transcribe` comes once for each `keep`, in the same order, unless the session ends before;
 * - one job at a time, a commit's transcription or a guess; a commit cancels a guess and never waits for it;
 * - what a job says after it was cancelled or another has begun changes nothing: no guess is told once the audio
 *   it was made of has been committed;
 * - an error that closes cancels what runs, is told, and is followed by one `close` and nothing else.
 */
import { assign, emit, enqueueActions, setup } from 'xstate';
import type { CloseReason } from '../contracts/close-codes.js';
import { LIMITS } from '../contracts/limits.js';
import type { Transcript } from '../contracts/ports/speech.js';

/** An error as the client is told it; `close`: it ends the session. */
export interface SessionFault {
  /** The protocol's name of the error. */
  readonly type: string;
  readonly message: string;
  readonly close?: CloseReason;
}

/** The transcript of a commit, whose times count from where its audio begins. */
export interface CommittedTranscript extends Transcript {
  /** Where that is in all audio of the session, in seconds. */
  readonly from: number;
}

export interface SessionInput {
  /** The answer to a commit when too many of them wait. */
  readonly tooMany: SessionFault;
}

/** A commit that was kept, or why one was refused. */
type Waiting = 'commit' | SessionFault;

export type SessionEvent =
  /** So much new audio waits that a guess at it is due. */
  | { readonly type: 'audio' }
  | { readonly type: 'commit' }
  /** A commit that cannot be done; the session goes on. */
  | { readonly type: 'refusal'; readonly fault: SessionFault }
  | { readonly type: 'transcript'; readonly job: number; readonly transcript: CommittedTranscript }
  | { readonly type: 'failed'; readonly job: number; readonly fault: SessionFault }
  | { readonly type: 'guessed'; readonly job: number; readonly text: string }
  | { readonly type: 'notGuessed'; readonly job: number }
  /** A frame that cannot be taken: told at once. */
  | { readonly type: 'fault'; readonly fault: SessionFault }
  | { readonly type: 'gone' };

export type SessionEffect =
  /** The uncommitted audio is committed: it is kept behind that of earlier commits. */
  | { readonly type: 'keep' }
  /** The oldest of what is kept. */
  | { readonly type: 'transcribe'; readonly job: number }
  | { readonly type: 'guess'; readonly job: number }
  /** The job that runs is to be stopped. */
  | { readonly type: 'cancel' }
  | { readonly type: 'partial'; readonly text: string }
  | { readonly type: 'committed'; readonly transcript: CommittedTranscript }
  | { readonly type: 'error'; readonly fault: SessionFault }
  /** `message` says why. */
  | { readonly type: 'close'; readonly reason: CloseReason; readonly message: string };

interface Context extends SessionInput {
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
  types: {} as { context: Context; input: SessionInput; events: SessionEvent; emitted: SessionEffect },
  delays: { sessionLimit: LIMITS.socket.connectionMs },
  guards: {
    isCurrent: ({ context, event }) => 'job' in event && event.job === context.job,
    isFatal: (_, { close }: SessionFault) => close !== undefined,
    isCommitNext: ({ context }) => context.waiting[0] === 'commit',
    isFull: ({ context }) => context.waiting.length >= LIMITS.realtimeTranscription.pendingCommits,
  },
  actions: {
    count: assign({ job: ({ context }) => context.job + 1 }),
    keep: emit({ type: 'keep' }),
    transcribe: emit(({ context }) => ({ type: 'transcribe' as const, job: context.job })),
    guess: emit(({ context }) => ({ type: 'guess' as const, job: context.job })),
    cancel: emit({ type: 'cancel' }),
    tellPartial: emit((_, text: string) => ({ type: 'partial' as const, text })),
    tellCommitted: emit((_, transcript: CommittedTranscript) => ({ type: 'committed' as const, transcript })),
    tellError: emit((_, fault: SessionFault) => ({ type: 'error' as const, fault })),
    tellTooMany: emit(({ context }) => ({ type: 'error' as const, fault: context.tooMany })),
    endWith: enqueueActions(({ enqueue }, fault: SessionFault) => {
      enqueue.emit({ type: 'error', fault });
      enqueue.emit({ type: 'close', reason: fault.close ?? 'internal', message: fault.message });
    }),
    wait: assign({
      waiting: ({ context }, waiting: Waiting) => [...context.waiting, waiting],
    }),
    /** Those that are refused and have no commit before them any more. */
    tellRefusals: enqueueActions(({ context, enqueue }) => {
      const commit = context.waiting.indexOf('commit');
      const refused = commit < 0 ? context.waiting : context.waiting.slice(0, commit);
      for (const fault of refused) if (fault !== 'commit') enqueue.emit({ type: 'error', fault });
      enqueue.assign({ waiting: context.waiting.slice(refused.length) });
    }),
    takeNext: assign({ waiting: ({ context }) => context.waiting.slice(1) }),
  },
});

export const transcriptionSession = parts.createMachine({
  id: 'session',
  context: ({ input }) => ({ ...input, job: 0, waiting: [] }),
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
              actions: ['keep', 'count', 'transcribe'],
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
                  actions: ['cancel', 'keep', 'count', 'transcribe'],
                },
              },
            },
          },
        },
        transcribing: {
          on: {
            commit: [
              { guard: 'isFull', actions: 'tellTooMany' },
              { actions: ['keep', { type: 'wait', params: 'commit' }] },
            ],
            refusal: [
              { guard: 'isFull', actions: 'tellTooMany' },
              { actions: { type: 'wait', params: ({ event }) => event.fault } },
            ],
            transcript: {
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
            { guard: 'isCommitNext', target: 'transcribing', actions: ['takeNext', 'count', 'transcribe'] },
            { target: 'listening' },
          ],
        },
      },
    },
    closed: { type: 'final' },
  },
});
