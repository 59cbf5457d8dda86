/** What an agent is given to answer from, in a call and where somebody tries its knowledge. */
import { LIMITS } from './limits.js';
import type { RunnableVersion } from './ports/agents.js';
import type { KnowledgeSearch, Passage } from './ports/knowledge.js';

/** The passages of that version that fit what was asked best, best first; none where its knowledge is switched off. */
export async function passagesFor(
  knowledge: KnowledgeSearch,
  workspaceId: string,
  { config, knowledge: pinned }: Pick<RunnableVersion, 'config' | 'knowledge'>,
  asked: string,
): Promise<readonly Passage[]> {
  if (!config.knowledge_base.enabled || pinned.length === 0) return [];
  return knowledge.search(workspaceId, pinned, asked, LIMITS.knowledge.passages);
}
