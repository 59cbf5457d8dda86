/** Tools without the network: templates, function names, headers (docs/contract/decisions.md 14, 16, 17; docs/contract/platform.md 6.5). */
import t from '../../../fixtures/tap.js';
import {
  functionNames,
  type NamedTool,
  serversToolName,
} from '../../../../contracts/tools/function-names.js';
import { LIMITS } from '../../../../contracts/limits.js';
import {
  completeTool,
  newTool,
  reviseTool,
  type ToolChange,
  type ToolDefinition,
} from '../../../../contracts/schemas/tools.js';
import {
  misplacedPlaceholder,
  renderBody,
  renderUrl,
  sampleUrl,
} from '../../../../contracts/tools/templates.js';
import { toolRequest } from '../../../../contracts/tools/request.js';
import { throwsExactly } from '../../../fixtures/exactly.js';

const args = (values: Record<string, unknown>, declared = Object.keys(values)) => ({ declared, values });

t.test('decision 16: a value in a URL is percent-encoded', async (t) => {
  const cases: [template: string, value: unknown, url: string][] = [
    ['https://x.example/o/{{a}}', 'A 17', 'https://x.example/o/A%2017'],
    ['https://x.example/o/{{a}}', '../admin?x=1#y', 'https://x.example/o/..%2Fadmin%3Fx%3D1%23y'],
    ['https://x.example/o/{{ a }}?q={{a}}', 'ü&', 'https://x.example/o/%C3%BC%26?q=%C3%BC%26'],
    ['https://x.example/o?q={{a}}', 17, 'https://x.example/o?q=17'],
    ['https://x.example/o?q={{a}}', true, 'https://x.example/o?q=true'],
    ['https://x.example/o?q={{a}}', null, 'https://x.example/o?q='],
    ['https://x.example/o?q={{a}}', { b: 1 }, 'https://x.example/o?q=%7B%22b%22%3A1%7D'],
    ['https://x.example/o?q={{a}}', "it's (*)!", 'https://x.example/o?q=it%27s%20%28%2A%29%21'],
    ['https://x.example/o?q={{a}}', '\ud800', 'https://x.example/o?q=%EF%BF%BD'],
    ['https://x.example/o?q={{a}}', '{{a}}', 'https://x.example/o?q=%7B%7Ba%7D%7D'],
    ['https://x.example/o?q=..&r={{a}}', '..', 'https://x.example/o?q=..&r=..'],
  ];
  for (const [template, a, url] of cases)
    t.equal(renderUrl(template, args({ a })), url, `${template} ${String(a)}`);
});

t.test('decision 16: no placeholder stands in scheme, host or port', async (t) => {
  const misplaced = [
    '{{a}}',
    '{{a}}/x',
    '{{a}}://x.example/',
    'https://{{a}}/x',
    'https://{{a}}.example/x',
    'https://x.example:{{a}}/x',
    'https://x.example{{a}}',
    'https://x.example{{a}}/x',
    'https://{{a}}@x.example/',
    'https:{{a}}/x',
    'https:///{{a}}/x',
    ' https://{{a}}/x',
    '  https://{{a}}/x',
    'https:/\t/{{a}}/x',
    'ht\ntps:\r//{{a}}',
  ];
  for (const url of misplaced) {
    t.type(misplacedPlaceholder(url), 'string', url);
    const refusal = { code: 'invalid_request', message: /^url must not have placeholders in/ };
    throwsExactly(t, () => renderUrl(url, args({ a: 'evil.example' })), refusal, url);
  }
  t.equal(misplacedPlaceholder('https://x.example/'), undefined, 'none');
  for (const url of ['https://x.example/{{a}}', 'https://x.example?{{a}}', 'https://x.example#{{a}}'])
    t.equal(misplacedPlaceholder(url), undefined, url);
});

t.test('a value never takes a call to another path', async (t) => {
  for (const a of ['.', '..', '%2e', '%2E%2e', '.%2e']) {
    const rendered = () => renderUrl('https://x.example/users/{{a}}/orders', args({ a }));
    if (a.includes('%')) t.equal(new URL(rendered()).pathname.split('/').length, 4, a);
    else throwsExactly(t, rendered, { code: 'invalid_request' }, a);
  }
  throwsExactly(t, () => renderUrl('https://x.example/a/{{a}}{{a}}', args({ a: '.' })), {
    code: 'invalid_request',
    message: 'An argument in the path of a URL may not be . or ..',
  });
  throwsExactly(t, () => renderUrl('https://x.example/a/.{{a}}/b', args({ a: '.' })), {
    code: 'invalid_request',
  });
  for (const url of ['/%2e{{a}}', '/%2E{{a}}', '/{{a}}%2e/b', '\\{{a}}\\b', '/{{a}}?q', '/{{a}}#f'])
    throwsExactly(
      t,
      () => renderUrl(`https://x.example/a${url}`, args({ a: '.' })),
      { code: 'invalid_request' },
      url,
    );
  t.equal(renderUrl('https://x.example/a?b/{{a}}/c', args({ a: '..' })), 'https://x.example/a?b/../c');
  t.equal(renderUrl('https://x.example/a/{{a}}.b', args({ a: '.' })), 'https://x.example/a/..b');
  t.equal(renderUrl('https://x.example/a/{{a}}', args({ a: 'b.' })), 'https://x.example/a/b.');
  t.equal(renderUrl('https://x.example/a/../{{a}}', args({ a: 'b' })), 'https://x.example/a/../b');
  t.equal(renderUrl('https://x.example/a/{{a}}', args({ a: '...' })), 'https://x.example/a/...');
});

t.test('decision 16: a value in a body is escaped for its content type', async (t) => {
  const nasty = `"a"\n\\ <&'>`;
  const cases: [type: string, template: string, values: Record<string, unknown>, body: string][] = [
    ['application/json', '{"q":"{{a}}"}', { a: nasty }, JSON.stringify({ q: nasty })],
    ['application/json', '{"q":{{a}}}', { a: nasty }, JSON.stringify({ q: nasty })],
    ['application/json; charset=utf-8', '{"q":{{a}}}', { a: { b: [1] } }, '{"q":{"b":[1]}}'],
    ['application/vnd.api+json', '{"n":{{a}},"t":"{{a}} apples"}', { a: 3 }, '{"n":3,"t":"3 apples"}'],
    ['application/vnd.api+json', '{"q":{{a}}}', { a: 'x' }, '{"q":"x"}'],
    ['application/json', '{"a \\" {{a}}":1,"b":{{a}}}', { a: '"' }, '{"a \\" \\"":1,"b":"\\""}'],
    ['application/json', '{"o":"{{a}}"}', { a: { b: '"' } }, JSON.stringify({ o: '{"b":"\\""}' })],
    ['application/x-www-form-urlencoded', 'q={{a}}&r=1', { a: 'x&y=z' }, 'q=x%26y%3Dz&r=1'],
    ['application/xml', '<q>{{a}}</q>', { a: nasty }, '<q>&quot;a&quot;\n\\ &lt;&amp;&#39;&gt;</q>'],
    ['text/html', '<q>{{a}}</q>', { a: '<' }, '<q>&lt;</q>'],
    ['text/xml', '<q>{{a}}</q>', { a: '<' }, '<q>&lt;</q>'],
    ['application/xhtml+xml', '<q>{{a}}</q>', { a: '<' }, '<q>&lt;</q>'],
    ['text/json', '{"q":{{a}}}', { a: 'x' }, '{"q":"x"}'],
    [' Application/JSON ;charset=utf-8', '{"q":{{a}}}', { a: 'x' }, '{"q":"x"}'],
    ['text/plain', 'Say {{a}}', { a: nasty }, `Say ${nasty}`],
    ...['x-application/json', 'application/json5', 'application/x-www-form-urlencoded2', 'text/xml2'].map(
      (type): [string, string, Record<string, unknown>, string] => [type, '{{a}}', { a: nasty }, nasty],
    ),
    ...['2application/x-www-form-urlencoded', 'x-text/xml', 'image/json', 'image/xml', 'text/+json'].map(
      (type): [string, string, Record<string, unknown>, string] => [type, '{{a}}', { a: nasty }, nasty],
    ),
    ['', '{{a}}', { a: nasty }, nasty],
  ];
  for (const [type, template, values, body] of cases)
    t.equal(renderBody(template, type, args(values)), body, `${type} ${template}`);
});

t.test('arguments that are missing, unknown, or named like members of objects', async (t) => {
  const body = '{"a":"{{a}}","b":{{b}},"c":"{{c}}","d":"{{constructor}}"}';
  const rendered = renderBody(body, 'application/json', { declared: ['a', 'b', 'constructor'], values: {} });
  t.equal(rendered, '{"a":"","b":null,"c":"{{c}}","d":""}');
  t.equal(
    renderUrl('https://x.example/{{a}}?{{c}}', { declared: ['a'], values: {} }),
    'https://x.example/?{{c}}',
  );
  t.equal(sampleUrl('https://x.example/{{a}}?{{c}}'), 'https://x.example/x?x');
});

t.test('a name is 256 characters at most; what is longer is no placeholder', async (t) => {
  const [longest, longer] = ['a'.repeat(256), 'a'.repeat(257)];
  const values = { [longest]: '1', [longer]: '2' };
  t.equal(renderBody(`{{${longest}}}{{${longer}}}{{}}`, 'text/plain', args(values)), `1{{${longer}}}{{}}`);
});

t.test('a rendered text is 2,000,000 characters at most', async (t) => {
  const rendered = (length: number) =>
    renderBody('{{a}}{{a}}', 'text/plain', args({ a: 'x'.repeat(length / 2) }));
  t.equal(rendered(2_000_000).length, 2_000_000);
  throwsExactly(t, () => rendered(2_000_002), { code: 'invalid_request' });
  throwsExactly(t, () => renderBody('{{a}}', 'text/plain', args({ a: 'x'.repeat(2_000_001) })), {
    code: 'invalid_request',
    message: 'The arguments are too long',
  });
});

t.test('a large value in many places is refused before it fills the memory', async (t) => {
  const template = '{{a}}'.repeat(20_000);
  throwsExactly(t, () => renderBody(template, 'text/plain', args({ a: 'x'.repeat(100_000) })), {
    code: 'invalid_request',
  });
});

t.test('decision 17: names of functions', async (t) => {
  const cases: [tools: NamedTool[], names: string[]][] = [
    [[{ id: 'tool_00000000abcdefgh', name: 'Look up an order!' }], ['Look_up_an_order']],
    [[{ id: 'tool_00000000abcdefgh', name: '注文' }], ['tool_abcdefgh']],
    [[{ id: 'tool_00000000abcdefgh', name: '_transfer_call' }], ['transfer_call']],
    [[{ id: 'tool_00000000abcdefgh', name: 'Größe prüfen' }], ['Gro_e_prufen']],
    [[{ id: 'tool_00000000abcdefgh', name: '---' }], ['tool_abcdefgh']],
    [[{ id: '1', name: 'x'.repeat(120) }], ['x'.repeat(64)]],
    [[{ id: '1', name: `${'x'.repeat(63)} y` }], ['x'.repeat(63)]],
    [[{ id: '1', name: 'a, b' }], ['a_b']],
    [
      [
        { id: '1', name: 'x'.repeat(120) },
        { id: '2', name: 'x'.repeat(64) },
      ],
      ['x'.repeat(64), `${'x'.repeat(62)}_2`],
    ],
    [
      [
        { id: '1', name: 'a b' },
        { id: '2', name: 'a-b' },
        { id: '3', name: 'a_b' },
        { id: '4', name: 'a?b' },
      ],
      ['a_b', 'a-b', 'a_b_2', 'a_b_3'],
    ],
    [
      [
        { id: '1', name: 'open cart' },
        { id: '2', name: 'open_cart', client: true },
      ],
      ['open_cart_2', 'open_cart'],
    ],
  ];
  for (const [tools, names] of cases) {
    const given = functionNames(tools);
    t.strictSame(
      tools.map(({ id }) => given.get(id)),
      names,
      tools.map(({ name }) => name).join(', '),
    );
    for (const name of given.values()) t.match(name, /^[a-zA-Z0-9_-]{1,64}$/);
  }
});

t.test('a tool of an MCP server keeps its name, or is told apart by its server’s', async (t) => {
  const server = { id: 'server_abcdefgh', name: 'Shop' };
  const taken = new Set(['find']);
  const names = ['search', 'find', 'find', '検索'].map((tool) => serversToolName(tool, server, taken));
  t.strictSame(names, ['search', 'Shop_find', 'Shop_find_2', 'tool_abcdefgh']);
  t.strictSame([...taken], ['find', ...names]);
});

const tool = (change: ToolChange): ToolDefinition =>
  reviseTool(newTool({ name: 'T' }).definition, change).definition;

t.test('decision 14: credentials are kept, removed or rotated by name and kind', async (t) => {
  const before = tool({
    headers: [
      { name: 'Authorization', kind: 'authorization_bearer', value: 'Bearer one' },
      { name: 'X-Team', value: 'red' },
    ],
  });
  t.strictSame(before.headers, [
    { name: 'Authorization', kind: 'authorization_bearer', value: null, has_secret: true },
    { name: 'X-Team', kind: 'custom', value: 'red', has_secret: false },
  ]);
  const credential = { name: 'authorization', kind: 'authorization_bearer' } as const;
  const cases: [headers: NonNullable<ToolChange['headers']>, has: boolean[], secrets: (string | null)[]][] = [
    [[credential], [true], []],
    [[{ ...credential, value: null }], [false], [null]],
    [[{ ...credential, value: '' }], [false], [null]],
    [[{ ...credential, value: 'Bearer two' }], [true], ['Bearer two']],
    [[{ ...credential, kind: 'authorization_basic' }], [false], []],
    [[{ ...credential, name: 'X-Other' }], [false], []],
    [[credential, credential], [true, false], []],
    [[], [], []],
  ];
  for (const [headers, has, secrets] of cases) {
    const revision = reviseTool(before, { headers });
    t.strictSame(
      revision.definition.headers.map(({ has_secret }) => has_secret),
      has,
      JSON.stringify(headers),
    );
    t.strictSame(
      revision.secrets.map(({ secret }) => secret),
      secrets,
    );
    t.notMatch(JSON.stringify(revision.definition), /Bearer/);
  }
  const headers = [{ name: 'x-team' }, { name: 'X-New', value: null }, { name: 'X-Newer' }];
  const kept = reviseTool(before, { headers });
  t.strictSame(
    kept.definition.headers.map(({ value }) => value),
    ['red', '', ''],
  );
});

t.test(
  'decision 14: a credential is stored under its kind, its name in any case, and its number among those',
  async (t) => {
    const [custom, bearer] = ['custom', 'authorization_bearer'] as const;
    const headers = [{ name: 'X-A', kind: bearer, value: 'one' }, { name: 'x-a', kind: bearer, value: 'two' }, { name: 'X-A', kind: custom, value: 'three' }, { name: 'X-B', kind: bearer, value: null }]; // oxfmt-ignore
    t.strictSame(reviseTool(tool({}), { headers }).secrets, [
      { slot: 'authorization_bearer x-a 1', secret: 'one' },
      { slot: 'authorization_bearer x-a 2', secret: 'two' },
      { slot: 'authorization_bearer x-b 1', secret: null },
    ]);
  },
);

/** Of a tool of which only the name is given. */
const DEFAULTS = {
  description: '',
  tool_type: 'webhook',
  method: 'POST',
  url: '',
  arguments: [],
  content_type: 'application/json',
  body_template: '',
  headers: [],
  timeout_seconds: LIMITS.tool.timeoutSeconds.default,
  error_handling: 'passthrough',
  mock_responses: [],
  expects_response: true,
  execution_mode: 'blocking',
  while_speaking: false,
  allowed_tools: [],
} as const;

t.test('a new tool has the defaults of what it leaves out, a stored one of what it lacks', async (t) => {
  t.strictSame(newTool({ name: 'T' }), { definition: { ...DEFAULTS, name: 'T' }, secrets: [] });
  t.strictSame(newTool({ name: 'T', tool_type: 'mcp' }).definition, {
    ...DEFAULTS,
    name: 'T',
    tool_type: 'mcp',
  });
  const stored = { name: 'T', method: 'GET' } as ToolDefinition;
  t.strictSame(completeTool(stored), { ...DEFAULTS, name: 'T', method: 'GET' });
  const beside = { ...stored, while_speaking: true };
  t.equal(completeTool(beside).execution_mode, 'background', 'of its older name');
});

t.test('what is shown of a tool and sent back with a change is no part of it', async (t) => {
  const before = tool({ url: 'https://x.example' });
  const shown = { tool_id: 'tool_2', workspace_id: 'ws_2', tool_type: 'mcp', used_by: 3, created_at: 'then', updated_at: 'now' } as const; // oxfmt-ignore
  t.strictSame(reviseTool(before, { ...shown, method: 'PUT' }).definition, { ...before, method: 'PUT' });
});

t.test('a change keeps what is absent, and completes what stands in lists', async (t) => {
  const before = tool({ description: 'd', arguments: [{ name: 'a' }], timeout_seconds: 5 });
  const after = reviseTool(before, { name: 'U', mock_responses: [{ status_code: 404 }] }).definition;
  t.strictSame(after, {
    ...before,
    name: 'U',
    mock_responses: [{ name: '', status_code: 404, content_type: 'application/json', body: '' }],
  });
  t.strictSame(before.arguments, [
    { name: 'a', description: '', required: true, type: 'string', enum: null },
  ]);
});

t.test('the request of a call', async (t) => {
  const definition = tool({
    url: 'https://x.example/{{a}}',
    arguments: [{ name: 'a' }],
    body_template: '{"a":{{a}}}',
    timeout_seconds: 7,
  });
  const bearer = [['Authorization', 'Bearer x']] as const;
  t.strictSame(toolRequest(definition, bearer, { a: 'b c' }), {
    method: 'POST',
    url: 'https://x.example/b%20c',
    headers: [['content-type', 'application/json'], ...bearer],
    body: '{"a":"b c"}',
    timeoutMs: 7000,
  });
  const get = toolRequest({ ...definition, method: 'GET' }, bearer, { a: 1 });
  t.strictSame([get.body, get.headers], [undefined, bearer], 'GET carries no body');
  const bare = toolRequest({ ...definition, body_template: '' }, bearer, { a: 1 });
  t.strictSame([bare.body, bare.headers], [undefined, bearer], 'nor does an empty template make one');
  const untyped = toolRequest({ ...definition, content_type: '' }, bearer, { a: 1 });
  t.strictSame([untyped.body, untyped.headers], ['{"a":1}', bearer], 'without a type');
  const own = [['Content-Type', 'text/csv'], ...bearer] as const;
  t.strictSame(
    toolRequest(definition, own, { a: 1 }).headers,
    own,
    'its own content type stays the only one',
  );
});

t.test(
  'system variables fill URL, body and own headers, never a credential, and win over arguments (D9)',
  async (t) => {
    const system = { 'system.timezone': 'Asia/Tokyo', 'system.caller_number': '+819012345678' };
    const text = '{{system.caller_number}} {{system.timezone}} {{a}}';
    const definition = tool({
      url: 'https://x.example/{{system.timezone}}?from={{ system.caller_number }}',
      arguments: [{ name: 'a' }, { name: 'system.timezone' }],
      headers: [{ name: 'X-Caller', value: text }],
      body_template: '{"from":"{{system.caller_number}}","zone":{{system.timezone}}}',
    });
    const credential = ['Authorization', text] as const;
    const stored = [['X-Caller', text], credential] as const;
    const { url, headers, body } = toolRequest(
      definition,
      stored,
      { a: 1, 'system.timezone': 'UTC' },
      system,
    );
    t.equal(url, 'https://x.example/Asia%2FTokyo?from=%2B819012345678');
    t.equal(body, '{"from":"+819012345678","zone":"Asia/Tokyo"}');
    const own = ['X-Caller', '+819012345678 Asia/Tokyo {{a}}'];
    t.strictSame(headers, [['content-type', 'application/json'], own, credential]);
    t.strictSame(
      toolRequest(definition, stored, {}).headers.slice(1),
      stored,
      'a session of before has none',
    );
  },
);
