/** Retrieval of knowledge for an agent, in a call and in the preview of its knowledge. */
import { toServiceError } from '../errors.js';
import { LIMITS } from '../limits.js';
import { ownedBy } from '../owner.js';
import type { RunnableVersion } from '../ports/agents/agents.js';
import type { KnowledgeSearch, Passage } from '../ports/agents/knowledge.js';

/** The passages of that version that best match the question, best first; none if its knowledge is switched off. */
export async function passagesFor(
  knowledge: KnowledgeSearch,
  workspaceId: string,
  { config, knowledge: pinned }: Pick<RunnableVersion, 'config' | 'knowledge'>,
  asked: string,
): Promise<readonly Passage[]> {
  if (!config.knowledge_base.enabled || pinned.length === 0) return [];
  return knowledge.search(workspaceId, pinned, asked, LIMITS.knowledge.passages);
}

/** The same while somebody waits for an answer: a database that has none in time has no passages (docs/contract/limits.md). */
export async function passagesInTime(...asked: Parameters<typeof passagesFor>): Promise<readonly Passage[]> {
  const [, tag] = asked;
  try {
    return await ownedBy({ tag, withinMs: LIMITS.statements.inCallMs }, () => passagesFor(...asked));
  } catch (error) {
    if (toServiceError(error).status === 503) return [];
    throw error;
  }
}
