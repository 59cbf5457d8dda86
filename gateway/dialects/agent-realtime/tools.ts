/** Functions that a client brings along: the agent calls them as it calls its own client tools. */
import { LIMITS } from '../../../contracts/limits.js';
import { ServiceError } from '../../../contracts/errors.js';
import type { PlannedTool } from '../../../contracts/ports/sessions/sessions.js';
import { isPlainObject, type PlainObject } from '../../../contracts/schemas/plain-object.js';
import { completeTool } from '../../../contracts/schemas/tools.js';
import { Fault } from '../protocol-a/realtime/faults.js';

const NAME = /^[a-zA-Z0-9_-]{1,64}$/;
const NO_ARGUMENTS = { type: 'object', properties: {} };

const invalid = (message: string, param: string): Fault => new Fault('invalid_event', message, param);

function readTool(value: unknown, param: string): PlannedTool {
  if (!isPlainObject(value)) throw invalid(`${param} must be an object`, param);
  const { type, name, description = '', parameters = NO_ARGUMENTS } = value;
  if (type !== 'function') {
    const message = 'Only functions are taken: other tools belong to the agent';
    throw new ServiceError('unsupported_option', { message, param: `${param}.type` });
  }
  if (typeof name !== 'string' || !NAME.test(name))
    throw invalid(`${param}.name must have 1 to 64 letters, digits, _ and -`, `${param}.name`);
  if (typeof description !== 'string' || description.length > LIMITS.agentRealtime.toolDescription)
    throw invalid(
      `${param}.description must be text of at most ${LIMITS.agentRealtime.toolDescription} characters`,
      `${param}.description`,
    );
  if (!isPlainObject(parameters))
    throw invalid(`${param}.parameters must be a JSON Schema`, `${param}.parameters`);
  return planned(name, description, parameters);
}

const planned = (name: string, description: string, parameters: PlainObject): PlannedTool => ({
  toolId: name,
  functionName: name,
  parameters,
  definition: completeTool({
    ...{ name, description, tool_type: 'client', expects_response: true },
    timeout_seconds: LIMITS.tool.timeoutSeconds.default,
  } as PlannedTool['definition']),
});

/** Errors: `Fault`, `unsupported_option`. */
export function readTools(value: unknown, param: string): readonly PlannedTool[] {
  if (!Array.isArray(value)) throw invalid(`${param} must be of type array`, param);
  const { tools: most, toolsBytes } = LIMITS.agentRealtime;
  if (value.length > most) throw invalid(`${param} must have at most ${most} entries`, param);
  if (Buffer.byteLength(JSON.stringify(value)) > toolsBytes)
    throw invalid(`${param} must have at most ${toolsBytes} bytes of JSON`, param);
  return value.map((tool, at) => readTool(tool, `${param}.${at}`));
}

const argumentsOf = ({ definition }: PlannedTool): object => ({
  type: 'object',
  properties: Object.fromEntries(
    definition.arguments.map(({ name, description }) => [name, { type: 'string', description }]),
  ),
  required: definition.arguments.map(({ name }) => name),
});

export const showTool = (tool: PlannedTool): object => ({
  type: 'function',
  name: tool.functionName,
  description: tool.definition.description,
  parameters: tool.parameters ?? argumentsOf(tool),
});
