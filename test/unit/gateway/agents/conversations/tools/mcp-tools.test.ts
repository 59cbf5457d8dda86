/**
 * MCP servers as a source of a conversation's tools (gateway/agents/conversations/tools/mcp-tools.ts): names, lists, unreachable servers,
 * and the record of calls.
 */
import t from '../../../../../fixtures/tap.js';
import { ServiceError } from '../../../../../../contracts/errors.js';
import { LIMITS } from '../../../../../../contracts/limits.js';
import type { ChatTool } from '../../../../../../contracts/ports/chat.js';
import { McpError, type McpServer, type OpenMcp } from '../../../../../../contracts/ports/agents/mcp.js';
import type { PlannedTool } from '../../../../../../contracts/ports/sessions/sessions.js';
import { exactly } from '../../../../../fixtures/exactly.js';
import { type Answer, Hosted, saying, webhookTool } from '../../../../../fixtures/conversation/hosted.js';

const server = (name: string, more: Partial<PlannedTool['definition']> = {}): PlannedTool => {
  const planned = webhookTool(name);
  const definition = { ...planned.definition, tool_type: 'mcp' as const, url: `https://${name}`, ...more };
  return { ...planned, definition: { ...definition, allowed_tools: more.allowed_tools ?? [] } };
};

const tool = (name: string): ChatTool => ({
  name,
  description: `${name} it`,
  parameters: { type: 'object' },
});

interface Double {
  tools?: readonly string[] | Error;
  readonly answers?: string | Error;
}

/** Doubles of servers by address; they record what was called and closed. */
function doubles(servers: Readonly<Record<string, Double>>) {
  const called: [string, string, object][] = [];
  const closed: string[] = [];
  const changed = new Map<string, () => void>();
  const open: OpenMcp = ({ url, changed: tell }): McpServer => {
    const { answers = 'fine' } = servers[url] ?? {};
    if (tell) changed.set(url, tell);
    return {
      list: async () => {
        const { tools = [] } = servers[url] ?? {};
        if (tools instanceof Error) throw tools;
        return tools.map(tool);
      },
      call: async (name, args) => {
        called.push([url, name, args]);
        if (answers instanceof Error) throw answers;
        return { ok: true, text: answers };
      },
      close: () => void closed.push(url),
    };
  };
  return { open, called, closed, changed };
}

/** An agent that calls the tool and says its result. */
function calling(name: string, args = '{}') {
  const offered: string[] = [];
  const answer: Answer = async function* (request, signal) {
    offered.splice(0, offered.length, ...request.tools.map((each) => each.name));
    const last = request.messages.at(-1);
    if (last?.role === 'tool') yield* saying(`Told: ${last.content}`)(request, signal);
    else yield { kind: 'calls', calls: [{ id: 'a', name, arguments: args }] };
  };
  return { offered, answer };
}

function joined(...args: ConstructorParameters<typeof Hosted>): Hosted {
  const hosted = new Hosted(...args);
  hosted.happen({ kind: 'connected' });
  return hosted;
}

t.test('a server’s tool is offered, called and kept as any other', async (t) => {
  const { open, called, closed } = doubles({ 'https://crm': { tools: ['find'], answers: 'Ada' } });
  const { offered, answer } = calling('find', '{"id":7}');
  const hosted = joined(t, { answer, mcp: open, tools: [server('crm')] });
  await hosted.type('Who?', 4);
  t.same(offered, ['find']);
  t.same(called, [['https://crm', 'find', { id: 7 }]]);
  exactly(t, hosted.items[1], { type: 'tool_call', toolName: 'find', toolSource: 'mcp', input: '{"id":7}' });
  exactly(t, hosted.items[2], { type: 'tool_result', status: 'completed', output: 'Ada' });
  t.equal(hosted.messages[3], 'assistant: Told: Ada');
  t.same(
    hosted.sent.map(({ type }) => type),
    ['tool.started', 'tool.completed'],
  );
  await hosted.over();
  t.same(closed, ['https://crm']);
});

t.test('names that are taken have their server’s before them; ours and the owner’s come first', async (t) => {
  const { open, called } = doubles({
    'https://crm': { tools: ['find', 'hang_up_call', 'look', 'my tool'] },
    'https://erp': { tools: ['find'] },
  });
  const { offered, answer } = calling('erp_find');
  const tools = [webhookTool('look'), server('crm'), server('erp')];
  const hosted = joined(t, { answer, mcp: open, tools, hangsUp: true });
  await hosted.type('Go', 4);
  t.same(offered, ['look', 'hang_up_call', 'find', 'crm_hang_up_call', 'crm_look', 'my_tool', 'erp_find']);
  t.same(called, [['https://erp', 'find', {}]]);
});

t.test('only tools that are allowed, and no more than a model can choose from', async (t) => {
  const many = Array.from({ length: LIMITS.mcp.tools }, (_, index) => `t${index}`);
  const { open } = doubles({ 'https://crm': { tools: ['find', 'drop'] }, 'https://erp': { tools: many } });
  const { offered, answer } = calling('find');
  const tools = [server('crm', { allowed_tools: ['find', 'gone'] }), server('erp')];
  await joined(t, { answer, mcp: open, tools }).type('Go', 4);
  t.equal(offered.length, LIMITS.mcp.tools);
  t.same([offered[0], offered.includes('drop')], ['find', false]);
});

t.test('an unreachable server is in the record, and the call continues without its tools', async (t) => {
  const { open } = doubles({
    'https://crm': { tools: new McpError('The server answered HTTP 503') },
    'https://erp': { tools: ['find'] },
  });
  const { offered, answer } = calling('find');
  const hosted = joined(t, { answer, mcp: open, tools: [server('crm'), server('erp')] });
  await hosted.type('Go', 6);
  t.same(offered, ['find']);
  const kept = hosted.items.filter(({ type }) => type !== 'message');
  exactly(t, kept.slice(0, 2), [
    { type: 'tool_call', toolName: 'crm', toolSource: 'mcp', input: '{"method":"tools/list"}' },
    { type: 'tool_result', toolName: 'crm', status: 'failed', error: 'The server answered HTTP 503' },
  ]);
  t.equal(hosted.messages.at(-1), 'assistant: Told: fine');
  t.equal(hosted.sent.length, 2, 'the client hears of calls only');
});

t.test(
  'a failing tool is reported as configured, its arguments are checked, its output is bounded',
  async (t) => {
    const told = async (args: string, double: Double, more: Partial<PlannedTool['definition']> = {}) => {
      const { open, called } = doubles({ 'https://crm': { tools: ['find'], ...double } });
      const hosted = joined(t, {
        answer: calling('find', args).answer,
        mcp: open,
        tools: [server('crm', more)],
      });
      await hosted.type('Go', 4);
      return { last: hosted.messages[3] ?? '', result: hosted.items[2], called };
    };
    const broken = { answers: new McpError('The server reported: no table 7') };
    t.match((await told('{}', broken)).last, /no table 7/);
    const hidden = await told('{}', broken, { error_handling: 'hide' });
    t.notMatch(hidden.last, /table/);
    exactly(t, hidden.result, { status: 'failed', error: 'The server reported: no table 7' });
    t.match((await told('{}', { answers: new TypeError('inner') })).last, /The tool failed/);
    const wrong = await told('[1]', {});
    exactly(t, [wrong.last, wrong.called], [/must be a JSON object/, []]);
    const large = await told('{}', { answers: 'x'.repeat(LIMITS.session.toolOutputBytes + 1) });
    exactly(t, large.result, { outputTruncated: true });
    t.ok(large.last.length < 20_000);
  },
);

t.test(
  'tools that a server adds or removes in mid-call are offered, or no longer, from the next step on',
  async (t) => {
    const servers: Record<string, Double> = { 'https://crm': { tools: ['find'] } };
    const { open, changed } = doubles(servers);
    const { offered, answer } = calling('find');
    const hosted = joined(t, { answer, mcp: open, tools: [server('crm'), webhookTool('look')] });
    await hosted.type('One', 4);
    t.same(offered, ['look', 'find']);
    servers['https://crm'] = { tools: ['find', 'book'] };
    changed.get('https://crm')?.();
    await new Promise((resolve) => setImmediate(resolve));
    await hosted.type('Two', 8);
    t.same(offered, ['look', 'find', 'book']);
    servers['https://crm'] = { tools: new McpError('away') };
    changed.get('https://crm')?.();
    await new Promise((resolve) => setImmediate(resolve));
    await hosted.type('Three', 12);
    t.same(offered, ['look', 'find', 'book'], 'a server that does not answer keeps the tools that it had');
  },
);

t.test('a tool whose schema the model’s server refuses is left out, and the turn is answered', async (t) => {
  const { open } = doubles({ 'https://crm': { tools: ['find', 'odd'] } });
  const rows: readonly (readonly [why: string, left: readonly string[]])[] = [
    ["Invalid schema for function 'odd': array schema missing items.", ['look', 'find']],
    ['tools[2].function.parameters: unsupported keyword', ['look', 'find']],
    ['JSON schema conversion failed: unrecognized schema', ['look']],
  ];
  for (const [message, left] of rows) {
    const offered: string[][] = [];
    const answer: Answer = async function* (request) {
      offered.push(request.tools.map(({ name }) => name));
      if (request.tools.some(({ name }) => name === 'odd'))
        throw new ServiceError('provider_failed', { status: 400, message });
      yield { kind: 'text', text: 'Yes.' };
    };
    const hosted = joined(t, { answer, mcp: open, tools: [server('crm'), webhookTool('look')] });
    await hosted.type('One', 2 + 2 * (3 - left.length));
    t.strictSame(offered, [['look', 'find', 'odd'], left], message);
    exactly(t, hosted.items.at(-2), { type: 'tool_result', status: 'failed', error: /refuses this tool/ });
    t.equal(hosted.messages.at(-1), 'assistant: Yes.');
  }
});

t.test('a refusal that is about no tool fails the turn, with all tools still offered', async (t) => {
  const { open } = doubles({ 'https://crm': { tools: ['find'] } });
  let asked = 0;
  const answer: Answer = async function* () {
    asked += 1;
    if (asked > 0)
      throw new ServiceError('provider_failed', { status: 400, message: 'The model does not exist' });
    yield { kind: 'text', text: '' };
  };
  const hosted = joined(t, { answer, mcp: open, tools: [server('crm')] });
  await hosted.type('One', 2);
  exactly(t, hosted.items[1], { error: 'provider_failed' });
  t.equal(asked, 1);
});
