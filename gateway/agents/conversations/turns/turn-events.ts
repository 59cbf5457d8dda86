/** Notes of a conversation's host about its turns, besides the events and effects of its machine. */
import type { AgentEffect, AgentEvent } from '../../../../actors/agent/events.js';
import type { AnswerCut } from '../../../../contracts/ports/chat.js';
import type { ToldPassage, Turn, Usage } from '../../../../contracts/sessions/turns.js';

export type TurnNote =
  /** The language model is asked for that job, gives its first token, or has ended. */
  | { readonly type: 'modelAsked'; readonly job: number }
  /** The language of the call, of which the user has just said something. */
  | { readonly type: 'spokenIn'; readonly language: string }
  | { readonly type: 'modelBegan'; readonly job: number }
  | { readonly type: 'modelEnded'; readonly job: number; readonly cut?: AnswerCut | undefined }
  /** `ms` of the job have left for the user; `complete`: that is all of it. */
  | { readonly type: 'played'; readonly job: number; readonly ms: number; readonly complete: boolean }
  | {
      readonly type: 'toolStarted';
      readonly job: number;
      readonly callId: string;
      readonly toolName: string;
    }
  | { readonly type: 'toolEnded'; readonly callId: string; readonly failed: boolean }
  /** Usage of a job; without a job, usage that belongs to the next turn. */
  | { readonly type: 'used'; readonly job?: number; readonly usage: Partial<Usage> }
  /** Why the job fails. */
  /** The model is told these passages. */
  | { readonly type: 'knew'; readonly job: number; readonly passages: readonly ToldPassage[] }
  | { readonly type: 'refused'; readonly job: number; readonly code: string };

export type TurnEvent = AgentEvent | AgentEffect | TurnNote;

/** Takes a note of the present moment. */
export type NoteTurn = (note: TurnNote) => void;

/**
 * Why a turn is reported: it `began` to be heard, it is `over`, or it has `changed` after that. Each report contains all
 * of the earlier one.
 */
export type TurnPhase = 'began' | 'over' | 'changed';

export type TellTurn = (turn: Turn, phase: TurnPhase) => void;
