/**
 * Tools in a conversation (docs/contract/platform.md 6.5, 6.9): whatever their kind and source, every call starts once and
 * ends once, is recorded, and is reported to the model and to the client within the same bounds.
 */
import type { ChatTool, ToolCall } from '../../../contracts/ports/chat.js';
import { McpError } from '../../../contracts/ports/agents/mcp.js';
import { OutboundError } from '../../../contracts/ports/outbound.js';
import type { PinnedAgent, PlannedTool, SessionPlan } from '../../../contracts/ports/sessions/sessions.js';
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import type { Log } from '../../../contracts/log.js';
import { wellFormed } from '../../../contracts/text/text.js';
import { TOOL_RUNS, toolNews } from '../../../contracts/tools/news.js';
import { AGENT_EVENTS, type ToolNote } from '../client/events.js';
import type { Dialogue } from '../dialogue.js';
import { type Listed, type McpParts, McpServers } from './mcp-tools.js';
import { refusedTools } from './refused-tools.js';
import { ClientTools, type EndpointParts, webhookTool } from './owned-tools.js';
import { reachableFrom } from './reachable.js';
import type { NoteTurn } from '../turns/turn-events.js';
import { hangUpTool, sendDigitsTool, transferTool } from './system-tools.js';
import { type Consulting, TRANSFER_CALL, transferCallTool } from './transfer-call.js';
import { type ConversationTool, failure, type PhoneLine, TOLD, type ToolResult } from './tool.js';

const OUTPUT_BYTES = LIMITS.session.toolOutputBytes;
const BUSY = 'Too many tools run already';
/** Most characters of its arguments that a model is told again when a tool answers later. */
const TOLD_ARGUMENTS = 200;
const HIDDEN = 'The tool failed';

export interface ToolParts extends EndpointParts, McpParts, PhoneLine {
  readonly log: Log;
  readonly dialogue: Dialogue;
  readonly note: NoteTurn;
  /** Number of the running job. */
  job(): number;
  /** Sends to the client. */
  send(event: object): void;
  /** Called when tools start, whose actions cannot be undone. The result reports that all of them have answered. */
  acted(): () => void;
  /** Called when a tool that ran beside the conversation has answered. */
  news(): void;
  hangUp(): void;
  readonly consulting: Consulting;
  /** Lets another agent take over. Resolves to the reason of a refusal, as text for the model; undefined if it took over. */
  handOver(target: PinnedAgent, signal: AbortSignal): Promise<string | undefined>;
  /** In tests of agents: replaces a tool. */
  standIn?(tool: ConversationTool): ConversationTool;
}

/** Message of a failed call, for the model and for the tool's owner. */
const messageOf = (error: unknown): string =>
  error instanceof OutboundError || error instanceof ServiceError || error instanceof McpError
    ? error.message
    : HIDDEN;

/** Kind of a failure, for the log, which quotes nobody's server. */
const kindOf = (error: unknown): string => {
  if (error instanceof OutboundError) return error.failure;
  return error instanceof McpError ? 'protocol' : 'internal';
};

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
  readonly #running = new Set<Promise<unknown>>();
  #beside = 0;
  readonly #over = new AbortController();

  constructor(
    private readonly plan: SessionPlan,
    private readonly parts: ToolParts,
  ) {
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
    const isServer = ({ definition }: PlannedTool): boolean => definition.tool_type === 'mcp';
    for (const tool of planned) if (!isServer(tool)) this.#add(this.#owned(tool));
    if (tools.system_tools.hang_up_call) this.#add(hangUpTool(() => this.parts.hangUp()));
    this.#addPhone(plan.config);
    const reachable = reachableFrom(plan);
    if (reachable.length > 0)
      this.#add(transferTool(reachable, (target, signal) => this.parts.handOver(target, signal)));
    const changed = (): void => this.#serversChanged(servers);
    const servers = new McpServers(planned.filter(isServer), this.parts, changed, this.#over.signal);
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

  /** Runs all calls of a step in parallel. Resolves when each has ended; true if nothing is said after them. */
  async run(calls: readonly ToolCall[], signal: AbortSignal): Promise<boolean> {
    const endsAnswer = calls.every(({ name }) => this.#tools.get(name)?.endsAnswer);
    const returned = this.parts.acted();
    const running = Promise.all(calls.map((call) => this.#call(call, signal)));
    this.#running.add(running);
    const handedOver = await running.finally(() => this.#running.delete(running));
    returned();
    return endsAnswer || handedOver.includes(true);
  }

  /** The conversation has ended. Resolves when every call has, too. */
  async settled(): Promise<void> {
    this.#over.abort();
    await Promise.all(this.#running);
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
    if (!this.#tools.has(tool.name)) this.#tools.set(tool.name, this.parts.standIn?.(tool) ?? tool);
  }

  #owned(planned: PlannedTool): ConversationTool {
    return planned.definition.tool_type === 'client'
      ? this.#client.tool(planned)
      : webhookTool(planned, this.parts);
  }

  #addServers(listed: readonly Listed[]): void {
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
      ...{ ...note, status: 'failed', output: '', outputTruncated: false },
      ...{ error, latencyMs: 0 },
    });
  }

  /** Resolves when the tool has ended, or has begun if it runs beside the conversation. True if somebody else takes over. */
  async #call(call: ToolCall, signal: AbortSignal): Promise<boolean> {
    const tool = this.#tools.get(call.name);
    const toolSource = tool?.source ?? 'unknown';
    const note: ToolNote = { callId: this.parts.dialogue.nextCallId(), toolName: call.name, toolSource };
    this.parts.dialogue.called(note.callId, note.toolName, toolSource, call.arguments);
    this.parts.note({ type: 'toolStarted', job: this.parts.job(), ...note });
    this.#tell(AGENT_EVENTS.toolStarted(note, call.arguments));
    if (tool?.besideSpeech) {
      this.#startBeside(tool, call, note);
      return false;
    }
    const { told, handsOver } = await this.#untilTold(tool, call, note, signal);
    this.parts.dialogue.told(told, call.id);
    return handsOver;
  }

  #startBeside(tool: ConversationTool, call: ToolCall, note: ToolNote): void {
    const { callsBesideSpeech: most } = LIMITS.session;
    const isFull = this.#beside >= most;
    const working = isFull ? { ...tool, run: () => Promise.resolve(failure(BUSY)) } : tool;
    this.parts.dialogue.told(isFull ? JSON.stringify({ error: BUSY }) : TOOL_RUNS, call.id);
    this.#beside += 1;
    const running = this.#untilTold(working, call, note, this.#over.signal).then(({ told }) => {
      this.#beside -= 1;
      this.#running.delete(running);
      if (isFull || this.#over.signal.aborted) return;
      this.parts.dialogue.news(toolNews(call.name, call.arguments.slice(0, TOLD_ARGUMENTS), told));
      this.parts.news();
    });
    this.#running.add(running);
  }

  /** Runs the tool and reports its end to the record and to the client. Resolves to the text for the model. */
  async #untilTold(tool: ConversationTool | undefined, call: ToolCall, note: ToolNote, signal: AbortSignal) {
    const since = this.parts.clock.monotonic();
    const result = await this.#run(tool, call, note, signal);
    const ms = this.parts.clock.monotonic() - since;
    const told = this.#finish(tool?.hidesErrors ?? false, note, result, ms);
    return { told, handsOver: result.handsOver ?? false };
  }

  async #run(
    tool: ConversationTool | undefined,
    call: ToolCall,
    { callId }: ToolNote,
    signal: AbortSignal,
  ): Promise<ToolResult> {
    if (!tool) return failure(`There is no tool ${call.name}`);
    try {
      return await tool.run(call.arguments, { callId, signal });
    } catch (error) {
      return failure(messageOf(error));
    }
  }

  #finish(hides: boolean, note: ToolNote, result: ToolResult, ms: number): string {
    const { ok, truncated = false } = result;
    const output = wellFormed(result.output);
    const cut = output.slice(0, OUTPUT_BYTES);
    const shown = !ok && hides ? HIDDEN : cut;
    const told = shown.slice(0, TOLD);
    this.parts.dialogue.outcome({
      ...note,
      status: ok ? 'completed' : 'failed',
      output: ok ? cut : '',
      outputTruncated: truncated || cut.length < output.length,
      error: ok ? null : cut,
      latencyMs: Math.round(ms),
    });
    this.parts.note({ type: 'toolEnded', callId: note.callId, failed: !ok });
    this.#tell(ok ? AGENT_EVENTS.toolCompleted(note, cut) : AGENT_EVENTS.toolFailed(note, shown));
    return ok ? told : JSON.stringify({ error: told });
  }

  #tell(event: object): void {
    if (this.plan.toolEvents) this.parts.send(event);
  }
}
