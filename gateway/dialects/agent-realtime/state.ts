/** The state of one agent's socket, as the handlers of its client's events see it. */
import type { TokenBucket } from '../../../contracts/limits/token-bucket.js';
import type { CallAudio } from '../../server/frames/call-audio.js';
import type { ServerEvents } from '../protocol-a/realtime/server-events.js';
import type { Answers } from './answers.js';
import type { Items } from './items.js';
import type { AgentSettings } from './settings.js';
import type { UserTurns } from './user-turns.js';

export interface SessionState {
  readonly events: ServerEvents;
  readonly items: Items;
  readonly answers: Answers;
  readonly turns: UserTurns;
  /** Texts of the user that no answer was asked for yet. */
  readonly typed: string[];
  /** Bytes of the texts that the client has brought into the conversation. */
  brought: number;
  /** Functions that the agent waits for. */
  readonly calls: Set<string>;
  /** Functions that were called in a conversation of before, by the ids of their calls, in words. */
  readonly past: Map<string, string>;
  /** Of answers that the client asks for. */
  readonly rate: TokenBucket;
  readonly settings: AgentSettings;
  readonly audio: CallAudio;
  /** Whether audio goes by RTP, and not in events. */
  readonly byRtp: boolean;
  /** Turns that the client has committed and not asked an answer for. */
  commits: number;
  /** Whether the agent does nothing, and nothing is awaited of it. */
  readonly rests: boolean;
  /** Says in the log what the client asked for and does not get. */
  note(names: readonly string[]): void;
}
