/** The request of a webhook tool's call: templates filled in, headers as stored but for system variables (docs/contract/platform.md 6.5 rules 1 and 2). */
import type { ToolDefinition } from '../schemas/tools.js';
import { renderBody, renderHeader, renderUrl } from './templates.js';

export interface ToolRequest {
  readonly method: ToolDefinition['method'];
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body?: string;
  readonly timeoutMs: number;
}

type Headers = ToolRequest['headers'];

const names = (headers: Headers, wanted: string): boolean =>
  headers.some(([name]) => name.toLowerCase() === wanted);

/** Whether its call changes nothing, as far as the method says. */
export const isReading = ({
  tool_type: type,
  method,
}: Pick<ToolDefinition, 'tool_type' | 'method'>): boolean => type === 'webhook' && method === 'GET';

const KEY_HEADER = 'Idempotency-Key';

/** With the key by which the receiver knows a call that is tried again, unless the owner has set that header. */
export const keyed = (headers: Headers, key: string | undefined): Headers =>
  key === undefined || names(headers, KEY_HEADER.toLowerCase()) ? headers : [...headers, [KEY_HEADER, key]];

type Values = Readonly<Record<string, unknown>>;

/** The headers with the system's values in those of kind `custom`: never in a credential, and nothing else fills any (rule 2). */
const rendered = (headers: Headers, own: ToolDefinition['headers'], system: Values): Headers =>
  headers.map(([name, value]) => {
    const isCustom = own.some(
      (header) => header.kind === 'custom' && header.name === name && header.value === value,
    );
    return isCustom
      ? [name, renderHeader(value, { declared: Object.keys(system), values: system })]
      : [name, value];
  });

/**
 * `stored` are the tool's own headers with its credentials (`ToolCredentials.headersOf`), `system` the values of system
 * variables, which win over arguments. GET carries no body. Errors: `invalid_request` if the values do not fit the URL.
 */
export function toolRequest(
  tool: ToolDefinition,
  stored: Headers,
  values: Values,
  system: Values = {},
): ToolRequest {
  const declared = [...tool.arguments.map(({ name }) => name), ...Object.keys(system)];
  const args = { declared, values: { ...values, ...system } };
  const headers = rendered(stored, tool.headers, system);
  const url = renderUrl(tool.url, args);
  const timeoutMs = tool.timeout_seconds * 1000;
  const body = tool.method === 'GET' ? '' : renderBody(tool.body_template, tool.content_type, args);
  if (body === '') return { method: tool.method, url, headers, timeoutMs };
  const typed: Headers =
    tool.content_type === '' || names(headers, 'content-type')
      ? headers
      : [['content-type', tool.content_type], ...headers];
  return { method: tool.method, url, headers: typed, body, timeoutMs };
}
