/**
 * What an agent knows by heart: attached sources that are small enough are part of its instructions, all others are searched for
 * each question. They are read once in a call, and again where another agent takes it over, so that the instructions stay the same.
 */
import { wholeInTime } from '../../../contracts/agents/passages.js';
import type { KnowledgeSearch, Passage } from '../../../contracts/ports/agents/knowledge.js';
import type { ChatMessage } from '../../../contracts/ports/chat.js';
import type { SessionPlan } from '../../../contracts/ports/sessions/sessions.js';

export class KnownTexts {
  /** By the agent's list of sources; an empty one: they are too large. */
  readonly #read = new WeakMap<SessionPlan['knowledge'], readonly Passage[]>();

  /** None while the database does not answer: the next reply asks again. */
  async of(knowledge: KnowledgeSearch, workspaceId: string, plan: SessionPlan): Promise<readonly Passage[]> {
    const read = this.#read.get(plan.knowledge) ?? (await wholeInTime(knowledge, workspaceId, plan));
    if (read) this.#read.set(plan.knowledge, read);
    return read ?? [];
  }
}

const TURNS = 3;

const inOneLine = (text: string): string => text.trim().replace(/\s+/gu, ' ');

/** What is searched for: the user's last turns, a line each, the newest first, since “and on Sundays?” asks nothing by itself. */
export function questionOf(messages: readonly ChatMessage[]): string | undefined {
  const said = messages.flatMap(({ role, content }) => (role === 'user' ? [content] : []));
  return said.length === 0 ? undefined : said.slice(-TURNS).reverse().map(inOneLine).join('\n');
}
