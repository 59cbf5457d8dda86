/** Everything that a conversation needs from its call and its session. */
import type { EndedReason } from '../../../contracts/ports/sessions/sessions.js';
import type { Turn } from '../../../contracts/sessions/turns.js';
import type { AgentInChargeParts } from './agent-in-charge.js';
import type { ClosedBy } from './closing.js';
import type { ListeningParts } from './listening/listening.js';
import type { ChatMeterParts } from './metered-chat.js';
import type { RecordParts } from './record.js';
import type { ReplyParts } from './replies.js';
import type { SpokenLines } from './spoken-lines.js';
import type { PhoneLine } from './tools/tool.js';
import type { ToolParts } from './tools/tools.js';

export interface ConversationParts extends RecordParts {
  readonly agent: AgentInChargeParts;
  readonly listening: Omit<ListeningParts, 'log' | 'recognised'>;
  readonly thinking: Pick<ReplyParts, 'knowledge'> & Pick<ChatMeterParts, 'tokens' | 'whom'>;
  readonly tools: Pick<ToolParts, 'outbound' | 'credentials' | 'mcp' | 'asks' | 'standIn' | keyof PhoneLine>;
  /** The lines of all calls of this process as sound; absent: those of this call alone. */
  readonly lines?: SpokenLines;
  /** Called when the user first connects; false if the session has ended meanwhile. */
  activate(): Promise<boolean>;
  /** Called when a turn has ended, with all that is known of it. */
  turnOver(turn: Turn): void;
  /** `cause`: what ended it from outside of its statechart, if anything did. */
  end(reason: EndedReason, cause: ClosedBy | undefined): Promise<void>;
}
