/** Actions that follow each other wherever a job begins, or the call ends. */
import type { Cause, EndReason, Sentence } from './events.js';
import type { OverlapVerdict } from './turns/interruption.js';

export const ends = (reason: EndReason) =>
  ({ target: '#over', actions: ['flush', { type: 'end', params: reason }] }) as const;

export const says = (verdict: OverlapVerdict) => ({ type: 'says', params: verdict }) as const;

export const asks = (cause: Cause) =>
  [
    { type: 'count', params: cause },
    { type: 'reply', params: cause },
  ] as const;

/** Asks the model for an answer to a turn that may not have ended. */
export const DRAFT = [{ type: 'count', params: 'turn' }, 'draft'] as const;
/** In place of a draft that answers other words. */
export const REDRAFT = ['cancel', ...DRAFT] as const;

/** A job that says a fixed sentence. */
export const counts = (sentence: Sentence) => ({ type: 'count', params: sentence }) as const;

/** The failed job's excuse. */
export const EXCUSE = [{ type: 'excuse', params: undefined }] as const;
/** The last of too many failures. */
export const APOLOGISE = [{ type: 'excuse', params: 'apology' }] as const;
/** The recogniser has failed: what the user said is unknown. */
export const NOT_UNDERSTOOD = ['noteDeaf', 'message', { type: 'excuse', params: 'understood' }] as const;

/** Agreement while the agent spoke becomes a separate message without an answer. */
export const AGREE = ['closeTurn', 'noteUser', 'messageApart'] as const;

/** The user's words become a message and get their answer. */
export const ANSWER = ['noteUser', 'message', ...asks('turn')] as const;
/** A voice without words becomes a message, of which the agent asks. */
export const ASK_AGAIN = ['noteUnclear', 'message', ...asks('turn')] as const;
export const ANSWER_TYPED = ['closeTurn', 'noteUser', 'read', ...asks('turn')] as const;
