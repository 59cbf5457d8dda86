/** The events of a conversation's machine, and its effects (agent.ts). */
export type EndReason =
  'user_hangup' | 'agent_hangup' | 'conversation_timeout' | 'ended_by_api' | 'gone' | 'error';

/** Why the language model is asked. */
export type Cause = 'turn' | 'opener' | 'reengage';

export type AgentEvent =
  | { readonly type: 'connected' }
  | { readonly type: 'disconnected' }
  /** The user hangs up. */
  | { readonly type: 'left' }
  | { readonly type: 'end'; readonly reason: EndReason }
  | { readonly type: 'voice'; readonly active: boolean }
  /** The turn's text so far. `span` is the number of its last stretch of voice; `final`: to their end. */
  | { readonly type: 'transcript'; readonly span: number; readonly text: string; readonly final: boolean }
  /** A typed message; `aloud`: whether the reply is spoken. */
  | { readonly type: 'typed'; readonly text: string; readonly aloud: boolean }
  | { readonly type: 'activity' }
  | { readonly type: 'interrupt' }
  /** The first audio of a job is on its way to the user. */
  | { readonly type: 'audible'; readonly job: number }
  /** The model has called the hang-up tool: the call ends with this job. */
  | { readonly type: 'hangUp'; readonly job: number }
  /** Everything of a job has been heard. */
  | { readonly type: 'ended'; readonly job: number }
  | { readonly type: 'failed'; readonly job: number }
  /** Ours: what the user says is to be weighed against what the agent does. */
  | { readonly type: 'overlap'; readonly finished: boolean }
  /** Ours: the user's turn is over. */
  | { readonly type: 'turnOver' }
  /** Ours: the user talks over the agent for so long that it falls silent, before any word is known. */
  | { readonly type: 'bargeIn' }
  /** Ours: what the user said takes nothing from the agent. */
  | { readonly type: 'goOn' };

export type AgentEffect =
  /** A stretch of the user's voice begins, with this number: its audio is kept to be transcribed. */
  | { readonly type: 'beginSpan'; readonly span: number }
  /** Transcribe all of the turn so far to its end, and say it with this span. */
  | { readonly type: 'transcribe'; readonly span: number }
  /** The turn is over: the next voice begins another. */
  | { readonly type: 'closeTurn' }
  /** The user's words are part of the conversation. */
  | {
      readonly type: 'message';
      readonly text: string;
      readonly typed?: true;
      /** The agent finishes what it says first: its answer is asked for by a `reply` of its own. */
      readonly later?: true;
    }
  | { readonly type: 'reply'; readonly job: number; readonly cause: Cause; readonly aloud: boolean }
  | { readonly type: 'say'; readonly job: number; readonly text: string }
  /** Say that the question could not be answered. */
  | { readonly type: 'excuse'; readonly job: number; readonly aloud: boolean }
  /** Stop thinking and speaking at once; the record keeps what was heard. */
  | { readonly type: 'cancel'; readonly job: number }
  /** The playout stands still, and goes on from there. */
  | { readonly type: 'pause' }
  | { readonly type: 'resume' }
  | { readonly type: 'state'; readonly state: 'listening' | 'thinking' | 'speaking' }
  | { readonly type: 'end'; readonly reason: EndReason };
