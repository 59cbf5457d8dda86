/**
 * Calls a tool once, as an agent would, and reports the answer (docs/contract/platform.md 6.5 rule 8; docs/contract/decisions.md
 * "Platform"). Any answer of the endpoint is a result; only a request that makes no sense is an error.
 */
import { type SystemVariables, systemVariables } from '../../../contracts/agents/system-variables.js';
import { ServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import { McpError } from '../../../contracts/ports/agents/mcp.js';
import { OutboundError } from '../../../contracts/ports/outbound.js';
import { replyText } from '../../../contracts/outbound/reply-text.js';
import {
  newTool,
  type ToolDefinition,
  ToolTest,
  ToolTestResult,
  type ToolTestResult as Result,
  UnsavedToolTest,
} from '../../../contracts/schemas/tools.js';
import { firstBytes } from '../../../contracts/text/text.js';
import { toolRequest } from '../../../contracts/tools/request.js';
import { isPlainObject, type PlainObject } from '../../../contracts/schemas/plain-object.js';
import { answers, jsonBody } from '../../server/openapi/openapi-parts.js';
import { json } from '../../server/replies.js';
import { tagged } from '../../server/routes.js';
import { readBody } from './bodies.js';
import { checked } from './checked.js';
import { invalid, problem, refuse, rethrowUnder } from './errors.js';
import type { PlatformParts } from './parts.js';
import { bodyFailures, found, type PlatformHandler, type PlatformRow } from './rows.js';
import { modeProblems, nameProblems, systemProblems, toolProblems } from './tool-check.js';
import { toolIdOf } from './tools.js';

const checkTest = checked(ToolTest);
const checkUnsaved = checked(UnsavedToolTest);

type Headers = Awaited<ReturnType<PlatformParts['tools']['headersOf']>>;

const failed = (error: string, latency: number): Result => ({
  ok: false,
  status_code: null,
  latency_ms: latency,
  response_headers: {},
  response_body: '',
  response_truncated: false,
  error,
});

function checkCallable({ tool_type: type }: ToolDefinition): void {
  if (type !== 'client') return;
  throw new ServiceError('invalid_request', {
    message: 'A client tool runs in the client and cannot be tested here',
  });
}

type Parts = Pick<PlatformParts, 'outbound' | 'mcp' | 'clock'>;

/** Lists all tools of an MCP server; the list is the body of the result. */
async function listServer(
  { url, timeout_seconds: seconds }: ToolDefinition,
  headers: Headers,
  { mcp, clock }: Parts,
  signal: AbortSignal,
): Promise<Result> {
  const since = clock.monotonic();
  const latency = (): number => Math.round(clock.monotonic() - since);
  const server = mcp({ url, headers, timeoutMs: seconds * 1000 });
  try {
    const tools = JSON.stringify({ tools: await server.list(signal) });
    const body = firstBytes(tools, LIMITS.tool.testCaptureBytes);
    const truncated = body.length < tools.length;
    const shown = { response_headers: {}, response_body: body, response_truncated: truncated };
    return { ok: true, status_code: null, latency_ms: latency(), ...shown, error: null };
  } catch (error) {
    if (error instanceof OutboundError || error instanceof McpError) return failed(error.message, latency());
    throw error;
  } finally {
    server.close();
  }
}

/** What HTTP can carry in a header as well. */
const PRINTABLE = /^[\x20-\x7e]{0,256}$/;

/** The values of system variables in a test: empty, but for those of the argument `system`. Errors: `validation_failed`. */
function systemIn({ system }: PlainObject): SystemVariables {
  const given = isPlainObject(system) ? system : {};
  return systemVariables((name) => {
    const value = given[name] ?? '';
    if (typeof value === 'string' && PRINTABLE.test(value)) return value;
    const loc = ['arguments', 'system', name];
    throw invalid([
      problem(loc, `${loc.join('.')} must be a text of at most 256 printable ASCII characters`),
    ]);
  });
}

/** Errors: `invalid_request` if it is a client tool, or the values do not fit its URL; `validation_failed` for those of the system. */
async function call(
  tool: ToolDefinition,
  headers: Headers,
  values: PlainObject,
  parts: Parts,
  signal: AbortSignal,
): Promise<Result> {
  checkCallable(tool);
  if (tool.url === '') return failed('The tool has no URL', 0);
  if (tool.tool_type === 'mcp') return listServer(tool, headers, parts, signal);
  const { outbound, clock } = parts;
  const request = toolRequest(tool, headers, values, systemIn(values));
  const since = clock.monotonic();
  try {
    const reply = await outbound.fetch({ ...request, captureBytes: LIMITS.tool.testCaptureBytes, signal });
    return {
      ok: reply.status >= 200 && reply.status < 300,
      status_code: reply.status,
      latency_ms: Math.round(reply.latencyMs),
      response_headers: { ...reply.headers },
      response_body: replyText(reply),
      response_truncated: reply.truncated,
      error: null,
    };
  } catch (error) {
    if (error instanceof OutboundError) return failed(error.message, Math.round(clock.monotonic() - since));
    throw error;
  }
}

const testSaved: PlatformHandler = async (request, parts, { workspaceId }) => {
  const { arguments: values = {} } = checkTest(await readBody(request));
  const tool = found(await parts.tools.read(toolIdOf(request), workspaceId), 'Tool');
  const headers = await parts.tools.headersOf(tool);
  return json(200, await call(tool.definition, headers, values, parts, request.signal));
};

/** The headers of an unsaved tool, which contain their values in plain text. */
const ownHeaders = (headers: NonNullable<Parameters<typeof newTool>[0]['headers']> = []): Headers =>
  headers.flatMap(({ name, value, kind = 'custom' }): [string, string][] =>
    value ? [[kind === 'custom' ? name : 'Authorization', value]] : [],
  );

const testUnsaved: PlatformHandler = async (request, parts) => {
  const { tool, arguments: values = {} } = checkUnsaved(await readBody(request));
  try {
    refuse([
      ...nameProblems(tool, tool.tool_type),
      ...toolProblems(tool, parts.outbound),
      ...systemProblems(tool),
      ...modeProblems(newTool(tool).definition),
    ]);
  } catch (error) {
    return rethrowUnder('tool', error);
  }
  const { definition } = newTool(tool);
  return json(200, await call(definition, ownHeaders(tool.headers), values, parts, request.signal));
};

const RESULT = answers(200, 'What came back, or why nothing did', ToolTestResult);

export const TOOL_TEST_ROWS: readonly PlatformRow[] = tagged('tools', [
  {
    method: 'POST',
    path: '/v1/agent/tools/{tool_id}/test',
    permission: 'manage',
    handler: testSaved,
    audit: { action: 'tool.tested', subject: 'tool_id' },
    description: {
      summary: 'Test a tool',
      description:
        'Calls the real endpoint with these arguments; mock responses do not intercept it. An MCP server lists its tools.',
      requestBody: jsonBody(ToolTest),
      responses: { ...RESULT, ...bodyFailures(404) },
    },
  },
  {
    method: 'POST',
    path: '/v1/agent/tools/test',
    permission: 'manage',
    handler: testUnsaved,
    audit: { action: 'tool.tested' },
    description: {
      summary: 'Test an unsaved tool',
      description: 'Calls the real endpoint of the tool in the body. Nothing is saved.',
      requestBody: jsonBody(UnsavedToolTest),
      responses: { ...RESULT, ...bodyFailures() },
    },
  },
]);
