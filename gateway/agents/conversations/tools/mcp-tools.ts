/**
 * The tools of an agent's MCP servers, listed as a conversation begins (docs/contract/platform.md 6.5), and again when they change.
 * A server that does not answer in time is left out.
 */
import type { Clock } from '../../../../contracts/clock.js';
import { serversToolName } from '../../../../contracts/tools/function-names.js';
import { LIMITS } from '../../../../contracts/limits.js';
import { isPlainObject } from '../../../../contracts/schemas/plain-object.js';
import type { ChatTool } from '../../../../contracts/ports/chat.js';
import type { Log } from '../../../../contracts/log.js';
import type { McpServer, McpTarget, OpenMcp } from '../../../../contracts/ports/agents/mcp.js';
import { OutboundError } from '../../../../contracts/ports/outbound.js';
import { asked, askingNobody, type AskOfAccount } from '../../../../contracts/ports/parts.js';
import type { PlannedTool } from '../../../../contracts/ports/sessions/sessions.js';
import type { ToolCredentials } from '../../../../contracts/ports/agents/tools.js';
import { remark } from '../remarks.js';
import { parseArguments } from './arguments.js';
import { type ConversationTool, failure } from './tool.js';

export interface McpParts {
  readonly mcp: OpenMcp;
  readonly credentials: ToolCredentials;
  /** Told what came of each request. */
  readonly asks?: AskOfAccount;
  readonly clock: Clock;
  readonly log: Log;
}

/** A server with its tools, or why there are none. */
export type ListedServer = { readonly planned: PlannedTool } & (
  | { readonly server: McpServer; readonly tools: readonly ChatTool[] }
  | { readonly error: unknown }
);

/** The tools that its owner allows. */
function wanted({ definition: { allowed_tools: allowed } }: PlannedTool, tools: readonly ChatTool[]) {
  return tools.filter(({ name }) => allowed.length === 0 || allowed.includes(name));
}

const namesIn = (tools: readonly ChatTool[]): string => tools.map(({ name }) => name).join('\n');

/** A server whose answers are told. */
const watched = (server: McpServer, url: string, asks: AskOfAccount = askingNobody): McpServer => ({
  list: (signal) => asked(asks('mcp', url), () => server.list(signal), signal),
  call: (name, args, signal, key) =>
    asked(asks('mcp', url), () => server.call(name, args, signal, key), signal),
  close: () => server.close(),
});

/** The servers of one agent, listed in parallel within `LIMITS.mcp.listMs`, and again when one of them says that its tools have changed. */
export class McpServers {
  /** Resolves when all have answered, or their time is up. Never rejects. */
  readonly ready: Promise<readonly ListedServer[]>;
  #current: readonly ListedServer[] = [];

  constructor(
    planned: readonly PlannedTool[],
    private readonly parts: McpParts,
    /** Called after a server has listed other tools than before. */
    private readonly changed: () => void,
    /** Aborted when nobody waits any more. */
    private readonly signal: AbortSignal,
  ) {
    this.ready = Promise.all(planned.map((each) => this.#open(each))).then((all) => (this.#current = all));
  }

  /** The tools of the servers, `LIMITS.mcp.tools` at most, under names that are not `taken`. */
  tools(taken: ReadonlySet<string>): readonly ConversationTool[] {
    const names = new Set(taken);
    return this.#current
      .flatMap((each) => ('tools' in each ? each.tools.map((tool) => ({ ...each, tool })) : []))
      .slice(0, LIMITS.mcp.tools)
      .map(({ planned, server, tool }) => {
        const owner = { id: planned.toolId, name: planned.functionName };
        return toolOf(serversToolName(tool.name, owner, names), tool, planned, server);
      });
  }

  /** Ends the use of all of them. Never rejects. */
  async close(): Promise<void> {
    for (const each of await this.ready) if ('server' in each) each.server.close();
  }

  async #open(planned: PlannedTool): Promise<ListedServer> {
    const { toolId: id, definition } = planned;
    const { url, timeout_seconds: seconds } = definition;
    let server: McpServer | undefined;
    try {
      const headers = await this.parts.credentials.headersOf({ id, definition });
      const changed = (): void => void this.#again(planned);
      const mended: McpTarget['mended'] = (what) =>
        remark(this.parts.log, what === 'session' ? 'mcpLost' : 'mcpResumed', { tool: id });
      server = watched(
        this.parts.mcp({ url, headers, timeoutMs: seconds * 1000, changed, mended }),
        url,
        this.parts.asks,
      );
      return { planned, server, tools: wanted(planned, await this.#listOf(server)) };
    } catch (error) {
      server?.close();
      return { planned, error };
    }
  }

  /** Errors: those of `list`; a timeout after `LIMITS.mcp.listMs`. */
  async #listOf(server: McpServer): Promise<readonly ChatTool[]> {
    const { listMs } = LIMITS.mcp;
    const late = new AbortController();
    const message = `The server did not list its tools within ${listMs / 1000} s`;
    const stop = this.parts.clock.after(listMs, () => late.abort(new OutboundError('timeout', message)));
    try {
      return await server.list(AbortSignal.any([late.signal, this.signal]));
    } finally {
      stop();
    }
  }

  /** Lists the tools of one server anew; the old ones stay if that fails. */
  async #again(planned: PlannedTool): Promise<void> {
    const before = (await this.ready).find((each) => each.planned === planned);
    if (!before || !('server' in before) || this.signal.aborted) return;
    const tools = await this.#listOf(before.server).catch(() => undefined);
    if (!tools || this.signal.aborted) return;
    const after = { ...before, tools: wanted(planned, tools) };
    if (namesIn(after.tools) !== namesIn(before.tools))
      remark(this.parts.log, 'mcpChanged', { tool: planned.toolId });
    this.#current = this.#current.map((each) => (each.planned === planned ? after : each));
    this.changed();
  }
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
  // Whether it only reads is the server's word, which it may change.
  act: 'effect',
  hidesErrors: definition.error_handling === 'hide',
  besideSpeech: definition.while_speaking,
  async run(args, { signal, key }) {
    const given = parseArguments(args);
    if (!isPlainObject(given)) return failure('The arguments must be a JSON object');
    const { ok, text } = await server.call(tool.name, given, signal, key);
    return { ok, output: text };
  },
});
