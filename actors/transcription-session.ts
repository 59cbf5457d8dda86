/**
 * One socket of protocol B's realtime transcription (docs/contract/protocol-b.md 5; docs/contract/decisions.md "Protocol B"). Audio
 * bypasses this machine: the host keeps it, and is told when to commit and when to transcribe it.
 *
 * Invariants:
 * - every commit, refused or not, gets exactly one answer, in the order of the commits, unless the session ends before;
 *   a commit beyond the limit of waiting ones is refused at once, and keeps no audio;
 * - `transcribe` comes once for each `keep`, in the same order, unless the session ends before;
 * - one job at a time: the transcription of a commit, or an interim one of uncommitted audio; a commit
 *   cancels an interim one and never waits for it;
 * - events of a job that was cancelled or replaced have no effect: no partial transcript is sent once its audio was committed;
 * - an error that ends the session cancels the running job, is sent, and is followed by one `close` and nothing else.
 */
import { assign, emit, enqueueActions, setup } from 'xstate';
import type { CloseReason } from '../contracts/close-codes.js';
import { LIMITS } from '../contracts/limits.js';
import type { Transcript } from '../contracts/ports/speech/speech.js';

/** An error as the client is told it; with `close`, it ends the session. */
export interface SessionFault {
  /** Name of the error in the protocol. */
  readonly type: string;
  readonly message: string;
  readonly close?: CloseReason;
}

/** An error after which the session continues. */
export interface PassingFault extends SessionFault {
  readonly close?: never;
}

/** The transcript of a commit; its times count from the beginning of the commit's audio. */
export interface CommittedTranscript extends Transcript {
  /** Offset of that beginning in the session's audio, in seconds. */
  readonly from: number;
}

export interface SessionInput {
  /** The answer to a commit if too many are waiting. */
  readonly tooMany: PassingFault;
}

/** A commit whose audio was kept, or the reason why one was refused. */
type Waiting = 'commit' | PassingFault;

export type SessionEvent =
  /** Enough new audio has arrived for an interim transcription. */
  | { readonly type: 'audio' }
  | { readonly type: 'commit' }
  /** A commit that cannot be carried out. */
  | { readonly type: 'refusal'; readonly fault: PassingFault }
  | { readonly type: 'transcript'; readonly job: number; readonly transcript: CommittedTranscript }
  | { readonly type: 'failed'; readonly job: number; readonly fault: SessionFault }
  | { readonly type: 'interimText'; readonly job: number; readonly text: string }
  | { readonly type: 'noInterim'; readonly job: number }
  /** A faulty frame; the error is sent at once. */
  | { readonly type: 'fault'; readonly fault: SessionFault }
  | { readonly type: 'gone' };

export type TranscriptionEffect =
  /** Commit the uncommitted audio: keep it after that of earlier commits. */
  | { readonly type: 'keep' }
  /** Transcribe the oldest kept audio. */
  | { readonly type: 'transcribe'; readonly job: number }
  | { readonly type: 'transcribeInterim'; readonly job: number }
  /** Stop the running job. */
  | { readonly type: 'cancel' }
  | { readonly type: 'partial'; readonly text: string }
  | { readonly type: 'committed'; readonly transcript: CommittedTranscript }
  | { readonly type: 'error'; readonly fault: SessionFault }
  /** `message`: the reason. */
  | { readonly type: 'close'; readonly reason: CloseReason; readonly message: string };

interface Context extends SessionInput {
  /** The number of the last job. */
  readonly job: number;
  /** Commits that arrived while another is being transcribed, oldest first. */
  readonly waiting: readonly Waiting[];
}

const parts = setup({
  types: {} as { context: Context; input: SessionInput; events: SessionEvent; emitted: TranscriptionEffect },
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
    transcribeInterim: emit(({ context }) => ({ type: 'transcribeInterim' as const, job: context.job })),
    cancel: emit({ type: 'cancel' }),
    tellPartial: emit((_, text: string) => ({ type: 'partial' as const, text })),
    tellCommitted: emit((_, transcript: CommittedTranscript) => ({ type: 'committed' as const, transcript })),
    /** Sends an error, and closes the socket if the error ends the session. */
    tellError: enqueueActions(({ enqueue }, fault: SessionFault) => {
      const { close, message } = fault;
      enqueue.emit({ type: 'error', fault });
      if (close !== undefined) enqueue.emit({ type: 'close', reason: close, message });
    }),
    tellTooMany: emit(({ context }) => ({ type: 'error' as const, fault: context.tooMany })),
    wait: assign({
      waiting: ({ context }, waiting: Waiting) => [...context.waiting, waiting],
    }),
    /** Answers the refused commits that no longer have a kept commit before them. */
    tellRefusals: enqueueActions(({ context, enqueue }) => {
      let answered = 0;
      for (const fault of context.waiting) {
        if (fault === 'commit') break;
        enqueue.emit({ type: 'error', fault });
        answered += 1;
      }
      enqueue.assign({ waiting: context.waiting.slice(answered) });
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
      on: {
        fault: [
          {
            guard: { type: 'isFatal', params: ({ event }) => event.fault },
            target: 'closed',
            actions: ['cancel', { type: 'tellError', params: ({ event }) => event.fault }],
          },
          { actions: { type: 'tellError', params: ({ event }) => event.fault } },
        ],
        gone: { target: 'closed', actions: 'cancel' },
      },
      states: {
        /** All commits have been answered. */
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
            idle: { on: { audio: { target: 'interim', actions: ['count', 'transcribeInterim'] } } },
            interim: {
              on: {
                interimText: {
                  guard: 'isCurrent',
                  target: 'idle',
                  actions: { type: 'tellPartial', params: ({ event }) => event.text },
                },
                noInterim: { guard: 'isCurrent', target: 'idle' },
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
                actions: { type: 'tellError', params: ({ event }) => event.fault },
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
