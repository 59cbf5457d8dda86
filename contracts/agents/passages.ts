/** Retrieval of knowledge for an agent, in a call and in the preview of its knowledge. */
import { LIMITS } from '../limits.js';
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
