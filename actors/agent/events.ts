/** The events of a conversation's machine, and its effects (agent.ts). */
import type { AgentSettings } from './settings.js';
import type { EndOfTurn } from './turns/detectors.js';

export type EndReason =
  | 'user_hangup'
  | 'agent_hangup'
  | 'conversation_timeout'
  | 'ended_by_api'
  | 'transferred'
  | 'gone'
  | 'error';

/** Why the language model is asked. */
export type Cause =
  | 'turn'
  | 'opener'
  | 'reengage'
  | 'farewell'
  | 'news'
  | 'handover'
  /** The agent was broken off by what turned out to be no words. */
  | 'continue';

/**
 * What broke a job off, for the record of its turn. `voice`: of a draft, which a sound throws away; `message`: a typed one;
 * `client`: its `interrupt`; `timeout`: the longest duration.
 */
export type BrokenOffBy = 'words' | 'command' | 'message' | 'client' | 'voice' | 'timeout';

export type AgentEvent =
  | { readonly type: 'connected' }
  | { readonly type: 'disconnected' }
  /** The user hangs up. */
  | { readonly type: 'left' }
  | { readonly type: 'end'; readonly reason: EndReason }
  /** `at`: milliseconds of the host's clock, by which pauses are measured. */
  | { readonly type: 'voice'; readonly active: boolean; readonly at: number; readonly silentMs?: number }
  /** The text of that stretch of voice so far; `final`: to its end, once a stretch. */
  | { readonly type: 'transcript'; readonly span: number; readonly text: string; readonly final: boolean }
  /**
   * Whether the turn is over, by how that stretch of voice sounded to its end: 0 to 1, undefined where nobody can tell.
   * Only of agents with such a detector.
   */
  | { readonly type: 'sounded'; readonly span: number; readonly probability: number | undefined }
  /** A typed message; `aloud`: whether the reply is spoken. */
  | { readonly type: 'typed'; readonly text: string; readonly aloud: boolean }
  /** The agent's own words have come back through the user's microphone. */
  | { readonly type: 'echo' }
  | { readonly type: 'activity' }
  | { readonly type: 'interrupt' }
  /** The first audio of a job is on its way to the user. */
  | { readonly type: 'audible'; readonly job: number }
  /** The last of the job's speech, `TIMES.endingMs`, is being heard. */
  | { readonly type: 'ending'; readonly job: number }
  /** The job has called tools: what it answers cannot be taken back any more. */
  | { readonly type: 'acted'; readonly job: number }
  /** All tools that the job has called have answered. */
  | { readonly type: 'returned'; readonly job: number }
  /** A tool that ran beside the conversation has answered: the model is to be told. */
  | { readonly type: 'news' }
  /** The model is told of all that there is. */
  | { readonly type: 'informed' }
  /** The model has called the hang-up tool: the call ends with this job. */
  | { readonly type: 'hangUp'; readonly job: number }
  /** The model has handed the call over: with these settings another agent goes on, once the job has ended. */
  | { readonly type: 'handedOver'; readonly job: number; readonly settings: AgentSettings }
  /** Everything of a job has been heard. */
  | { readonly type: 'ended'; readonly job: number }
  | { readonly type: 'failed'; readonly job: number }
  /** After `lastWords`: the end of a sentence of the job has been heard. */
  | { readonly type: 'sentenceOver'; readonly job: number }
  /** Ours: what the user says is to be weighed against what the agent does. */
  | { readonly type: 'overlap'; readonly finished: boolean }
  /** Ours: the user's turn is over. */
  | { readonly type: 'turnOver' }
  /** Ours: the agent falls silent until more is known: the user talks over it for long, or says what interrupts. */
  | { readonly type: 'bargeIn' }
  /** Ours: what the user said takes nothing from the agent. */
  | { readonly type: 'goOn' }
  /** Ours: the answer has been heard for so long that the turn is not taken up again. */
  | { readonly type: 'heard' }
  /** Ours: the user has been told that the call is about to end. */
  | { readonly type: 'warned' };

export type AgentEffect =
  /** A stretch of the user's voice begins, with this number: its audio is kept to be transcribed. */
  | { readonly type: 'beginSpan'; readonly span: number }
  /**
   * Transcribe that stretch to its end: one final transcript with its number is owed. And listen whether the turn is
   * over: a `sounded` with its number is of use until the next stretch.
   */
  | { readonly type: 'transcribe'; readonly span: number }
  /** The user's words, to be shown: those since the last that were `final`, which takes the place of all before it. */
  | { readonly type: 'words'; readonly text: string; readonly final: boolean }
  /** The user's turn is over, and has words: its message follows. */
  | ({ readonly type: 'endOfTurn' } & EndOfTurn)
  /**
   * The user's words are part of the conversation. All words of the turn: until `closeTurn` another message takes the
   * place of this one.
   */
  | {
      readonly type: 'message';
      readonly text: string;
      /** Complete by itself, as are the two below. */
      readonly typed?: true;
      /** The agent finishes what it says first: its answer is asked for by a `reply` of its own. */
      readonly later?: true;
      /** Agreement while the agent speaks: has no answer of its own. */
      readonly backchannel?: true;
    }
  /** The turn's message stays as it is. */
  | { readonly type: 'closeTurn' }
  | {
      readonly type: 'reply';
      readonly job: number;
      readonly cause: Cause;
      readonly aloud: boolean;
      /** The words of a turn that may not be over and are no message yet: what is asked must have no effect before `sure`. */
      readonly draft?: string;
    }
  /** The turn that the job is a draft for is over. */
  | { readonly type: 'sure'; readonly job: number }
  | { readonly type: 'say'; readonly job: number; readonly text: string }
  /** Say that the question could not be answered. */
  | { readonly type: 'excuse'; readonly job: number; readonly aloud: boolean }
  /** Say that the longest duration is nearly over. */
  | { readonly type: 'warn'; readonly job: number }
  /** Tools take long: say a filler within this job, beside its answer. */
  | { readonly type: 'fill'; readonly job: number }
  /** From now on, tell when a sentence of the agent is over. */
  | { readonly type: 'lastWords' }
  /** Stop thinking and speaking at once; the record keeps what was heard. */
  | { readonly type: 'cancel'; readonly job: number; readonly by: BrokenOffBy }
  /** The playout stands still, and goes on from there. */
  | { readonly type: 'pause' }
  /** `goesOn`: nothing but the pause has happened. */
  | { readonly type: 'resume'; readonly goesOn: boolean }
  | { readonly type: 'state'; readonly state: 'listening' | 'thinking' | 'speaking' }
  | { readonly type: 'end'; readonly reason: EndReason };
