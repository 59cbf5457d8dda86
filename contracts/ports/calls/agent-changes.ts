/** What the client of a call may change of its agent, for this call only. Absent members stay as they are. */
import type { AgentConfig } from '../../schemas/agent-config.js';
import type { PlannedTool } from '../sessions/sessions.js';

export interface AgentChanges {
  /** All tools of the client, in place of those before. */
  readonly tools?: readonly PlannedTool[];
  /** In place of the system prompt of the agent that is in charge. */
  readonly instructions?: string;
  readonly eagerness?: AgentConfig['conversation']['eagerness'];
  /** Whether the user's voice may interrupt it. */
  readonly interruptible?: boolean;
}
