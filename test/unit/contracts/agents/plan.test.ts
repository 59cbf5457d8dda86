/** What an agent brings to a session: its prompt with the session's variables, its tools by name, its passages. */
import t from '../../../fixtures/tap.js';
import { plannedTools, renderPrompt, takenOver } from '../../../../contracts/agents/plan.js';
import { LIMITS } from '../../../../contracts/limits.js';
import { passagesFor } from '../../../../contracts/agents/passages.js';
import type { RunnableVersion } from '../../../../contracts/ports/agents/agents.js';
import type { KnowledgeSearch, Passage } from '../../../../contracts/ports/agents/knowledge.js';
import type { SessionPlan } from '../../../../contracts/ports/sessions/sessions.js';
import { type AgentConfig, DEFAULT_CONFIG } from '../../../../contracts/schemas/agent-config.js';
import { newTool, type ToolCreation } from '../../../../contracts/schemas/tools.js';

const prompt: AgentConfig['prompt'] = {
  system_prompt: 'You talk to {{name}}.',
  first_message_mode: 'fixed',
  first_message: 'Hi {{name}}, {{unknown}}!',
  first_message_prompt: 'Greet {{ name }}.',
};

const frozen = (id: string, tool: ToolCreation) => ({ id, definition: newTool(tool).definition });

const version = (prompt: AgentConfig['prompt']): RunnableVersion => ({
  number: 2,
  config: {
    ...DEFAULT_CONFIG,
    prompt,
    voice: { voice_id: 'other', speaking_language: 'de', languages: null, expressive: false },
  },
  configHash: 'sha256:other',
  tools: [frozen('tool_1', { name: 'Find it' })],
  knowledge: [{ sourceId: 'ks_1', revision: 3 }],
});

t.test("the prompt's texts are rendered with the variables, and everything else stays", async (t) => {
  t.strictSame(renderPrompt(prompt, { name: 'Ada' }), {
    prompt: {
      system_prompt: 'You talk to Ada.',
      first_message_mode: 'fixed',
      first_message: 'Hi Ada, {{unknown}}!',
      first_message_prompt: 'Greet Ada.',
    },
  });
  const name = 'x'.repeat(LIMITS.session.renderedLength);
  t.strictSame(renderPrompt({ ...prompt, first_message: 'Hi!' }, { name }), {
    tooLong: ['system_prompt', 'first_message_prompt'],
  });
  const one = { ...prompt, first_message: 'Hi!', first_message_prompt: '' };
  t.strictSame(renderPrompt(one, { name }), { tooLong: ['system_prompt'] });
});

t.test('the model calls tools by names made from theirs, and client tools by their own', async (t) => {
  const tools = [
    frozen('tool_1', { name: 'open cart' }),
    frozen('tool_2', { name: 'open_cart', tool_type: 'client' }),
  ];
  const planned = plannedTools({ tools });
  t.strictSame(
    planned.map(({ toolId, functionName }) => [toolId, functionName]),
    [['tool_1', 'open_cart_2'], ['tool_2', 'open_cart']],
  ); // oxfmt-ignore
  t.equal(planned[0]?.definition, tools[0]?.definition);
  t.strictSame(plannedTools({ tools: [] }), []);
});

t.test(
  "an agent that takes a call over brings its own configuration, and the session's plan keeps the rest",
  async (t) => {
    const plan: SessionPlan = {
      config: DEFAULT_CONFIG,
      tools: [],
      knowledge: [],
      configHash: 'sha256:first',
      maxDurationSeconds: 60,
      recordAudio: true,
      toolEvents: false,
      worldContext: true,
      timezone: 'Europe/Berlin',
      transfers: { agents: [], variables: { name: 'Ada' } },
    };
    const other = version(prompt);
    t.strictSame(takenOver(plan, 'agent_2', other), {
      ...plan,
      agentId: 'agent_2',
      config: {
        ...other.config,
        prompt: {
          ...prompt,
          system_prompt: 'You talk to Ada.',
          first_message: 'Hi Ada, {{unknown}}!',
          first_message_prompt: 'Greet Ada.',
        },
      },
      tools: [{ toolId: 'tool_1', functionName: 'Find_it', definition: other.tools[0]?.definition }],
      knowledge: other.knowledge,
    });
    const { transfers: _, ...alone } = plan;
    t.strictSame(
      takenOver(alone, 'agent_2', other)?.config.prompt,
      prompt,
      'without variables as it is written',
    );
    const long = { name: 'x'.repeat(LIMITS.session.renderedLength) };
    t.equal(takenOver({ ...plan, transfers: { agents: [], variables: long } }, 'agent_2', other), undefined);
  },
);

t.test('knowledge is searched only if it is switched on and the agent has some', async (t) => {
  const passage = { sourceId: 'ks_1', source: 'Hours', text: 'From 7:30.', rank: 1, by: 'words' } as const;
  const asked: unknown[] = [];
  let whole: readonly Passage[] = [];
  const knowledge: KnowledgeSearch = {
    whole: (...of) => {
      asked.push(of);
      return Promise.resolve(whole);
    },
    search: (...search) => {
      asked.push(search);
      return Promise.resolve([passage]);
    },
  };
  const pinned = [{ sourceId: 'ks_1', revision: 3 }];
  const passages = (enabled: boolean, sources = pinned) => {
    const config = { ...DEFAULT_CONFIG, knowledge_base: { enabled, knowledge_source_ids: [] } };
    return passagesFor(knowledge, 'ws_1', { config, knowledge: sources }, 'When?');
  };
  t.strictSame(await passages(false), []);
  t.strictSame(await passages(true, []), []);
  t.strictSame(asked, []);
  t.strictSame(await passages(true), [passage]);
  const size = ['ws_1', pinned, LIMITS.knowledge.wholeBytes];
  t.strictSame(asked.splice(0), [size, ['ws_1', pinned, 'When?', LIMITS.knowledge.passages]]);
  whole = [passage, passage];
  t.strictSame(await passages(true), whole, 'small sources are known as a whole');
  t.strictSame(asked, [size]);
});
