/** An agent's settings: the parts of a published configuration that its machine reads (spec `conversation`). */
import type { Detector } from '../../contracts/ports/speech/turns.js';

export type Eagerness = 'relaxed' | 'balanced' | 'eager';
export type Sensitivity = 'low' | 'balanced' | 'high';

export type Opening =
  | { readonly mode: 'off' }
  | { readonly mode: 'fixed'; readonly text: string }
  /** The language model makes the opening. */
  | { readonly mode: 'prompt' };

export interface AgentSettings {
  readonly opening: Opening;
  readonly eagerness: Eagerness;
  /** Whether an answer is drafted before the turn has ended. */
  readonly drafts: boolean;
  /** Decides that the user's turn has ended. */
  readonly detector: Detector;
  readonly interruptible: boolean;
  readonly sensitivity: Sensitivity;
  /** Whether the agent breaks a silence. */
  readonly reengage: boolean;
  /** The call ends once both sides have been silent for so long; undefined: not because of that. */
  readonly hangUpAfterMs: number | undefined;
  /** Whether the agent says goodbye before that. */
  readonly saysGoodbye: boolean;
  /** Whether it may hang up. */
  readonly hangsUp: boolean;
  /** Whether it says a filler while tools take long. */
  readonly fills: boolean;
  readonly maxDurationMs: number;
  /** The user's language: chooses the word lists of endpointing. */
  readonly language: string;
}
