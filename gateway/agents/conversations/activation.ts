/** The session of a conversation becomes active as its user first connects. */
import type { ClosedBy } from './closing.js';
import type { ConversationParts } from './conversation-parts.js';

/** Makes it active; a conversation whose session has ended, or cannot become active, is closed. Never rejects. */
export async function activateSession(
  { activate, log }: Pick<ConversationParts, 'activate' | 'log'>,
  close: (cause: ClosedBy) => void,
): Promise<void> {
  try {
    if (!(await activate())) close('session');
  } catch (error) {
    log.error({ err: error }, 'a session could not become active');
    close('storage');
  }
}
