/** Publishing: immutable versions, frozen tools, pinned knowledge, the hash that distinguishes versions (6.4; decisions 10, 14, 15). */
import t from '../../fixtures/tap.js';
import { randomIds } from '../../../contracts/ids.js';
import { createAgents } from '../../../storage/agents/agents.js';
import { createKnowledge } from '../../../storage/agents/knowledge.js';
import { openSecrets } from '../../../storage/secrets/secrets.js';
import { createTools } from '../../../storage/agents/tools.js';
import { createVersions } from '../../../storage/agents/versions.js';
import { exactly } from '../../fixtures/exactly.js';
import { TEST_SECRET } from '../../fixtures/gateway.js';
import { formOf, type Json, places, startPlatform } from '../../fixtures/platform/platform.js';
import { plansOn } from '../../fixtures/platform/plans.js';

/** One engine speaks only English, another all languages; neither is called. */
const platform = await startPlatform(t, {
  TTS_ENGINES: 'openai-compatible,tone',
  STT_ENGINES: 'openai-compatible',
  REMOTE_OPENAI_URL: 'http://127.0.0.1:9/v1',
  REMOTE_OPENAI_LANGUAGES: 'en',
});
const { call, database, workspaceId } = platform;
const AGENTS = '/v1/agent/agents';
const secrets = await openSecrets({ sql: database.sql, dataDir: '', secretsKey: TEST_SECRET });
const parts = { sql: database.sql, ids: randomIds, secrets };
const versions = createVersions(plansOn(database.sql));
const tools = createTools(parts);
const agents = createAgents(parts);
const knowledge = createKnowledge(parts);

const publish = async (id: string, body?: Json) =>
  (await call('POST', `${AGENTS}/${id}/publish`, body ? { body } : {})).body;
const configOf = async (id: string) => (await call('GET', `${AGENTS}/${id}/config`)).body;
const configure = (id: string, body: Json) => call('PATCH', `${AGENTS}/${id}/config`, { body });

t.test('a draft goes live with its first version; numbers follow one another', async (t) => {
  const id = await platform.agent({ config: { prompt: { system_prompt: 'one' } } });
  t.equal((await versions.find(id))?.version, undefined, 'a draft never reaches sessions');
  const draft = await configOf(id);
  const first = await publish(id);
  t.strictSame(
    { ...first, published_at: 0 },
    {
      version_number: 1,
      version_title: null,
      version_description: null,
      config_hash: draft['config_hash'],
      published_at: 0,
      warnings: [],
    },
  );
  t.equal((await call('GET', `${AGENTS}/${id}`)).body['publication_state'], 'live');

  await configure(id, { prompt: { system_prompt: 'two' } });
  t.equal(
    (await versions.find(id))?.version?.config.prompt.system_prompt,
    'one',
    'edits change only the draft',
  );
  t.not((await configOf(id))['config_hash'], first['config_hash'], 'and show as unpublished');
  const second = await publish(id, { version_title: 'Second', version_description: 'More' });
  exactly(t, second, { version_number: 2, version_title: 'Second', version_description: 'More' });
  t.equal((await versions.find(id))?.version?.config.prompt.system_prompt, 'two');
  t.equal((await configOf(id))['config_hash'], second['config_hash']);
  t.equal((await publish(id))['version_number'], 3, 'an unchanged draft may be published again');

  const read = async (number: string) => call('GET', `${AGENTS}/${id}/versions/${number}`);
  const { config, ...summary } = (await read('1')).body;
  t.strictSame({ ...summary, warnings: [] }, first);
  t.strictSame(Object.keys(config as Json).sort(), Object.keys(draft).sort());
  t.strictSame(
    { ...(config as Json), updated_at: 0 },
    { ...draft, updated_at: 0 },
    'a version never changes',
  );
  for (const number of ['0', '4', '-1', '1.0', 'x', '01', '99999999999999999999'])
    t.strictSame((await read(number)).body, { status: 404, message: 'Version not found' }, number);
});

t.test('bounds of title and description; the body may be left out, not malformed', async (t) => {
  const id = await platform.agent();
  const cases: [body: unknown, status: number][] = [
    [{ version_title: 't'.repeat(120), version_description: 'd'.repeat(2000) }, 200],
    [{ version_title: '', version_description: null }, 200],
    [{}, 200],
    [{ version_title: 't'.repeat(121) }, 422],
    [{ version_description: 'd'.repeat(2001) }, 422],
    [{ title: 'x' }, 422],
    [[], 422],
  ];
  for (const [body, status] of cases)
    t.equal(
      (await call('POST', `${AGENTS}/${id}/publish`, { body })).status,
      status,
      JSON.stringify(body).slice(0, 60),
    );
  const raw = (text: string, type: string) =>
    call('POST', `${AGENTS}/${id}/publish`, { raw: text, headers: { 'content-type': type } });
  t.equal((await raw('{', 'application/json')).status, 400);
  t.equal((await raw('x', 'text/plain')).status, 415);
  t.equal((await raw('', 'application/json')).status, 200);
});

t.test('the list of versions, newest first, in both modes', async (t) => {
  const id = await platform.agent();
  for (const title of ['a', 'b', 'c']) await publish(id, { version_title: title });
  const list = async (query: string) => (await call('GET', `${AGENTS}/${id}/versions?${query}`)).body;
  const titles = (page: Json) => (page['versions'] as Json[]).map(({ version_title: title }) => title);
  const first = await list('page_size=2');
  t.strictSame([titles(first), first['has_more'], first['total']], [['c', 'b'], true, null]);
  const rest = await list(`page_size=2&cursor=${first['next_cursor'] as string}`);
  t.strictSame([titles(rest), rest['has_more']], [['a'], false]);
  const page = await list('page=2&page_size=2');
  t.strictSame([titles(page), page['total']], [['a'], 3]);
  t.equal((await call('GET', `${AGENTS}/${id}/versions?page_size=101`)).status, 400);
  t.equal((await call('GET', `${AGENTS}/${id}/versions?cursor=${Buffer.from('agents:2').toString('base64url')}`)).status, 400); // oxfmt-ignore
});

t.test(
  'a version freezes its tools, the hash shows that they changed, credentials rotate at once (decisions 14, 15)',
  async (t) => {
    const credential = { name: 'Authorization', kind: 'authorization_bearer' };
    const tool = await platform.tool({
      url: 'https://a.example/1',
      headers: [{ ...credential, value: 'Bearer one' }],
      mock_responses: [{ body: 'x' }],
    });
    const path = `/v1/agent/tools/${tool}`;
    const id = await platform.agent({ config: { tools: { tool_ids: [tool] } } });
    const other = await platform.agent({ config: { tools: { tool_ids: [tool] } } });
    const published = await publish(id);
    const hashes = async () => [(await configOf(id))['config_hash'], (await configOf(other))['config_hash']];
    const before = await hashes();
    t.equal(before[0], published['config_hash']);

    await call('PATCH', path, { body: { url: 'https://a.example/2' } });
    const edited = await hashes();
    t.not(edited[0], before[0], 'decision 15: every agent that uses it has unpublished changes');
    t.not(edited[1], before[1]);
    const frozen = async () => (await versions.find(id))!.version!.tools[0]!;
    t.equal((await frozen()).definition.url, 'https://a.example/1');
    t.strictSame((await frozen()).definition.mock_responses, [], 'nobody calls them');

    await call('PATCH', path, { body: { headers: [{ ...credential, value: 'Bearer two' }] } });
    t.strictSame(await hashes(), edited, 'a rotated credential is no unpublished change');
    t.strictSame(await tools.headersOf(await frozen()), [['Authorization', 'Bearer two']], 'decision 14');

    await call('PATCH', path, { body: { headers: [] } });
    t.strictSame(
      await tools.headersOf(await frozen()),
      [['Authorization', 'Bearer two']],
      'a version keeps its own',
    );
    await configure(id, { tools: { tool_ids: [] } });
    await configure(other, { tools: { tool_ids: [] } });
    t.equal((await call('DELETE', path)).status, 204);
    t.strictSame(
      await tools.headersOf(await frozen()),
      [['Authorization', 'Bearer two']],
      'also when the tool is gone',
    );
    const left = () => database.sql`select 1 from secrets where kind = 'tool' and owner_id = ${tool}`;
    t.equal((await left()).length, 1);
    await call('DELETE', `${AGENTS}/${id}`);
    t.equal((await left()).length, 0, 'and nothing is kept for nobody');
  },
);

t.test('a webhook’s secret serves the version that signs with it', async (t) => {
  const url = 'https://a.example/hook';
  const hook = (secret?: string | null) => ({
    webhooks: { post_call: [{ url, ...(secret !== undefined && { secret }) }] },
  });
  const id = await platform.agent({ config: hook('one') });
  await publish(id);
  t.equal(await agents.secretOf(id, url), 'one');
  await configure(id, hook('two'));
  t.equal(await agents.secretOf(id, url), 'two', 'rotated at once');
  await configure(id, { webhooks: { post_call: [] } });
  t.equal(await agents.secretOf(id, url), 'two', 'the published version still needs it');
  const again = await configure(id, hook());
  t.strictSame(
    (again.body['webhooks'] as Json)['post_call'],
    [{ url, has_secret: false }],
    'the draft does not get it back',
  );
  const version = (await call('GET', `${AGENTS}/${id}/versions/1`)).body;
  t.strictSame(((version['config'] as Json)['webhooks'] as Json)['post_call'], [{ url, has_secret: true }]);
  t.equal(await agents.secretOf(id, 'https://b.example/'), undefined);
  await call('DELETE', `${AGENTS}/${id}`);
  t.equal(await agents.secretOf(id, url), undefined);
});

t.test('a version pins the revisions of its knowledge (decision 15)', async (t) => {
  const source = await platform.source('The bakery opens at seven.');
  const path = `/v1/agent/knowledge-sources/${source}`;
  const id = await platform.agent({ config: { knowledge_base: { knowledge_source_ids: [source] } } });
  const published = await publish(id);
  const raw = () => formOf({ source: new File(['The bakery opens at nine.'], 'hours.txt') });
  const hash = async () => (await configOf(id))['config_hash'];
  await call('PATCH', path, { raw: formOf({ name: 'Hours' }) });
  t.equal(await hash(), published['config_hash'], 'its name is not its content');
  await call('PATCH', path, { raw: raw() });
  t.not(await hash(), published['config_hash'], 'decision 15: a new revision is an unpublished change');

  const pinned = (await versions.find(id))!.version!.knowledge;
  t.strictSame(pinned, [{ sourceId: source, revision: 1 }]);
  const found = async (sources: typeof pinned) =>
    (await knowledge.search(workspaceId, sources, 'When do you open?', 3)).map(({ text }) => text);
  t.strictSame(await found(pinned), ['The bakery opens at seven.']);
  t.strictSame(await found([{ sourceId: source, revision: 2 }]), ['The bakery opens at nine.']);
  t.strictSame((await versions.draft(id, workspaceId))?.version?.knowledge, [
    { sourceId: source, revision: 2 },
  ]);

  await call('PATCH', path, { raw: raw() });
  const kept =
    await database.sql`select revision from knowledge_revisions where source_id = ${source} order by 1`;
  t.strictSame(
    kept.map(({ revision }) => revision as number),
    [1, 3],
    'what nobody pins is dropped',
  );
  await publish(id);
  t.strictSame((await versions.find(id))!.version!.knowledge, [{ sourceId: source, revision: 3 }]);

  const refused = await call('DELETE', path);
  t.strictSame([refused.status, refused.body['status']], [409, 409]);
  t.match(refused.body['message'], /^Knowledge source is attached to 1 agent/);
  await configure(id, { knowledge_base: { knowledge_source_ids: [] } });
  t.equal((await call('DELETE', path)).status, 409, 'the published configuration still refers to it');
  exactly(t, (await call('GET', `${path}/agents`)).body, { agents: [{ agent_id: id }], total: 1 });
  await publish(id);
  t.strictSame((await call('GET', `${path}/agents`)).body, { agents: [], total: 0 });
  t.equal((await call('DELETE', path)).status, 204);
});

t.test('settings that will not work are reported when a draft is published (decision 10)', async (t) => {
  const cases: [config: Json, warnings: string[]][] = [
    [{ voice: { speaking_language: 'en' } }, []],
    [{ voice: { voice_id: '' } }, []],
    [{ voice: { voice_id: 'alloy' } }, []],
    [
      { voice: { voice_id: 'alloy', expressive: true } },
      ['The engine of the voice "alloy" follows no cues: `voice.expressive` has no effect'],
    ],
    [
      { voice: { speaking_language: 'ja' } },
      [
        'No speech recognition for "ja": sessions are refused until there is one, ' +
          'for example by "npm run models -- add whisper-base" and a restart',
      ],
    ],
    [
      { voice: { speaking_language: 'en', languages: ['en', 'de'] } },
      [
        'No recogniser hears all of "en", "de": calls stay in "en" until there is one, ' +
          'for example by "npm run models -- add whisper-base" and a restart',
      ],
    ],
    [
      {
        prompt: {
          first_message: 'Hello {{caller}} from {{ town }}, {{caller}}!',
          system_prompt: '{{9}} {{}} {a}',
        },
      },
      [
        'prompt.first_message uses variables that have no default: ' +
          'sessions that do not set "caller", "town" show the braces',
      ],
    ],
  ];
  const machines = (amd_enabled: boolean, action: string, message: string): Json => ({
    conversation: { outbound: { amd_enabled, voicemail: { action, message } } },
  });
  cases.push(
    [machines(true, 'hangup', ''), []],
    [machines(true, 'leave_message', 'Hello {{caller_number}}, it is {{system.today}}.'), []],
    [
      machines(true, 'leave_message', 'Hello {{name}}.'),
      [
        'conversation.outbound.voicemail.message uses variables that have no default: ' +
          'sessions that do not set "name" show the braces',
      ],
    ],
    [
      machines(false, 'leave_message', 'Hello.'),
      ['conversation.outbound.voicemail has no effect: conversation.outbound.amd_enabled is off'],
    ],
    [
      machines(true, 'leave_prompt_message', ' '),
      ['conversation.outbound.voicemail.message is empty: calls that a machine answers are hung up'],
    ],
    [
      machines(true, 'leave_message', 'x'.repeat(1001)),
      [
        'conversation.outbound.voicemail.message is longer than the 1000 characters that providers read out: ' +
          'no calls are placed with it',
      ],
    ],
    [machines(true, 'leave_prompt_message', 'x'.repeat(1001)), []],
  );
  for (const [config, warnings] of cases) {
    const id = await platform.agent({ config });
    t.strictSame((await publish(id))['warnings'], warnings, JSON.stringify(config));
  }
  const tool = await platform.tool({
    ...{ name: 'look', url: 'https://example.com/{{order}}/{{caller}}', arguments: [{ name: 'order' }] },
  });
  const calling = await platform.agent({ config: { tools: { tool_ids: [tool] } } });
  t.strictSame((await publish(calling))['warnings'], [
    'The tool "look" has placeholders that no argument of it fills: "caller"',
  ]);
  const [live, draft] = [await platform.agent(), await platform.agent()];
  await publish(live);
  const targets = [live, draft, 'agent_none'].map((id) => ({ agent_id: id }));
  const handing = await platform.agent({ config: { tools: { transfer_agents: targets } } });
  const takesNone = (id: string) =>
    `The agent "${id}" takes no calls: it is archived, not published, or not there`;
  t.strictSame((await publish(handing))['warnings'], [takesNone(draft), takesNone('agent_none')]);
  const older = await platform.agent();
  const conversation = { timezone: 'Mars/Olympus' };
  const analysis = { data_fields: [{ name: 'size', type: 'enum', enum_options: null, description: '' }] };
  await database.sql`update agents set config = config || ${database.sql.json({ conversation, analysis })} where id = ${older}`;
  t.strictSame(
    (await publish(older))['warnings'],
    ['Unknown time zone "Mars/Olympus"', 'The data field "size" has no options to choose from'],
    'what was stored before it was refused',
  );
});

t.test('a voice that is not there, or does not speak the language, is not published', async (t) => {
  const cases: [voice: Json, message: string][] = [
    [{ voice_id: 'nobody' }, 'There is no voice "nobody"; GET /model lists them'],
    [{ voice_id: 'alloy', speaking_language: 'de' }, 'The voice "alloy" does not speak "de"'],
  ];
  for (const [voice, message] of cases) {
    const id = await platform.agent({ config: { voice } });
    const refused = await call('POST', `${AGENTS}/${id}/publish`);
    t.strictSame(
      [refused.status, places(refused), refused.body['message']],
      [422, ['voice.voice_id'], message],
    );
    exactly(t, (await call('GET', `${AGENTS}/${id}`)).body, { publication_state: 'draft' });
  }
});

t.test('a voice that the draft is given while it is published is checked as well', async (t) => {
  for (let round = 0; round < 10; round += 1) {
    const id = await platform.agent();
    const body = { voice: { voice_id: 'nobody' } };
    const [changed, published] = await Promise.all([
      call('PATCH', `${AGENTS}/${id}/config`, { body }),
      call('POST', `${AGENTS}/${id}/publish`),
    ]);
    t.equal(changed.status, 200);
    const version = (await call('GET', `${AGENTS}/${id}/versions/1`)).body['config'] as Json | undefined;
    t.strictSame(
      [published.status, (version?.['voice'] as Json | undefined)?.['voice_id']],
      published.status === 200 ? [200, 'default'] : [422, undefined],
    );
  }
});

t.test('versions cannot be changed, not even by hand', async (t) => {
  const id = await platform.agent();
  await publish(id);
  await t.rejects(database.sql`update agent_versions set title = 'x' where agent_id = ${id}`, /immutable/);
});

t.test('public sessions find an agent by its id alone, others within their workspace', async (t) => {
  const id = await platform.agent();
  await publish(id);
  t.equal((await versions.find(id))?.agent.id, id);
  t.equal((await versions.find(id, workspaceId))?.agent.workspaceId, workspaceId);
  t.equal(await versions.find(id, 'ws_other'), undefined);
  t.equal(await versions.draft(id, 'ws_other'), undefined);
  t.equal((await versions.draft(id, workspaceId))?.version?.number, 0);
  t.strictSame(places(await configure(id, { tools: { tool_ids: ['x'] } })), ['tools.tool_ids.0']);
});
