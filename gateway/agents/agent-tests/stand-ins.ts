/**
 * Replaces an agent's tools by the mocks of a scenario, so that a test reaches no other system unless it says so. Built-in
 * tools, which end or hand over the call, work unless they are mocked.
 */
import type { ChatTool } from '../../../contracts/ports/chat.js';
import type { McpServer, OpenMcp } from '../../../contracts/ports/agents/mcp.js';
import type { SessionPlan } from '../../../contracts/ports/sessions/sessions.js';
import type { ScenarioDefinition, ToolMock } from '../../../contracts/schemas/agent-tests.js';
import { type ConversationTool, failure, type ToolResult } from '../conversations/tools/tool.js';
import { argumentsIn, fits, isTool } from './arguments.js';

type Mocked = Pick<ScenarioDefinition, 'tool_mocks' | 'unmocked_tools'>;

/** Missing required arguments, checked as for a real tool. */
function missing({ parameters }: ConversationTool, given: object): readonly string[] {
  const { required = [] } = parameters as { readonly required?: readonly string[] };
  return required.filter((name) => !Object.hasOwn(given, name));
}

const answerOf = ({ output, fails = false }: ToolMock): ToolResult => ({ ok: !fails, output });

/** The tool with its mocks; `otherwise` handles calls that match none of them. */
const mockedTool = (
  tool: ConversationTool,
  mocks: readonly ToolMock[],
  otherwise: ConversationTool['run'],
): ConversationTool => ({
  ...tool,
  run(args, use) {
    const given = argumentsIn(args);
    const absent = missing(tool, given);
    if (absent.length > 0) return Promise.resolve(failure(`Missing: ${absent.join(', ')}`));
    const mock = mocks.find((each) => fits(given, each.arguments));
    return mock ? Promise.resolve(answerOf(mock)) : otherwise(args, use);
  },
});

const refuse: ConversationTool['run'] = () => Promise.resolve(failure('No mock of the test fits this call'));

/** Gives, for each tool, the one that the conversation calls instead. */
export function standInFor({ tool_mocks: mocks, unmocked_tools: unmocked }: Mocked) {
  return (tool: ConversationTool): ConversationTool => {
    const own = mocks.filter((mock) => isTool(mock.tool, tool.name));
    if (own.length === 0 && tool.source === 'builtin') return tool;
    // A test has no client that could answer.
    const isCalled = unmocked === 'call' && tool.source !== 'client';
    const run: ConversationTool['run'] = isCalled ? (args, use) => tool.run(args, use) : refuse;
    return mockedTool(tool, own, run);
  };
}

const parametersOf = ({ arguments: wanted = {} }: ToolMock): object => ({
  type: 'object',
  properties: Object.fromEntries(Object.keys(wanted).map((name) => [name, { type: 'string' }])),
});

const toolOf = (mock: ToolMock): ChatTool => ({
  name: mock.tool,
  description: mock.description ?? '',
  parameters: parametersOf(mock),
});

/** A server that lists the tools of the mocks, once each; its own `call` only reports that no mock fits. */
const mockedServer = (mocks: readonly ToolMock[]): McpServer => ({
  list: () => Promise.resolve([...new Map(mocks.map((mock) => [mock.tool, toolOf(mock)])).values()]),
  call: () => Promise.resolve({ ok: false, text: 'No mock of the test fits this call' }),
  close: () => undefined,
});

/** Replaces MCP servers by mocks; real ones are used if the test says so, except for mocked tools. */
export function mcpFor(
  { tool_mocks: mocks, unmocked_tools: unmocked }: Mocked,
  { tools }: Pick<SessionPlan, 'tools'>,
  real: OpenMcp,
): OpenMcp {
  return (target) => {
    const names = tools.filter(({ definition }) => definition.url === target.url);
    const own = mocks.filter(({ server }) => names.some(({ definition }) => definition.name === server));
    return own.length === 0 && unmocked === 'call' ? real(target) : mockedServer(own);
  };
}
