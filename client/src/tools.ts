/**
 * Client tools: functions of the page that the agent calls. Each call gets one answer: an error if the function is
 * missing, throws, or takes too long (docs/contract/platform.md 6.9).
 */
import { asSessionError, SessionError } from './errors.js';
import { type AgentEvents, encodeEvent, type ToolResult } from './protocol.js';

export interface ToolContext {
  readonly callId: string;
  /** Aborted when the agent no longer waits. */
  readonly signal: AbortSignal;
}

/** As a method, so that a function may say which fields it takes. */
interface Tool {
  run(params: Readonly<Record<string, unknown>>, context: ToolContext): unknown;
}

/** A client's tool. The agent gets its result, or that of its promise, as JSON. Nothing has checked what the agent sends. */
export type ClientTool = Tool['run'];

export type ClientTools = Readonly<Record<string, ClientTool>>;

export const TOOL_LIMITS = { timeoutMs: 15_000, resultBytes: 60_000 } as const;

type Call = AgentEvents['client_tool.call'];

const failure = (callId: string, message: string): ToolResult => ({
  type: 'client_tool.result',
  callId,
  result: message,
  isError: true,
});

/** The answer with a result; an error if the result does not fit into a packet. */
function answerOf(callId: string, result: unknown): ToolResult {
  const answer: ToolResult = { type: 'client_tool.result', callId, result: result ?? null };
  if (encodeEvent(answer).byteLength <= TOOL_LIMITS.resultBytes) return answer;
  return failure(callId, `The result is larger than ${TOOL_LIMITS.resultBytes} bytes`);
}

/** Result of `work`. Rejects with `tool_timeout` when the time is up, even if `work` ignores its signal. */
async function inTime(work: (signal: AbortSignal) => unknown, name: string, timeoutMs: number) {
  const abort = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      const message = `The tool ${name} has not answered within ${timeoutMs / 1000} s`;
      reject(new SessionError('tool_timeout', { message }));
      abort.abort();
    }, timeoutMs);
  });
  try {
    return await Promise.race([late, (async () => work(abort.signal))()]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Runs one call. Returns the answer, undefined if the agent wants none; `failed` gets `tool_failed` and
 * `tool_timeout`. Never rejects.
 */
export async function runTool(
  tools: ClientTools,
  { callId, toolName, params = {}, expectsResponse = true }: Call,
  failed: (error: SessionError) => void,
  timeoutMs: number = TOOL_LIMITS.timeoutMs,
): Promise<ToolResult | undefined> {
  const answered = (answer: ToolResult) => (expectsResponse ? answer : undefined);
  try {
    const tool = Object.hasOwn(tools, toolName) ? tools[toolName] : undefined;
    if (!tool) throw new SessionError('tool_failed', { message: `This client has no tool ${toolName}` });
    const result = await inTime((signal) => tool(params, { callId, signal }), toolName, timeoutMs);
    return answered(answerOf(callId, result));
  } catch (cause) {
    const error = asSessionError('tool_failed', cause);
    failed(error);
    return answered(failure(callId, error.message));
  }
}
