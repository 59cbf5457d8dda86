/** Rules for tools beyond their schema: address, headers, the name of a client's tool (decision 16; rule 9). */
import { LIMITS } from '../../../contracts/limits.js';
import { CONNECTION_HEADERS, type Outbound } from '../../../contracts/ports/outbound.js';
import type { Problem } from '../../../contracts/schemas/check.js';
import type { ToolChange, ToolDefinition } from '../../../contracts/schemas/tools.js';
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

/** Problems of a creation or a change, except those of the name. */
export const toolProblems = (tool: ToolChange, outbound: Pick<Outbound, 'checkUrl'>): Problem[] => [
  ...repeatedNames(tool.arguments ?? [], ['arguments']),
  ...urlProblems(tool, outbound),
  ...typeProblems(tool),
  ...headerProblems(tool),
];
