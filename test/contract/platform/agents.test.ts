/**
 * Agents: creation, changes and their bounds, who may see them, concurrent writes
 * (docs/contract/platform.md 6.2).
 */
import t from '../../fixtures/tap.js';
import { type Answer, type Json, places, sharedPlatform } from '../../fixtures/platform/platform.js';

const platform = await sharedPlatform(t);
const { call, otherKey } = platform;
const AGENTS = '/v1/agent/agents';
const NOWHERE = 'agent_000000000000000000000000';

t.test('an agent is created as a draft', async (t) => {
  const answer = await call('POST', AGENTS, { body: { name: 'Bakery' } });
  t.equal(answer.status, 201);
  const { agent_id: id, created_at: created, updated_at: updated, ...rest } = answer.body;
  t.match(id, /^agent_[0-9a-f]{24}$/);
  t.ok(Math.abs(Date.parse(created as string) - Date.now()) < 600_000);
  t.equal(updated, created);
  t.strictSame(rest, {
    workspace_id: platform.workspaceId,
    name: 'Bakery',
    description: '',
    status: 'active',
    publication_state: 'draft',
    public_enabled: false,
    allowed_origins: [],
    overrides_allowed: [],
  });
  t.strictSame((await call('GET', `${AGENTS}/${id as string}`)).body, answer.body);
  t.equal(
    (await call('POST', AGENTS, { body: { name: 'A', config: null } })).status,
    201,
    'config may be null',
  );
  const configured = await platform.agent({ config: { voice: { speaking_language: 'fr' } } });
  const { voice } = (await call('GET', `${AGENTS}/${configured}/config`)).body;
  t.strictSame(
    voice,
    { voice_id: 'default', speaking_language: 'fr', languages: null, expressive: false },
    'on top of the defaults',
  );
});

t.test('every bound of creation and change, on both sides', async (t) => {
  const id = await platform.agent();
  const bounds: [field: string, good: unknown[], bad: unknown[]][] = [
    ['name', ['a', 'n'.repeat(120), '👍'.repeat(120)], ['', 'n'.repeat(121), 5, null]],
    ['description', ['', 'd'.repeat(2000)], ['d'.repeat(2001), 5, null]],
  ];
  const changes: [field: string, good: unknown[], bad: unknown[]][] = [
    ...bounds,
    ['status', ['archived', 'active'], ['gone', '', null]],
    ['public_enabled', [true, false], ['true', 1, null]],
    [
      'allowed_origins',
      [
        [],
        ['https://a.example'],
        Array(20).fill('https://a.example'),
        [
          `https://a.example:8443/`,
          'http://localhost:3000',
          'chrome-extension://abc',
          'https://[::1]:80',
          `https://${'x'.repeat(2040)}`,
        ],
      ],
      [
        Array(21).fill('https://a.example'),
        [`https://${'x'.repeat(2041)}`],
        ['nope'],
        ['a.example'],
        ['*'],
        ['null'],
        [''],
        ['https://*.example'],
        ['https://a.example/page'],
        ['https://u@a.example'],
        ['https://a.example:99999'],
        ['https://a b'],
        ['https://'],
        [5],
        'https://a.example',
        null,
      ],
    ],
    [
      'overrides_allowed',
      [[], ['first_message', 'system_prompt', 'voice_id', 'language'], Array(8).fill('language')],
      [Array(9).fill('language'), ['first_message_prompt'], ['x'], 'language', null],
    ],
  ];
  for (const [field, good, bad] of bounds) {
    for (const value of good)
      t.equal((await call('POST', AGENTS, { body: { name: 'A', [field]: value } })).status, 201);
    for (const value of bad) {
      const answer = await call('POST', AGENTS, { body: { name: 'A', [field]: value } });
      t.equal(answer.status, 422, `${field} ${JSON.stringify(value).slice(0, 40)}`);
      t.match(places(answer)[0], new RegExp(`^${field}(\\.|$)`));
    }
  }
  for (const [field, good, bad] of changes) {
    for (const value of good) {
      const answer = await call('PATCH', `${AGENTS}/${id}`, { body: { [field]: value } });
      t.equal(answer.status, 200, `${field} ${JSON.stringify(value).slice(0, 40)}`);
      t.strictSame(answer.body[field], value);
    }
    for (const value of bad) {
      const answer = await call('PATCH', `${AGENTS}/${id}`, { body: { [field]: value } });
      t.equal(answer.status, 422, `${field} ${JSON.stringify(value)?.slice(0, 40)}`);
    }
  }
  for (const field of ['workspace_id', 'agent_id', 'publication_state', 'config'])
    t.equal(
      (await call('PATCH', `${AGENTS}/${id}`, { body: { [field]: 'x' } })).status,
      422,
      `${field} cannot be changed`,
    );
});

t.test('a change keeps what is absent (decision 14)', async (t) => {
  const id = await platform.agent({ description: 'd' });
  const before = (await call('PATCH', `${AGENTS}/${id}`, { body: { public_enabled: true, allowed_origins: ['https://a.example'] } })).body; // oxfmt-ignore
  const after = (await call('PATCH', `${AGENTS}/${id}`, { body: { name: 'N' } })).body;
  t.strictSame({ ...after, updated_at: 0 }, { ...before, name: 'N', updated_at: 0 });
  t.ok(Date.parse(after['updated_at'] as string) >= Date.parse(before['updated_at'] as string));
  t.equal((await call('PATCH', `${AGENTS}/${id}`, { body: {} })).status, 200);
});

t.test('another workspace’s agent does not exist, nor does one that is gone', async (t) => {
  const id = await platform.agent();
  const routes: [method: string, path: string, body?: object][] = [
    ['GET', ''],
    ['PATCH', '', { name: 'x' }],
    ['GET', '/config'],
    ['PATCH', '/config', {}],
    ['POST', '/publish'],
    ['GET', '/versions'],
    ['GET', '/versions/1'],
    ['DELETE', ''],
  ];
  const notFound = (answer: Answer) => [answer.status, answer.body];
  for (const [method, path, body] of routes) {
    const what = path === '/versions/1' ? 'Version' : 'Agent';
    const expected = [404, { status: 404, message: `${what} not found` }];
    const request = body ? { body } : {};
    t.strictSame(
      notFound(await call(method, `${AGENTS}/${id}${path}`, { ...request, key: otherKey })),
      expected,
      path,
    );
    t.strictSame(notFound(await call(method, `${AGENTS}/${NOWHERE}${path}`, request)), expected, path);
    t.equal((await call(method, `${AGENTS}/a%00b${path}`, request)).status, 404, 'an id that none has');
    t.equal((await call(method, `${AGENTS}/${'x'.repeat(5000)}${path}`, request)).status, 404);
  }
  t.equal((await call('GET', `${AGENTS}/${id}`)).status, 200, 'its own workspace still has it');
  t.strictSame((await call('GET', AGENTS, { key: otherKey })).body['agents'], []);

  const gone = await call('DELETE', `${AGENTS}/${id}`);
  t.strictSame([gone.status, gone.text], [204, '']);
  for (const [method, path, body] of routes)
    t.equal(
      (await call(method, `${AGENTS}/${id}${path}`, body ? { body } : {})).status,
      404,
      `${path} of a deleted agent`,
    );
});

t.test('changes at the same time: none is lost', async (t) => {
  const id = await platform.agent();
  const changes: [section: string, leaf: string, value: unknown][] = [
    ['prompt', 'system_prompt', 's'],
    ['prompt', 'first_message', 'f'],
    ['prompt', 'first_message_prompt', 'p'],
    ['voice', 'voice_id', 'alloy'],
    ['voice', 'speaking_language', 'de'],
    ['conversation', 'max_duration_seconds', 77],
    ['conversation', 'timezone', 'UTC'],
    ['conversation', 'interruptible', false],
    ['tools', 'enabled', false],
    ['knowledge_base', 'enabled', true],
  ];
  const answers = await Promise.all(
    changes.map(([section, leaf, value]) =>
      call('PATCH', `${AGENTS}/${id}/config`, { body: { [section]: { [leaf]: value } } }),
    ),
  );
  t.ok(answers.every(({ status }) => status === 200));
  const config = (await call('GET', `${AGENTS}/${id}/config`)).body;
  for (const [section, leaf, value] of changes) t.equal((config[section] as Json)[leaf], value, leaf);

  const published = await Promise.all(
    Array.from({ length: 10 }, () => call('POST', `${AGENTS}/${id}/publish`)),
  );
  const numbers = published.map(({ body }) => body['version_number'] as number).sort((a, b) => a - b);
  t.strictSame(numbers, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 'each publication has a number of its own');
});
