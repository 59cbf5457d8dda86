/** One job of the agent: a reply, or a fixed sentence. */
import type { ReplyText } from './replies.js';
import type { SpokenLine } from './spoken-line.js';
import type { Utterance } from './utterance.js';

/** The running job, spoken or only written. */
export interface AgentJob {
  readonly utterance: Utterance;
  readonly aloud: boolean;
  /** The code of the failure that this job excuses. */
  readonly error: string | undefined;
  /** It is nothing but a filler. */
  readonly isFiller?: true;
}

export interface AgentTask {
  readonly job: number;
  readonly aloud: boolean;
  readonly error?: string | undefined;
  /** It answers a turn that may not be over. */
  readonly isDraft?: boolean;
  /** Its text as sound, if that does not need to be made any more. */
  readonly line?: Promise<SpokenLine>;
  /** Writes the job's text; resolves when all is written. */
  think(text: ReplyText, signal: AbortSignal): Promise<void>;
}
