/**
 * The tools of an agent's MCP servers, listed as a conversation begins (docs/contract/platform.md 6.5). A server that does
 * not answer in time is left out.
 */
import type { Clock } from '../../../contracts/clock.js';
import { serversToolName } from '../../../contracts/tools/function-names.js';
import { LIMITS } from '../../../contracts/limits.js';
import { isPlainObject } from '../../../contracts/schemas/plain-object.js';
import type { ChatTool } from '../../../contracts/ports/chat.js';
import type { McpServer, OpenMcp } from '../../../contracts/ports/agents/mcp.js';
import { OutboundError } from '../../../contracts/ports/outbound.js';
import type { PlannedTool } from '../../../contracts/ports/sessions/sessions.js';
import type { ToolCredentials } from '../../../contracts/ports/agents/tools.js';
import { parseArguments } from './arguments.js';
import { type ConversationTool, failure } from './tool.js';

export interface McpParts {
  readonly mcp: OpenMcp;
  readonly credentials: ToolCredentials;
  readonly clock: Clock;
}

/** A server with its tools, or why there are none. */
export type Listed = { readonly planned: PlannedTool } & (
  | { readonly server: McpServer; readonly tools: readonly ChatTool[] }
  | { readonly error: unknown }
);

async function list(planned: PlannedTool, parts: McpParts, signal: AbortSignal): Promise<Listed> {
  const { toolId: id, definition } = planned;
  const { url, timeout_seconds: seconds, allowed_tools: allowed } = definition;
  let server: McpServer | undefined;
  try {
    const headers = await parts.credentials.headersOf({ id, definition });
    server = parts.mcp({ url, headers, timeoutMs: seconds * 1000 });
    const tools = await server.list(signal);
    const wanted = tools.filter(({ name }) => allowed.length === 0 || allowed.includes(name));
    return { planned, server, tools: wanted };
  } catch (error) {
    server?.close();
    return { planned, error };
  }
}

/** Lists all servers in parallel, within `LIMITS.mcp.listMs`. `signal`: aborted when nobody waits any more. Never rejects. */
export async function listServers(
  planned: readonly PlannedTool[],
  parts: McpParts,
  signal: AbortSignal,
): Promise<readonly Listed[]> {
  const { listMs } = LIMITS.mcp;
  const late = new AbortController();
  const message = `The server did not list its tools within ${listMs / 1000} s`;
  const stop = parts.clock.after(listMs, () => late.abort(new OutboundError('timeout', message)));
  const either = AbortSignal.any([late.signal, signal]);
  const listed = await Promise.all(planned.map((each) => list(each, parts, either)));
  stop();
  return listed;
}

const toolOf = (
  name: string,
  tool: ChatTool,
  { definition }: PlannedTool,
  server: McpServer,
): ConversationTool => ({
  ...tool,
  name,
  source: 'mcp',
  hidesErrors: definition.error_handling === 'hide',
  besideSpeech: definition.while_speaking,
  async run(args, { signal }) {
    const given = parseArguments(args);
    if (!isPlainObject(given)) return failure('The arguments must be a JSON object');
    const { ok, text } = await server.call(tool.name, given, signal);
    return { ok, output: text };
  },
});

/** The tools of the servers, `LIMITS.mcp.tools` at most, under names that are not `taken`. */
export function serverTools(
  listed: readonly Listed[],
  taken: ReadonlySet<string>,
): readonly ConversationTool[] {
  const names = new Set(taken);
  return listed
    .flatMap((each) => ('tools' in each ? each.tools.map((tool) => ({ ...each, tool })) : []))
    .slice(0, LIMITS.mcp.tools)
    .map(({ planned, server, tool }) => {
      const owner = { id: planned.toolId, name: planned.functionName };
      return toolOf(serversToolName(tool.name, owner, names), tool, planned, server);
    });
}
