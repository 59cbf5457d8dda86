/** The agents that callers speak with, and the double of a model that answers as the agent's prompt says. */
import { makeAgent, NO_FILLERS } from '../../servers/agents.js';
import { type Answering, LONG } from '../../servers/model.js';
import type { Server } from '../../servers/server.js';
import { type AgentName, AGENTS } from './kinds.js';

/** Before the name of an agent in its prompt, which the model reads. */
const MARK = 'bench agent: ';

const WORD = 'Nine.';
const ANSWERS: Readonly<Record<AgentName, string>> = {
  word: WORD,
  asks: WORD,
  email: WORD,
  name: WORD,
  sentence:
    'Your parcel left our house this morning, and the driver will ring the bell on Thursday between two and four.',
  long: LONG,
};

/** In one word where no agent of these asks. */
export const answerAsPrompted: Answering = (messages) => {
  const prompt = messages.map(({ content }) => content ?? '').join('\n');
  return ANSWERS[AGENTS.find((name) => prompt.includes(MARK + name)) ?? 'word'];
};

const QUESTIONS: Readonly<Partial<Record<AgentName, string>>> = {
  asks: 'Shall I go on?',
  email: 'What is your e-mail address, please?',
  name: 'Could you spell your last name, please?',
};

const firstMessage = (name: AgentName) => {
  const question = QUESTIONS[name];
  return question === undefined
    ? { first_message_mode: 'off' }
    : { first_message_mode: 'fixed', first_message: question };
};
/** Their ids. */
export async function makeAgents(server: Server): Promise<Readonly<Record<AgentName, string>>> {
  const ids: [AgentName, string][] = [];
  for (const name of AGENTS) {
    const prompt = { system_prompt: `${MARK}${name}.`, ...firstMessage(name) };
    const conversation = { eagerness: 'balanced', interruption_sensitivity: 'balanced' };
    ids.push([name, await makeAgent(server, `Bench, ${name}`, { prompt, conversation, tools: NO_FILLERS })]);
  }
  return Object.fromEntries(ids) as Record<AgentName, string>;
}
