/** Rules for tools beyond their schema: address, headers, the name of a client's tool (decision 16; rule 9). */
import { unknownSystemName } from '../../../contracts/agents/system-variables.js';
import { LIMITS } from '../../../contracts/limits.js';
import { CONNECTION_HEADERS, type Outbound } from '../../../contracts/ports/outbound.js';
import type { Problem } from '../../../contracts/schemas/check.js';
import { completeArgument } from '../../../contracts/schemas/tool-arguments.js';
import type { ToolChange, ToolDefinition } from '../../../contracts/schemas/tools.js';
import { typedValue } from '../../../contracts/tools/argument-values.js';
import { misplacedPlaceholder, sampleUrl } from '../../../contracts/tools/templates.js';
import { problem, repeatedNames } from './errors.js';

const CLIENT_NAME = new RegExp(LIMITS.tool.clientNamePattern);
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** A header value that HTTP can carry: no CR, no LF, one byte a character. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
const MEDIA_TYPE = /^[\t\x20-\x7e]*$/;

/** Client tools are called by their name, so it must be a valid function name. */
export function nameProblems({ name }: ToolChange, type: ToolDefinition['tool_type'] = 'webhook'): Problem[] {
  if (type !== 'client' || name === undefined || CLIENT_NAME.test(name)) return [];
  return [problem(['name'], `name of a client tool must match ${LIMITS.tool.clientNamePattern}`, 'pattern')];
}

/** An empty address may be saved; calls to it fail. */
function urlProblems({ url = '' }: ToolChange, outbound: Pick<Outbound, 'checkUrl'>): Problem[] {
  if (url === '') return [];
  const refusal = misplacedPlaceholder(url) ?? outbound.checkUrl(sampleUrl(url));
  return refusal === undefined ? [] : [problem(['url'], `url ${refusal}`, 'url')];
}

function headerProblems({ headers = [] }: ToolChange): Problem[] {
  return headers.flatMap(({ name, value }, index) => {
    const at = (member: string, message: string): Problem =>
      problem(['headers', index, member], `headers.${index}.${member} ${message}`, 'header');
    return [
      ...(HEADER_NAME.test(name) ? [] : [at('name', 'must be the name of a header')]),
      ...(CONNECTION_HEADERS.has(name.toLowerCase())
        ? [at('name', 'must not be a header of the connection')]
        : []),
      ...(HEADER_VALUE.test(value ?? '')
        ? []
        : [at('value', 'must hold no line break and no wide character')]),
    ];
  });
}

function typeProblems({ content_type: type = '' }: ToolChange): Problem[] {
  return MEDIA_TYPE.test(type)
    ? []
    : [problem(['content_type'], 'content_type must be a media type', 'header')];
}

type Texts = Partial<Pick<ToolDefinition, 'url' | 'body_template'>> & Pick<ToolChange, 'headers'>;

/** The texts of a tool in which system variables are filled in: no credentials. */
const filledIn = ({
  url = '',
  body_template: body = '',
  headers = [],
}: Texts): readonly (readonly [Problem['loc'], string])[] => [
  [['url'], url],
  [['body_template'], body],
  ...headers.flatMap(({ kind = 'custom', value }, index): [Problem['loc'], string][] =>
    kind === 'custom' ? [[['headers', index, 'value'], value ?? '']] : [],
  ),
];

/** Unknown system variables. `stored`: the tool before the change, whose own stay as they are. */
export function systemProblems(tool: ToolChange, stored?: ToolDefinition): Problem[] {
  const before = stored
    ? filledIn(stored)
        .map(([, text]) => text)
        .join('\n')
    : '';
  return filledIn(tool).flatMap(([loc, text]) => {
    const why = unknownSystemName(text, before);
    return why === undefined ? [] : [problem(loc, `${loc.join('.')} ${why}`, 'system_variable')];
  });
}

/** Problems of the mode, which are those of a whole tool: a change may be of one half only. */
export function modeProblems(tool: ToolDefinition): Problem[] {
  const { execution_mode: mode, timeout_seconds: seconds, tool_type: type } = tool;
  const { waitedSeconds: most } = LIMITS.tool;
  const longest = `timeout_seconds must be at most ${most} unless execution_mode is background`;
  const late = mode !== 'background' && seconds > most ? [problem(['timeout_seconds'], longest)] : [];
  if (mode !== 'fire_and_forget' || type === 'webhook') return late;
  return [...late, problem(['execution_mode'], 'execution_mode fire_and_forget is for webhook tools')];
}

function choiceProblems({ arguments: args = [] }: ToolChange): Problem[] {
  return args.flatMap((argument, index) => {
    const { type, enum: choices } = completeArgument(argument);
    const at = (why: string): Problem[] => [
      problem(['arguments', index, 'enum'], `arguments.${index}.enum ${why}`, 'enum'),
    ];
    if (!choices) return [];
    if (type === 'boolean') return at('is not for booleans');
    if (choices.some((choice) => typedValue(type, choice) === undefined))
      return at(`must have values of type ${type}`);
    return new Set(choices).size < choices.length ? at('must have each value once') : [];
  });
}

/** Problems of a creation or a change, except those of name, mode and system variables. */
export const toolProblems = (tool: ToolChange, outbound: Pick<Outbound, 'checkUrl'>): Problem[] => [
  ...repeatedNames(tool.arguments ?? [], ['arguments']),
  ...choiceProblems(tool),
  ...urlProblems(tool, outbound),
  ...typeProblems(tool),
  ...headerProblems(tool),
];
