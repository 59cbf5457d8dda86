/** What an agent is told of its knowledge, in a call and in the preview of its knowledge: small sources as a whole, else passages. */
import { toServiceError } from '../errors.js';
import { LIMITS } from '../limits.js';
import { ownedBy } from '../owner.js';
import type { RunnableVersion } from '../ports/agents/agents.js';
import type { KnowledgeSearch, Passage } from '../ports/agents/knowledge.js';

type Knowing = Pick<RunnableVersion, 'config' | 'knowledge'>;

const isKnowing = ({ config, knowledge }: Knowing): boolean =>
  config.knowledge_base.enabled && knowledge.length > 0;

/** The sources of that version as they are, if all of them are small together; none otherwise, and if its knowledge is switched off. */
const wholeOf = async (
  knowledge: KnowledgeSearch,
  workspaceId: string,
  version: Knowing,
): Promise<readonly Passage[]> =>
  isKnowing(version) ? knowledge.whole(workspaceId, version.knowledge, LIMITS.knowledge.wholeBytes) : [];

const found = async (
  knowledge: KnowledgeSearch,
  workspaceId: string,
  version: Knowing,
  asked: string,
): Promise<readonly Passage[]> =>
  isKnowing(version)
    ? knowledge.search(workspaceId, version.knowledge, asked, LIMITS.knowledge.passages)
    : [];

/** What the agent of that version knows when it is asked this: its sources as they are, or the passages that match best. */
export async function passagesFor(...of: Parameters<typeof found>): Promise<readonly Passage[]> {
  const [knowledge, workspaceId, version] = of;
  const whole = await wholeOf(knowledge, workspaceId, version);
  return whole.length > 0 ? whole : found(...of);
}

/** While somebody waits for an answer: undefined if the database has none in time (docs/contract/limits.md). */
async function inTime<T>(tag: string, work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ownedBy({ tag, withinMs: LIMITS.statements.inCallMs }, work);
  } catch (error) {
    if (toServiceError(error).status === 503) return undefined;
    throw error;
  }
}

export const wholeInTime = (...of: Parameters<typeof wholeOf>): Promise<readonly Passage[] | undefined> =>
  inTime(of[1], () => wholeOf(...of));

/** The passages that match best, of sources that are not told as a whole. */
export const foundInTime = async (...of: Parameters<typeof found>): Promise<readonly Passage[]> =>
  (await inTime(of[1], () => found(...of))) ?? [];
