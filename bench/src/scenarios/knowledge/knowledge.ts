/**
 * Whether an agent is told the passage that answers: sixty questions over ten sources, all attached to one agent. A question
 * is found if one of the first three passages holds its answer.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { median } from '../../histogram.js';
import { callPlatform } from '../../servers/agents.js';
import { TONE } from '../../servers/checkout.js';
import { authorizationOf, type Server } from '../../servers/server.js';
import type { Context } from '../context.js';
import { scenario } from '../scenario.js';
import type { Question, Source } from './corpus.js';
import { ENGLISH } from './english.js';
import { GERMAN } from './german.js';
import { JAPANESE } from './japanese.js';

export const CORPUS: readonly Source[] = [...ENGLISH, ...GERMAN, ...JAPANESE];

const FIRST = 3;

interface Parameters {
  readonly sources: readonly Source[];
}

const LOOK_MS = 200;
const MOST_LOOKS = 600;

/** Whether there is a model of embeddings; then all of it is found by meaning. */
async function indexed(server: Server, id: string): Promise<boolean> {
  for (let looks = 0; looks < MOST_LOOKS; looks += 1) {
    const source = await callPlatform<{ readonly indexing?: string }>(server, `knowledge-sources/${id}`);
    if (source.indexing !== 'pending' && source.indexing !== 'failed') return source.indexing === 'done';
    await pause(LOOK_MS);
  }
  throw new Error('the sources were not indexed within two minutes');
}

/** Sources are written by a form, whose file is the text. */
async function makeSource(server: Server, { name, text }: Source): Promise<string> {
  const body = new FormData();
  body.set('name', name);
  body.set('source', new File([text], 'source.md'));
  const answer = await fetch(`${server.origin}/v1/agent/knowledge-sources`, {
    method: 'POST',
    headers: authorizationOf(server),
    body,
  });
  if (!answer.ok) throw new Error(`knowledge-sources: HTTP ${answer.status} ${await answer.text()}`);
  return ((await answer.json()) as { readonly knowledge_source_id: string }).knowledge_source_id;
}

interface Agent {
  readonly id: string;
  readonly isSearchedByMeaning: boolean;
}

async function makeAgent(server: Server, sources: readonly Source[]): Promise<Agent> {
  const ids: string[] = [];
  for (const source of sources) ids.push(await makeSource(server, source));
  const means = new Set<boolean>();
  for (const id of ids) means.add(await indexed(server, id));
  const config = { knowledge_base: { enabled: true, knowledge_source_ids: ids } };
  const body = { name: 'Knowledge', config };
  const { agent_id: id } = await callPlatform<{ readonly agent_id: string }>(server, 'agents', body);
  return { id, isSearchedByMeaning: !means.has(false) };
}

interface Found {
  readonly passages: readonly { readonly text: string; readonly found_by: string }[];
}

interface Judged extends Question {
  readonly language: string;
  readonly isHit: boolean;
  readonly ms: number;
  /** How often words answered alone, since the model of embeddings was late: a slow machine, and no worse order. */
  readonly late: number;
}

const MOST_TRIES = 5;

async function ask(server: Server, agent: Agent, language: string, question: Question): Promise<Judged> {
  const query = question.turns.join('\n');
  for (let late = 0; ; late += 1) {
    const begun = performance.now();
    const { passages } = await callPlatform<Found>(server, `agents/${agent.id}/knowledge/search`, { query });
    const ms = performance.now() - begun;
    const isLate = agent.isSearchedByMeaning && passages.every(({ found_by: by }) => by === 'words');
    if (isLate && late < MOST_TRIES) continue;
    const isHit = passages.slice(0, FIRST).some(({ text }) => text.includes(question.answer));
    return { ...question, language, isHit, ms, late };
  }
}

async function askAll(context: Context, server: Server, sources: readonly Source[]): Promise<Judged[]> {
  const agent = await makeAgent(server, sources);
  const judged: Judged[] = [];
  for (const { language, questions } of sources)
    for (const question of questions) {
      judged.push(await ask(server, agent, language, question));
      context.say(`${judged.length} asked`);
    }
  return judged;
}

function addShare(context: Context, name: string, judged: readonly Judged[]): void {
  const hits = judged.filter(({ isHit }) => isHit).length;
  const value = (100 * hits) / judged.length;
  context.add({ name, subject: 'gateway', unit: '%', n: judged.length, value });
}

function report(context: Context, judged: readonly Judged[]): void {
  addShare(context, 'knowledge.hit_at_3', judged);
  for (const by of ['language', 'kind'] as const)
    for (const value of new Set(judged.map((each) => each[by])))
      addShare(
        context,
        `knowledge.hit_at_3.${value}`,
        judged.filter((each) => each[by] === value),
      );
  const late = judged.reduce((sum, each) => sum + each.late, 0);
  context.add({ name: 'knowledge.late', subject: 'gateway', unit: '', n: judged.length, value: late });
  const ms = judged.map((each) => each.ms);
  const common = { subject: 'gateway', unit: 'ms', n: ms.length };
  context.add({ name: 'knowledge.search.p50', value: median(ms), ...common });
  context.add({ name: 'knowledge.search.max', value: Math.max(...ms), ...common });
  const missed = judged.filter(({ isHit }) => !isHit);
  context.tables.push({
    title: 'Missed',
    head: ['asked', 'kind', 'answer'],
    rows: missed.map(({ turns, kind, answer }) => [turns.join(' ← '), kind, answer]),
  });
}

export default scenario<Parameters>({
  name: 'knowledge',
  title: 'Whether the passage that answers a question is found',
  isLocal: true,
  parameters: { full: { sources: CORPUS }, quick: { sources: CORPUS } },
  async run(context, { sources }) {
    const server = await context.start(TONE);
    report(context, await askAll(context, server, sources));
  },
});
