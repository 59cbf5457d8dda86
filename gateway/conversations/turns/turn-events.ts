/** What the host of a conversation knows of its turns beside the events and effects of its machine. */
import type { AgentEffect, AgentEvent } from '../../../actors/agent/events.js';
import type { Turn, Usage } from '../../../contracts/turns.js';

export type TurnNote =
  /** The language model is asked for that job, gives its first token, has ended. */
  | { readonly type: 'modelAsked'; readonly job: number }
  | { readonly type: 'modelBegan'; readonly job: number }
  | { readonly type: 'modelEnded'; readonly job: number }
  /** So much of the job has left for the user; `ended`: it is over, `complete`: all of it. */
  | { readonly type: 'played'; readonly job: number; readonly ms: number; readonly complete: boolean }
  | {
      readonly type: 'toolStarted';
      readonly job: number;
      readonly callId: string;
      readonly toolName: string;
    }
  | { readonly type: 'toolEnded'; readonly callId: string; readonly failed: boolean }
  /** What a job has used; without one, what belongs to the next turn. */
  | { readonly type: 'used'; readonly job?: number; readonly usage: Partial<Usage> }
  /** Why the job fails. */
  | { readonly type: 'refused'; readonly job: number; readonly code: string };

export type TurnEvent = AgentEvent | AgentEffect | TurnNote;

/** Tells of a note, now. */
export type NoteTurn = (note: TurnNote) => void;

/**
 * Why a turn is told: it `began` to be heard, it is `over`, or one that is over is `changed`. The later tells all that the
 * earlier did.
 */
export type TurnPhase = 'began' | 'over' | 'changed';

export type TellTurn = (turn: Turn, phase: TurnPhase) => void;
