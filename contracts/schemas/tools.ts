/** Tools on the wire (docs/contract/platform.md 6.5; docs/contract/platform.md 6.5). */
import { LIMITS } from '../limits.js';
import { ArgumentChange, completeArgument, ToolArgument } from './tool-arguments.js';
import { leaf, Moment, nullable, strict, text, whole } from './shapes.js';
import { type Static, Type } from './type.js';
import { HasSecret, readOnly, secretChange } from './write-only.js';

const limits = LIMITS.tool;

export const TOOL_TYPES = ['webhook', 'client', 'mcp'] as const;
export const TOOL_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
/** Whether the agent waits for a tool's answer, is told of it later, or never. */
export const EXECUTION_MODES = ['blocking', 'fire_and_forget', 'background'] as const;
export const HEADER_KINDS = ['custom', 'authorization_bearer', 'authorization_basic'] as const;

const MOCK = {
  name: text(limits.mock.name),
  status_code: whole(limits.mock.statusCode),
  content_type: text(limits.mock.contentType),
  body: text(limits.mock.body),
};
const MOCK_DEFAULTS = { name: '', status_code: 200, content_type: 'application/json', body: '' };

const Header = strict({
  name: text(limits.headerName),
  value: leaf(
    text(limits.headerValue, {
      description:
        'Sent as it is, for the authorization kinds with its prefix. Credentials are write-only: absent, or null beside ' +
        '`has_secret: true`, keeps the stored one of the same name and kind; null alone removes it.',
    }),
  ),
  kind: Type.Optional(Type.Enum([...HEADER_KINDS], { default: 'custom' })),
  has_secret: Type.Optional(HasSecret),
});

/** Fields of a tool that a client may set, without its type. */
const FIELDS = {
  name: text(limits.name, {
    description: `Shown to people; the function's name is made from it. That of a client tool must match ${limits.clientNamePattern}.`,
  }),
  description: text(limits.description, {
    description: 'Written for the model: what it does, when to use it.',
  }),
  arguments: Type.Array(ArgumentChange, { maxItems: limits.arguments }),
  method: Type.Enum([...TOOL_METHODS]),
  url: text(limits.url, {
    description:
      'http or https, a public address. `{{argument}}` is replaced, but not in scheme, host or port.',
  }),
  content_type: text(limits.contentType),
  body_template: text(limits.bodyTemplate, {
    description: '`{{argument}}` is replaced, escaped for the type.',
  }),
  headers: Type.Array(Header, { maxItems: limits.headers }),
  timeout_seconds: whole(limits.timeoutSeconds, {
    description: `At most ${limits.waitedSeconds}, unless \`execution_mode\` is \`background\`.`,
  }),
  error_handling: Type.Enum(['passthrough', 'hide']),
  mock_responses: Type.Array(
    strict({
      name: Type.Optional(MOCK.name),
      status_code: Type.Optional(MOCK.status_code),
      content_type: Type.Optional(MOCK.content_type),
      body: Type.Optional(MOCK.body),
    }),
    {
      maxItems: limits.mockResponses,
      description: 'Stored and returned only; calls always go to the address.',
    },
  ),
  expects_response: Type.Boolean({ description: 'Client tools: whether the agent waits for the result.' }),
  execution_mode: Type.Enum([...EXECUTION_MODES], {
    description:
      '`blocking`: the agent waits. `background`: it goes on, and gets the result when it comes. `fire_and_forget` ' +
      '(webhooks): it goes on and never gets it.',
  }),
  while_speaking: Type.Boolean({
    description: 'Whether `execution_mode` is `background`: setting either sets both.',
  }),
  allowed_tools: Type.Array(text(LIMITS.mcp.toolName), {
    maxItems: LIMITS.mcp.allowedTools,
    description: 'MCP servers: the tools that agents may call, by the server’s names; empty for all.',
  }),
};

const optionalFields = {
  description: Type.Optional(FIELDS.description),
  arguments: Type.Optional(FIELDS.arguments),
  method: Type.Optional(FIELDS.method),
  url: Type.Optional(FIELDS.url),
  content_type: Type.Optional(FIELDS.content_type),
  body_template: Type.Optional(FIELDS.body_template),
  headers: Type.Optional(FIELDS.headers),
  timeout_seconds: Type.Optional(FIELDS.timeout_seconds),
  error_handling: Type.Optional(FIELDS.error_handling),
  mock_responses: Type.Optional(FIELDS.mock_responses),
  expects_response: Type.Optional(FIELDS.expects_response),
  execution_mode: Type.Optional(FIELDS.execution_mode),
  while_speaking: Type.Optional(FIELDS.while_speaking),
  allowed_tools: Type.Optional(FIELDS.allowed_tools),
};

const CREATION_EXAMPLE = {
  name: 'Look up an order',
  description: 'Finds an order by its number. Use it when the caller asks where their order is.',
  arguments: [{ name: 'order_id', description: 'The number of the order' }],
  method: 'GET',
  url: 'https://api.example.com/orders/{{order_id}}',
  headers: [{ name: 'Authorization', value: 'Bearer secret', kind: 'authorization_bearer' }],
};

export const ToolCreation = strict(
  {
    name: FIELDS.name,
    tool_type: Type.Optional(
      Type.Enum([...TOOL_TYPES], {
        default: 'webhook',
        description: '`mcp`: `url` is an MCP server (streamable HTTP), whose tools agents call.',
      }),
    ),
    ...optionalFields,
  },
  { examples: [CREATION_EXAMPLE] },
);
export type ToolCreation = Static<typeof ToolCreation>;

/** Read-only fields of a tool. */
const SHOWN = {
  tool_id: readOnly.own,
  workspace_id: readOnly.own,
  tool_type: readOnly.own,
  used_by: readOnly.count,
  created_at: readOnly.text,
  updated_at: readOnly.text,
};

export const ToolChange = strict(
  { name: Type.Optional(FIELDS.name), ...optionalFields, ...SHOWN },
  { examples: [{ timeout_seconds: 10 }] },
);
export type ToolChange = Static<typeof ToolChange>;

/** A tool as a publication freezes it: everything that a call needs, except credentials. */
export const ToolDefinition = Type.Object({
  name: FIELDS.name,
  description: FIELDS.description,
  tool_type: Type.Enum([...TOOL_TYPES]),
  method: FIELDS.method,
  url: FIELDS.url,
  arguments: Type.Array(ToolArgument, { maxItems: limits.arguments }),
  content_type: FIELDS.content_type,
  body_template: FIELDS.body_template,
  headers: Type.Array(
    Type.Object({
      name: text(limits.headerName),
      kind: Type.Enum([...HEADER_KINDS]),
      value: nullable(text(limits.headerValue, { description: 'Null for credentials.' })),
      has_secret: Type.Boolean(),
    }),
    { maxItems: limits.headers },
  ),
  timeout_seconds: FIELDS.timeout_seconds,
  error_handling: FIELDS.error_handling,
  mock_responses: Type.Array(Type.Object(MOCK), { maxItems: limits.mockResponses }),
  expects_response: FIELDS.expects_response,
  execution_mode: FIELDS.execution_mode,
  while_speaking: FIELDS.while_speaking,
  allowed_tools: FIELDS.allowed_tools,
});
export type ToolDefinition = Static<typeof ToolDefinition>;
export type ToolHeader = ToolDefinition['headers'][number];

/** Defaults of fields that creation leaves out. */
const TOOL_DEFAULTS: Omit<ToolDefinition, 'name'> = {
  description: '',
  tool_type: 'webhook',
  method: 'POST',
  url: '',
  arguments: [],
  content_type: 'application/json',
  body_template: '',
  headers: [],
  timeout_seconds: limits.timeoutSeconds.default,
  error_handling: 'passthrough',
  mock_responses: [],
  expects_response: true,
  execution_mode: 'blocking',
  while_speaking: false,
  allowed_tools: [],
};

/** A stored tool, with defaults for fields that are newer than it. */
export function completeTool(stored: ToolDefinition): ToolDefinition {
  const mode = stored.while_speaking && ({ execution_mode: 'background' } as const);
  const whole = { ...TOOL_DEFAULTS, ...mode, ...stored };
  return { ...whole, arguments: whole.arguments.map(completeArgument) };
}

/** A credential of a tool; null to forget it. */
export interface HeaderSecret {
  readonly slot: string;
  readonly secret: string | null;
}

export interface ToolRevision {
  readonly definition: ToolDefinition;
  readonly secrets: readonly HeaderSecret[];
}

/** Header names are case-insensitive; several with one name and kind are matched in order. */
export function headerSlots(headers: readonly Pick<ToolHeader, 'name' | 'kind'>[]): readonly string[] {
  const seen = new Map<string, number>();
  return headers.map(({ name, kind }) => {
    const key = `${kind} ${name.toLowerCase()}`;
    const nth = (seen.get(key) ?? 0) + 1;
    seen.set(key, nth);
    return `${key} ${nth}`;
  });
}

type WantedHeaders = NonNullable<ToolChange['headers']>;

function reviseHeaders(
  current: readonly ToolHeader[],
  wanted: WantedHeaders,
): { readonly headers: ToolHeader[]; readonly secrets: readonly HeaderSecret[] } {
  const known = new Map(headerSlots(current).map((slot, index) => [slot, current[index]]));
  const rows = wanted.map(({ kind = 'custom', has_secret: has, ...header }) => ({
    ...header,
    kind,
    secret: kind === 'custom' ? undefined : secretChange(header.value, has),
  }));
  const slots = headerSlots(rows);
  const headers = rows.map(({ name, kind, value, secret }, index): ToolHeader => {
    const before = known.get(slots[index] ?? '');
    if (kind === 'custom')
      return { name, kind, value: (value === undefined ? before?.value : value) ?? '', has_secret: false };
    const has = secret === undefined ? (before?.has_secret ?? false) : secret !== null;
    return { name, kind, value: null, has_secret: has };
  });
  const secrets = rows.flatMap(({ secret }, index) =>
    secret === undefined ? [] : [{ slot: slots[index] ?? '', secret }],
  );
  return { headers, secrets };
}

/** The mode after a change by either of its names: by the one that changes, by `execution_mode` if both do. */
function modeOf(current: ToolDefinition, change: ToolChange): ToolDefinition['execution_mode'] {
  const { execution_mode: mode = current.execution_mode, while_speaking: beside = current.while_speaking } =
    change;
  if (mode !== current.execution_mode || beside === current.while_speaking) return mode;
  return beside ? 'background' : 'blocking';
}

/** The tool after the change (decision 14), and the credentials that came with it. Lists are replaced. */
export function reviseTool(current: ToolDefinition, change: ToolChange): ToolRevision {
  const { headers: wantedHeaders, mock_responses: mocks, arguments: args, ...fields } = change;
  const rest = Object.fromEntries(Object.entries(fields).filter(([name]) => !Object.hasOwn(SHOWN, name)));
  const { headers, secrets } = wantedHeaders
    ? reviseHeaders(current.headers, wantedHeaders)
    : { headers: current.headers, secrets: [] };
  const mode = modeOf(current, change);
  const definition: ToolDefinition = {
    ...current,
    ...(rest as Partial<ToolDefinition>),
    execution_mode: mode,
    while_speaking: mode === 'background',
    headers,
    arguments: args ? args.map(completeArgument) : current.arguments,
    mock_responses: mocks ? mocks.map((mock) => ({ ...MOCK_DEFAULTS, ...mock })) : current.mock_responses,
  };
  return { definition, secrets };
}

export const newTool = ({ tool_type: type = 'webhook', ...fields }: ToolCreation): ToolRevision =>
  reviseTool({ ...TOOL_DEFAULTS, name: fields.name, tool_type: type }, fields);

const IDENTITY = { tool_id: Type.String(), workspace_id: Type.String() };
const USE = {
  used_by: Type.Integer({ description: 'Agents whose draft has it attached' }),
  created_at: Moment,
  updated_at: Moment,
};

const { name, description, tool_type, method, url } = ToolDefinition.properties;

const SUMMARY_EXAMPLE = {
  tool_id: 'tool_5f0c8a1b2c3d4e5f60718293',
  workspace_id: 'ws_0a1b2c3d4e5f60718293a4b5',
  name: CREATION_EXAMPLE.name,
  description: CREATION_EXAMPLE.description,
  tool_type: 'webhook',
  method: 'GET',
  url: CREATION_EXAMPLE.url,
  used_by: 0,
  created_at: '2026-01-01T12:00:00.000Z',
  updated_at: '2026-01-01T12:00:00.000Z',
};

export const ToolSummary = Type.Object(
  { ...IDENTITY, name, description, tool_type, method, url, ...USE },
  { title: 'ToolSummary', examples: [SUMMARY_EXAMPLE] },
);

export const ToolEntity = Type.Object(
  { ...IDENTITY, ...USE, ...ToolDefinition.properties },
  {
    title: 'Tool',
    examples: [
      {
        ...TOOL_DEFAULTS,
        ...SUMMARY_EXAMPLE,
        arguments: CREATION_EXAMPLE.arguments.map(completeArgument),
        headers: [{ name: 'Authorization', kind: 'authorization_bearer', value: null, has_secret: true }],
      },
    ],
  },
);

/** Values by argument; any JSON. */
const Arguments = Type.Record(
  Type.String({ minLength: 1, maxLength: limits.argumentName.max }),
  Type.Unknown(),
);

export const ToolTest = strict(
  { arguments: Type.Optional(Arguments) },
  { examples: [{ arguments: { order_id: 'A-17' } }] },
);

/** An unsaved tool, and the arguments of its call. */
export const UnsavedToolTest = strict(
  { tool: ToolCreation, arguments: Type.Optional(Arguments) },
  { examples: [{ tool: CREATION_EXAMPLE, arguments: { order_id: 'A-17' } }] },
);

export const ToolTestResult = Type.Object(
  {
    ok: Type.Boolean({ description: 'Whether the status is 2xx' }),
    status_code: nullable(Type.Integer()),
    latency_ms: Type.Integer(),
    response_headers: Type.Record(Type.String(), Type.String()),
    response_body: Type.String({ description: `The first ${limits.testCaptureBytes / 1024} KB` }),
    response_truncated: Type.Boolean(),
    error: nullable(Type.String({ description: 'Why there is no response' })),
  },
  {
    title: 'ToolTestResult',
    examples: [
      {
        ok: true,
        status_code: 200,
        latency_ms: 84,
        response_headers: { 'content-type': 'application/json' },
        response_body: '{"status":"shipped"}',
        response_truncated: false,
        error: null,
      },
    ],
  },
);
export type ToolTestResult = Static<typeof ToolTestResult>;
