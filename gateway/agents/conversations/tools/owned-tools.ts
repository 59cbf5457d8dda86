/** The tools that an agent's owner has configured one by one: endpoints and functions of the client. */
import type { Clock } from '../../../../contracts/clock.js';
import { LIMITS } from '../../../../contracts/limits.js';
import type { Outbound } from '../../../../contracts/ports/outbound.js';
import { askingNobody, type AskOfAccount } from '../../../../contracts/ports/parts.js';
import type { PlannedTool, SessionPlan } from '../../../../contracts/ports/sessions/sessions.js';
import type { ToolCredentials } from '../../../../contracts/ports/agents/tools.js';
import { replyText } from '../../../../contracts/outbound/reply-text.js';
import { isReading, keyed, toolRequest } from '../../../../contracts/tools/request.js';
import type { PlainObject } from '../../../../contracts/schemas/plain-object.js';
import { checkArguments, parametersOf, readArguments } from './arguments.js';
import { AGENT_EVENTS } from '../client/events.js';
import { type ConversationTool, failure, type ToolResult, type ToolUse, undecided } from './tool.js';

/** The part of a tool that the agent's owner has configured. */
function described(
  { functionName, definition, parameters }: PlannedTool,
  run: (values: PlainObject, use: ToolUse) => Promise<ToolResult>,
): Omit<ConversationTool, 'source' | 'act'> {
  return {
    name: functionName,
    description: definition.description,
    parameters: parameters ?? parametersOf(definition),
    hidesErrors: definition.error_handling === 'hide',
    besideSpeech: definition.while_speaking || definition.execution_mode === 'fire_and_forget',
    isForgotten: definition.execution_mode === 'fire_and_forget',
    run: async (args, use) => {
      const checked = parameters ? readArguments(args) : checkArguments(args, definition);
      return 'problem' in checked ? failure(checked.problem) : run(checked.values, use);
    },
  };
}

export interface EndpointParts {
  readonly outbound: Outbound;
  readonly credentials: ToolCredentials;
  /** Told what came of each request. */
  readonly asks?: AskOfAccount;
}

/** A webhook tool: one request through the outbound guard. */
export function webhookTool(
  planned: PlannedTool,
  { outbound, credentials, asks = askingNobody }: EndpointParts,
  system: SessionPlan['system'],
): ConversationTool {
  const { toolId: id, definition } = planned;
  const run = async (values: PlainObject, { signal, key }: ToolUse): Promise<ToolResult> => {
    const headers = keyed(await credentials.headersOf({ id, definition }), key);
    const request = toolRequest(definition, headers, values, system);
    const captureBytes = LIMITS.session.toolOutputBytes;
    const question = asks('tool', request.url);
    const reply = await outbound.fetch({ ...request, captureBytes, signal }).catch((error: unknown) => {
      question.ended(error, signal);
      throw error;
    });
    question.answered(reply.status);
    const ok = reply.status >= 200 && reply.status < 300;
    const output = replyText(reply);
    return { ok, output: ok ? output : `HTTP ${reply.status}: ${output}`, truncated: reply.truncated };
  };
  const act = isReading(definition) ? 'read' : 'effect';
  return { ...described(planned, run), source: 'webhook', act };
}

interface Waiting {
  answer(result: ToolResult): void;
}

/** A client's result as text for the model. A message may nest it more deeply than can be written as JSON. */
function resultOf(value: unknown, isError: boolean): ToolResult {
  try {
    return { ok: !isError, output: typeof value === 'string' ? value : JSON.stringify(value ?? null) };
  } catch {
    return failure('The result is nested too deep');
  }
}

/** The tools of a client: calls go to it as events, and its answers come back by the call's id. */
export class ClientTools {
  readonly #waiting = new Map<string, Waiting>();

  constructor(
    private readonly clock: Clock,
    private readonly send: (event: object) => void,
  ) {}

  tool(planned: PlannedTool): ConversationTool {
    const run = (values: PlainObject, use: ToolUse): Promise<ToolResult> => this.#ask(planned, values, use);
    return { ...described(planned, run), source: 'client', act: 'effect' };
  }

  /** A client tool's result. */
  answered(callId: string, value: unknown, isError: boolean): void {
    this.#waiting.get(callId)?.answer(resultOf(value, isError));
  }

  /** Waits for the client as long as the tool allows, or until the call ends. */
  #ask(
    { functionName, definition }: PlannedTool,
    values: PlainObject,
    { callId, signal }: ToolUse,
  ): Promise<ToolResult> {
    const { expects_response: expects, timeout_seconds: seconds } = definition;
    this.send(AGENT_EVENTS.clientToolCall(callId, functionName, values, expects));
    if (!expects) return Promise.resolve({ ok: true, output: '' });
    return new Promise((resolve) => {
      const answer = (result: ToolResult): void => {
        stopTimer();
        signal.removeEventListener('abort', cancelled);
        this.#waiting.delete(callId);
        resolve(result);
      };
      const cancelled = (): void => answer(undecided('The call ended before the client answered'));
      const late = undecided(`The client did not answer within ${seconds} s`);
      const stopTimer = this.clock.after(seconds * 1000, () => answer(late));
      this.#waiting.set(callId, { answer });
      if (signal.aborted) cancelled();
      else signal.addEventListener('abort', cancelled);
    });
  }
}
