/** The events of a conversation's machine, and its effects (agent.ts). */
import type { Act } from './effects.js';
import type { AgentSettings } from './settings.js';
import type { EndOfTurn } from './turns/detectors.js';
import type { Question } from './turns/expected-answers.js';
import type { OwedVoice } from './turns/stretches.js';

export type EndReason =
  | 'user_hangup'
  | 'agent_hangup'
  | 'conversation_timeout'
  | 'ended_by_api'
  | 'transferred'
  | 'gone'
  | 'transport_lost'
  /** Answers failed in a row, because of the language model, or of voice or recogniser. */
  | 'llm_endpoint_failure'
  | 'speech_failure'
  | 'error';

/** What failed an answer, if it was not the language model. */
export type FailedPart = 'model' | 'speech';

/**
 * What an excuse says: an `answer` could not be given, the agent greets although its `opener` could not be made, the user was not
 * `understood`, or too much has failed and the call ends with an `apology`.
 */
export type Excuse = 'answer' | 'opener' | 'understood' | 'apology';

/** Reasons to ask the language model. */
export type Cause =
  | 'turn'
  | 'opener'
  | 'reengage'
  | 'farewell'
  | 'news'
  | 'handover'
  /** The agent was interrupted by a sound that turned out to have no words. */
  | 'continue';

/** What jobs say without asking a model. */
export type Sentence = 'greeting' | 'warning' | 'goodbye' | 'excuse';

/**
 * Cause of a job's interruption, for the record of its turn. `voice`: a sound, which discards a draft; `message`: a typed
 * message; `client`: an `interrupt` of the client; `timeout`: the maximum duration.
 */
export type BrokenOffBy = 'words' | 'command' | 'message' | 'client' | 'voice' | 'timeout';

export type AgentEvent =
  | { readonly type: 'connected' }
  | { readonly type: 'disconnected' }
  /** The user hangs up. */
  | { readonly type: 'left' }
  | { readonly type: 'end'; readonly reason: EndReason }
  /** `at`: milliseconds of the host's clock, for measuring pauses; `over`: the client says that the turn is over with it. */
  | {
      readonly type: 'voice';
      readonly active: boolean;
      readonly at: number;
      readonly silentMs?: number;
      readonly over?: true;
    }
  /** The transcript of that stretch of voice so far; `final`: complete, once per stretch. */
  | {
      readonly type: 'transcript';
      readonly span: number;
      readonly text: string;
      readonly final: boolean;
      /** The recogniser has failed: what was said, if anything, is unknown. */
      readonly lost?: true;
      /** It was the agent's own voice, so `text` is empty. */
      readonly echo?: true;
      /** Final: `text` is that of all stretches since this one, which were heard together. */
      readonly joins?: number;
    }
  /**
   * The words of the present stretch of voice if it ends with the silence that has just begun, which a detector confirms later; empty:
   * the voice has gone on.
   */
  | { readonly type: 'foreseen'; readonly span: number; readonly text: string }
  /**
   * Probability, 0 to 1, that the turn has ended, by the sound of that stretch of voice; undefined if unknown.
   * Only for agents with such a detector.
   */
  | { readonly type: 'sounded'; readonly span: number; readonly probability: number | undefined }
  /** A typed message, or without text the wish for an answer; `aloud`: whether the reply is spoken. */
  | { readonly type: 'typed'; readonly text: string; readonly aloud: boolean }
  /** The agent's own words have come back through the user's microphone. */
  | { readonly type: 'echo' }
  | { readonly type: 'activity' }
  | { readonly type: 'interrupt' }
  /** The first audio of a job is on its way to the user. */
  | { readonly type: 'audible'; readonly job: number }
  /** The last `TIMES.endingMs` of the job's speech are playing. */
  | { readonly type: 'ending'; readonly job: number }
  /** The model wants tools that do this; none has begun. The answer is `proceed` or `desist`, unless the job is cancelled. */
  | { readonly type: 'wants'; readonly job: number; readonly acts: readonly Act[] }
  /** The job has called tools: its answer can no longer be withdrawn. */
  | { readonly type: 'acted'; readonly job: number }
  /** All tools that the job has called have answered. */
  | { readonly type: 'returned'; readonly job: number }
  /** Whether tools run beside the conversation whose results the agent has yet to tell. */
  | { readonly type: 'runsBeside'; readonly runs: boolean }
  /** A tool that ran beside the conversation has answered; the model does not know yet. */
  | { readonly type: 'news' }
  /** The model has been given everything, all news included. */
  | { readonly type: 'informed' }
  /** The model has called the hang-up tool: the call ends with this job. */
  | { readonly type: 'hangUp'; readonly job: number }
  /** The model has handed the call over: another agent, with these settings, continues once the job has ended. */
  | { readonly type: 'handedOver'; readonly job: number; readonly settings: AgentSettings }
  /** The same, but its job was cancelled meanwhile: the other agent, with these settings, has the next one. */
  | { readonly type: 'replaced'; readonly settings: AgentSettings }
  /** What the speech that has been heard to its end asked for, at its end. Comes before `ended`. */
  | ({ readonly type: 'asked' } & Question)
  /** All speech of the job has been heard. */
  | { readonly type: 'ended'; readonly job: number }
  | { readonly type: 'failed'; readonly job: number; readonly by?: FailedPart }
  /** Nearly all speech of the job so far has been heard, though it has more to say; then there is more of it. */
  | { readonly type: 'dry'; readonly job: number }
  | { readonly type: 'fed'; readonly job: number }
  /** The filler of the job, or the one that is the job, has been heard. */
  | { readonly type: 'filled'; readonly job: number }
  /** After `lastWords`: a sentence of the job has been heard to its end. */
  | { readonly type: 'sentenceOver'; readonly job: number }
  /** Internal: the agent's side must judge the user's words so far. */
  | { readonly type: 'overlap'; readonly finished: boolean }
  /** Internal: the user has been silent as long as ends a turn whose words look like an end. */
  | { readonly type: 'lasting' }
  /** Internal: the user's turn has ended. */
  | { readonly type: 'turnOver' }
  /** Internal: the agent holds until more is known, as the user's voice began or the words so far interrupt. */
  | { readonly type: 'bargeIn' }
  /** Internal: the user's sound does not interrupt the agent. */
  | { readonly type: 'goOn' }
  /** Internal: the answer has been heard long enough that new voice no longer continues the turn. */
  | { readonly type: 'heard' }
  /** Internal: the user has been warned that the call is about to end. */
  | { readonly type: 'warned' };

export type AgentEffect =
  /**
   * Begin a stretch of the user's voice with this number, and keep its audio for transcription. `joins`: the first of the stretches
   * before it that may be transcribed together with it.
   */
  | { readonly type: 'beginSpan'; readonly span: number; readonly joins?: number }
  /**
   * Transcribe that stretch to its end: one final transcript with its number is owed. Also detect by sound whether the
   * turn has ended: a `sounded` with its number counts until the next stretch.
   */
  | { readonly type: 'transcribe'; readonly span: number }
  /** Show the user's words since the last `final` ones; replaces what was shown since then. */
  | { readonly type: 'words'; readonly text: string; readonly final: boolean }
  /** The user's turn has ended, with words; its message follows. */
  | ({ readonly type: 'endOfTurn' } & EndOfTurn)
  /**
   * Add the user's words to the conversation. `text` has all words of the turn, and a mark for those that were unclear: until
   * `closeTurn` another message replaces this one.
   */
  | {
      readonly type: 'message';
      readonly text: string;
      /** Typed: replaces no message and is not replaced, as for the two below. */
      readonly typed?: true;
      /** The agent finishes what it says first; a later `reply` asks for the answer. */
      readonly later?: true;
      /** Agreement while the agent speaks: gets no answer. */
      readonly backchannel?: true;
    }
  /** The turn's message is complete. */
  | { readonly type: 'closeTurn' }
  | {
      readonly type: 'reply';
      readonly job: number;
      readonly cause: Cause;
      readonly aloud: boolean;
      /** The words of a turn that may not have ended; not yet a message. The reply must have no effect before `sure`. */
      readonly draft?: string;
    }
  /** The turn that this draft answers has ended. */
  | { readonly type: 'sure'; readonly job: number }
  | { readonly type: 'say'; readonly job: number; readonly text: string }
  /** Say a fixed sentence in place of an answer. */
  | { readonly type: 'excuse'; readonly job: number; readonly aloud: boolean; readonly what: Excuse }
  /** Say that the maximum duration is near. */
  | { readonly type: 'warn'; readonly job: number }
  /** Say goodbye, as both sides have been silent for long. */
  | { readonly type: 'goodbye'; readonly job: number }
  /** Say a filler within this job, as the user has waited long for its answer, of which it is no part; `filled` follows. */
  | { readonly type: 'fill'; readonly job: number }
  /** The same where no answer is being made yet, as the user's words are not known: a job of its own. */
  | { readonly type: 'bridge'; readonly job: number }
  /** From now on, report the end of each of the agent's sentences. */
  | { readonly type: 'lastWords' }
  /** The tools that the job wants may begin. */
  | { readonly type: 'proceed'; readonly job: number }
  /** They must not: the user has said something that the model does not know yet. The job ends with what it has said. */
  | { readonly type: 'desist'; readonly job: number }
  /** Stop thinking and speaking at once, but nothing that has begun and may not be cut off; the record keeps what was heard. */
  | { readonly type: 'cancel'; readonly job: number; readonly by: BrokenOffBy }
  /** Pause the playout; `resume` continues from there. */
  | { readonly type: 'pause' }
  /** `goesOn`: the agent simply continues, as nothing but the pause has happened. */
  | { readonly type: 'resume'; readonly goesOn: boolean }
  | { readonly type: 'state'; readonly state: 'listening' | 'thinking' | 'speaking' }
  /** The call ends before the transcripts of these voices have arrived; `end` follows. */
  | { readonly type: 'owed'; readonly voices: readonly OwedVoice[] }
  | { readonly type: 'end'; readonly reason: EndReason };
