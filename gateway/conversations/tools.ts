/**
 * Tools in a conversation: webhooks through the outbound guard, client tools over the data channel, and hanging up
 * (docs/contract/platform.md 6.5; docs/contract/platform.md 6.5, 6.9). Every call starts once and ends once, whatever happens.
 */
import type { ChatTool, ToolCall } from '../../contracts/ports/chat.js';
import { type Outbound, OutboundError } from '../../contracts/ports/outbound.js';
import type { PlannedTool, SessionPlan } from '../../contracts/ports/sessions.js';
import type { ToolCredentials } from '../../contracts/ports/tools.js';
import type { Clock } from '../../contracts/clock.js';
import { ServiceError } from '../../contracts/errors.js';
import { LIMITS } from '../../contracts/limits.js';
import { toolRequest } from '../../contracts/tool-request.js';
import { checkArguments, parametersOf } from './arguments.js';
import { AGENT_EVENTS, type ToolNote } from './client-events.js';
import type { Dialogue } from './dialogue.js';

const HANG_UP = 'hang_up_call';

const HANG_UP_TOOL: ChatTool = {
  name: HANG_UP,
  description:
    'Ends the call. Say goodbye first. Use it when the caller wants to end the call or all is done.',
  parameters: { type: 'object', properties: {}, additionalProperties: false },
};

/** Most characters of an output that a model is told. */
const TOLD = 16_000;

export interface ToolParts {
  readonly outbound: Outbound;
  readonly credentials: ToolCredentials;
  readonly clock: Clock;
  readonly dialogue: Dialogue;
  /** To the client. */
  send(event: object): void;
  /** A tool runs: what it does cannot be taken back. */
  acted(): void;
  hangUp(): void;
}

interface Result {
  readonly ok: boolean;
  readonly output: string;
  readonly truncated?: boolean;
}

interface Waiting {
  answer(result: Result): void;
}

const failure = (output: string): Result => ({ ok: false, output });
const OUTPUT_BYTES = LIMITS.session.toolOutputBytes;

export class ConversationTools {
  readonly offered: readonly ChatTool[];
  readonly #byName: ReadonlyMap<string, PlannedTool>;
  /** An owner's tool of that name goes before ours. */
  readonly #hangsUp: boolean;
  readonly #waiting = new Map<string, Waiting>();
  readonly #running = new Set<Promise<unknown>>();
  #count = 0;

  constructor(
    private readonly plan: SessionPlan,
    private readonly parts: ToolParts,
  ) {
    const { tools } = plan.config;
    const planned = tools.enabled ? plan.tools : [];
    this.#byName = new Map(planned.map((tool) => [tool.functionName, tool]));
    this.#hangsUp = tools.system_tools.hang_up_call && !this.#byName.has(HANG_UP);
    this.offered = [
      ...planned.map(({ functionName, definition }) => ({
        name: functionName,
        description: definition.description,
        parameters: parametersOf(definition),
      })),
      ...(this.#hangsUp ? [HANG_UP_TOOL] : []),
    ];
  }

  /** Runs all calls of a step side by side. Resolves when each has ended. */
  async run(calls: readonly ToolCall[], signal: AbortSignal): Promise<void> {
    this.parts.acted();
    const running = Promise.all(calls.map((call) => this.#call(call, signal)));
    this.#running.add(running);
    await running.finally(() => this.#running.delete(running));
  }

  /** Whether these calls hang up and do nothing else. */
  hangUp(calls: readonly ToolCall[]): boolean {
    return this.#hangsUp && calls.every(({ name }) => name === HANG_UP);
  }

  /** Resolves when every call has ended. */
  async settled(): Promise<void> {
    await Promise.all(this.#running);
  }

  /** A client tool's result. */
  answered(callId: string, value: unknown, isError: boolean): void {
    const output = typeof value === 'string' ? value : JSON.stringify(value ?? null);
    this.#waiting.get(callId)?.answer({ ok: !isError, output });
  }

  async #call(call: ToolCall, signal: AbortSignal): Promise<void> {
    const tool = this.#byName.get(call.name);
    const toolSource = this.hangUp([call]) ? 'builtin' : (tool?.definition.tool_type ?? 'unknown');
    const note: ToolNote = { callId: `call_${++this.#count}`, toolName: call.name, toolSource };
    this.parts.dialogue.called(note.callId, note.toolName, toolSource, call.arguments);
    this.#tell(AGENT_EVENTS.toolStarted(note, call.arguments));
    const since = this.parts.clock.monotonic();
    const result = await this.#run(call, tool, note, signal).catch(() => failure('The tool failed'));
    this.#finish(call, tool, note, result, this.parts.clock.monotonic() - since);
  }

  #run(call: ToolCall, tool: PlannedTool | undefined, note: ToolNote, signal: AbortSignal): Promise<Result> {
    if (note.toolSource === 'builtin') {
      this.parts.hangUp();
      return Promise.resolve({ ok: true, output: 'The call ends' });
    }
    if (!tool) return Promise.resolve(failure(`There is no tool ${call.name}`));
    const checked = checkArguments(call.arguments, tool.definition);
    if ('problem' in checked) return Promise.resolve(failure(checked.problem));
    return tool.definition.tool_type === 'client'
      ? this.#askClient(tool, note, checked.values, signal)
      : this.#fetch(tool, checked.values, signal);
  }

  async #fetch(
    tool: PlannedTool,
    values: Readonly<Record<string, unknown>>,
    signal: AbortSignal,
  ): Promise<Result> {
    const { definition, toolId: id } = tool;
    try {
      const headers = await this.parts.credentials.headersOf({ id, definition });
      const request = toolRequest(definition, headers, values);
      const reply = await this.parts.outbound.fetch({ ...request, captureBytes: OUTPUT_BYTES, signal });
      const ok = reply.status >= 200 && reply.status < 300;
      const output = Buffer.from(reply.body).toString();
      return { ok, output: ok ? output : `HTTP ${reply.status}: ${output}`, truncated: reply.truncated };
    } catch (error) {
      if (error instanceof OutboundError || error instanceof ServiceError) return failure(error.message);
      throw error;
    }
  }

  /** The client has as long as the tool allows; a call that is broken off is answered by nobody. */
  #askClient(tool: PlannedTool, note: ToolNote, values: object, signal: AbortSignal): Promise<Result> {
    const { expects_response: expects, timeout_seconds: seconds } = tool.definition;
    this.parts.send(AGENT_EVENTS.clientToolCall(note.callId, note.toolName, values, expects));
    if (!expects) return Promise.resolve({ ok: true, output: '' });
    return new Promise((resolve) => {
      const answer = (result: Result): void => {
        stopTimer();
        signal.removeEventListener('abort', cancelled);
        this.#waiting.delete(note.callId);
        resolve(result);
      };
      const cancelled = (): void => answer(failure('The call was cancelled'));
      const late = failure(`The client did not answer within ${seconds} s`);
      const stopTimer = this.parts.clock.after(seconds * 1000, () => answer(late));
      this.#waiting.set(note.callId, { answer });
      if (signal.aborted) cancelled();
      else signal.addEventListener('abort', cancelled);
    });
  }

  #finish(call: ToolCall, tool: PlannedTool | undefined, note: ToolNote, result: Result, ms: number): void {
    const { ok, output, truncated = false } = result;
    const cut = output.slice(0, OUTPUT_BYTES);
    const hidden = !ok && tool?.definition.error_handling === 'hide';
    const told = ok
      ? cut.slice(0, TOLD)
      : JSON.stringify({ error: hidden ? 'The tool failed' : cut.slice(0, TOLD) });
    this.parts.dialogue.result(
      {
        ...note,
        status: ok ? 'completed' : 'failed',
        output: ok ? cut : '',
        outputTruncated: truncated || cut.length < output.length,
        error: ok ? null : cut,
        latencyMs: Math.round(ms),
      },
      told,
      call.id,
    );
    this.#tell(
      ok
        ? AGENT_EVENTS.toolCompleted(note, cut)
        : AGENT_EVENTS.toolFailed(note, hidden ? 'The tool failed' : cut),
    );
  }

  #tell(event: object): void {
    if (this.plan.toolEvents) this.parts.send(event);
  }
}
