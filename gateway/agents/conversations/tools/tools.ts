/**
 * The tools of a conversation (docs/contract/platform.md 6.5, 6.9): those that the agent in charge offers, whatever their kind
 * and source. Their calls run in calling.ts.
 */
import type { Act } from '../../../../actors/agent/effects.js';
import type { ChatTool, ToolCall } from '../../../../contracts/ports/chat.js';
import type { PinnedAgent, PlannedTool, SessionPlan } from '../../../../contracts/ports/sessions/sessions.js';
import type { ToolNote } from '../client/events.js';
import { type CallingParts, ToolCalls } from './calling.js';
import { kindOf, messageOf } from './failures.js';
import { type ListedServer, type McpParts, McpServers } from './mcp-tools.js';
import { refusedTools } from './refused-tools.js';
import { ClientTools, type EndpointParts, webhookTool } from './owned-tools.js';
import { reachableFrom } from './reachable.js';
import { hangUpTool, sendDigitsTool, transferTool } from './system-tools.js';
import { type Consulting, TRANSFER_CALL, transferCallTool } from './transfer-call.js';
import type { ConversationTool, PhoneLine } from './tool.js';

export interface ToolParts extends EndpointParts, McpParts, PhoneLine, CallingParts {
  hangUp(): void;
  readonly consulting: Consulting;
  /** Lets another agent take over. Resolves to the reason of a refusal, as text for the model; undefined if it took over. */
  handOver(target: PinnedAgent, signal: AbortSignal): Promise<string | undefined>;
  /** In writing, and in tests of agents: replaces a tool. Undefined: the model is not offered it. */
  standIn?(tool: ConversationTool): ConversationTool | undefined;
}

export class ConversationTools {
  readonly #tools = new Map<string, ConversationTool>();
  readonly #client: ClientTools;
  /** The MCP servers of the agent in charge. */
  #servers: McpServers;
  /** Also those of agents that were in charge before. */
  readonly #allServers: McpServers[] = [];
  /** Resolves when the tools of the servers are known; undefined until somebody has asked for them. */
  #known: Promise<void> | undefined;
  /** Names of tools that the model's server does not take. */
  readonly #leftOut = new Set<string>();
  readonly #calls: ToolCalls;

  constructor(
    plan: SessionPlan,
    private readonly parts: ToolParts,
  ) {
    this.#calls = new ToolCalls(parts, plan.toolEvents);
    this.#client = new ClientTools(parts.clock, (event) => parts.send(event));
    this.#servers = this.#enter(plan);
  }

  /** Switches to the tools of the agent with this plan, from the next step on. */
  enter(plan: SessionPlan): void {
    this.#servers = this.#enter(plan);
  }

  #enter(plan: SessionPlan): McpServers {
    const { tools } = plan.config;
    this.#tools.clear();
    const planned = tools.enabled ? plan.tools : [];
    const brought = plan.clientTools ?? [];
    const isServer = ({ definition }: PlannedTool): boolean => definition.tool_type === 'mcp';
    for (const tool of planned) if (!isServer(tool)) this.#add(this.#owned(tool, plan.system));
    for (const tool of brought) this.#add(this.#owned(tool, plan.system));
    if (tools.system_tools.hang_up_call) this.#add(hangUpTool(() => this.parts.hangUp()));
    this.#addPhone(plan.config);
    const reachable = reachableFrom(plan);
    if (reachable.length > 0)
      this.#add(transferTool(reachable, (target, signal) => this.parts.handOver(target, signal)));
    const changed = (): void => this.#serversChanged(servers);
    const servers = new McpServers(planned.filter(isServer), this.parts, changed, this.#calls.over);
    this.#allServers.push(servers);
    this.#known = undefined;
    return servers;
  }

  /** The tools that the model may call; waits at first until the MCP servers have listed theirs or their time is up. */
  async offered(): Promise<readonly ChatTool[]> {
    await (this.#known ??= this.#servers.ready.then((listed) => this.#addServers(listed)));
    return [...this.#tools.values()]
      .filter(({ name }) => !this.#leftOut.has(name))
      .map(({ name, description, parameters }) => ({ name, description, parameters }));
  }

  /**
   * The model's server has refused a request, perhaps because of a tool's schema: that tool, or all of the MCP servers if it
   * does not say which, is left out from now on. False if the refusal is about no tool.
   */
  refused(why: string): boolean {
    const offered = [...this.#tools.values()].filter(({ name }) => !this.#leftOut.has(name));
    const refused = refusedTools(why, offered);
    for (const { name, source } of refused) {
      this.#leftOut.add(name);
      this.parts.log.warn(
        { tool: name, source },
        'the language model’s server refuses a tool: the call goes on without it',
      );
      this.#failedToOffer(name, source, `The language model’s server refuses this tool: ${why}`);
    }
    return refused.length > 0;
  }

  /** Whether one of these calls ends the call. */
  hangsUp(calls: readonly ToolCall[]): boolean {
    return calls.some(({ name }) => this.#tools.get(name)?.endsAnswer);
  }

  /** Resolves when the calls of a step may begin; to false if they must not, as the user has spoken since, or `signal` was aborted. */
  mayBegin(calls: readonly ToolCall[], signal: AbortSignal): Promise<boolean> {
    const acts = calls.map(({ name }): Act => this.#tools.get(name)?.act ?? 'read');
    return this.parts.permission.ask(acts, signal);
  }

  /** Runs all calls of a step in parallel. Resolves when each has ended, or runs on by itself; true if nothing is said after them. */
  async run(calls: readonly ToolCall[], signal: AbortSignal): Promise<boolean> {
    const step = calls.map((call) => [this.#tools.get(call.name), call] as const);
    const endsAnswer = step.every(([tool]) => tool?.endsAnswer);
    const handedOver = await this.#calls.run(step, signal);
    return endsAnswer || handedOver;
  }

  /** The conversation has ended. Resolves when every call has, too. */
  async settled(): Promise<void> {
    await this.#calls.settled();
    await Promise.all(this.#allServers.map((servers) => servers.close()));
  }

  /** A client tool's result. */
  answered(callId: string, value: unknown, isError: boolean): void {
    this.#client.answered(callId, value, isError);
  }

  #addPhone({ tools, conversation }: SessionPlan['config']): void {
    const { press, transfer } = this.parts;
    if (press && tools.system_tools.send_digits) this.#add(sendDigitsTool(press));
    const destinations = conversation.transfer_destinations.filter(({ mode }) =>
      transfer?.modes.includes(mode),
    );
    if (transfer && destinations.length > 0)
      this.#add(transferCallTool(destinations, transfer, this.parts.consulting));
  }

  /** Whether the model may transfer the call to somebody on the telephone. */
  get transfersCalls(): boolean {
    return this.#tools.get(TRANSFER_CALL)?.source === 'builtin';
  }

  #add(tool: ConversationTool): void {
    if (this.#tools.has(tool.name)) return;
    const stands = this.parts.standIn ? this.parts.standIn(tool) : tool;
    if (stands) this.#tools.set(tool.name, stands);
  }

  #owned(planned: PlannedTool, system: SessionPlan['system']): ConversationTool {
    return planned.definition.tool_type === 'client'
      ? this.#client.tool(planned)
      : webhookTool(planned, this.parts, system);
  }

  #addServers(listed: readonly ListedServer[]): void {
    this.#addTools();
    for (const each of listed) if ('error' in each) this.#away(each.planned, each.error);
  }

  #addTools(): void {
    for (const tool of this.#servers.tools(new Set(this.#tools.keys()))) this.#add(tool);
  }

  /** A server of the agent in charge offers other tools than before. */
  #serversChanged(servers: McpServers): void {
    if (servers !== this.#servers) return;
    for (const [name, { source }] of this.#tools) if (source === 'mcp') this.#tools.delete(name);
    this.#addTools();
  }

  /** Notes a failed server in the record and in the log, for its owner; the call continues without it. */
  #away({ toolId, functionName }: PlannedTool, error: unknown): void {
    this.parts.log.warn({ tool: toolId, reason: kindOf(error) }, 'an MCP server has listed no tools');
    this.#failedToOffer(functionName, 'mcp', messageOf(error));
  }

  /** Tells the owner in the record that tools are missing in this call. */
  #failedToOffer(toolName: string, toolSource: ConversationTool['source'], error: string): void {
    const note: ToolNote = { callId: this.parts.dialogue.nextCallId(), toolName, toolSource };
    this.parts.dialogue.called(note.callId, toolName, toolSource, '{"method":"tools/list"}');
    this.parts.dialogue.outcome({
      ...note,
      status: 'failed',
      output: '',
      outputTruncated: false,
      error,
      latencyMs: 0,
    });
  }
}
