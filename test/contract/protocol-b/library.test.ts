/**
 * Protocol B's voices, models, user and single-use tokens through whole gateways on one database (docs/contract/protocol-b.md
 * 6; docs/contract/decisions.md "Protocol B").
 */
import type { Test } from 'tap';
import t from '../../fixtures/tap.js';
import { systemClock } from '../../../contracts/clock.js';
import { randomIds } from '../../../contracts/ids.js';
import { LIMITS } from '../../../contracts/limits.js';
import { silentLog } from '../../../contracts/log.js';
import { SINGLE_USE_TOKEN_KINDS } from '../../../contracts/ports/accounts/single-use-tokens.js';
import { createToneSpeech } from '../../../engines/backends/tone/index.js';
import { voiceId } from '../../../engines/voices.js';
import { createKey, revokeKey } from '../../../storage/keys/keys.js';
import { createSingleUseTokens } from '../../../storage/keys/single-use-tokens.js';
import { createClonedVoices } from '../../../storage/voices.js';
import { exactly, rejectsExactly } from '../../fixtures/exactly.js';
import { startGateway, type Gateway } from '../../fixtures/gateway.js';
import { startPostgres } from '../../fixtures/database/postgres.js';
import { BASE, detailOf, KEY, ProtocolB } from '../../fixtures/protocol-b/rest.js';

const postgres = await startPostgres(t);
const SHARED = { DATABASE_URL: postgres.url, SECRETS_KEY: 'a secret that both gateways know 0123456789' };
const gateway = await startGateway(SHARED);
t.teardown(() => gateway.stop());
const neighbour = await startGateway(SHARED);
t.teardown(() => neighbour.stop());
const api = new ProtocolB(gateway);

const database = await postgres.open();
const { sql } = database;
const [own] = await sql`select workspace_id from api_keys where origin = 'environment'`;
const workspaceId = own!['workspace_id'] as string;
await sql`insert into workspaces (id, name, synthesis_characters) values ('ws_other', 'Other', 1000)`;
const other = await createKey(sql, randomIds, { workspaceId: 'ws_other', name: 'other' });

const cloned = await createClonedVoices({ database, ids: randomIds, clock: systemClock, log: silentLog });
t.teardown(() => cloned.stop());
const clone = (title: string, workspace = workspaceId) => {
  const references = [{ audio: Buffer.from('audio'), text: '' }];
  const voice = {
    title,
    description: `About ${title}`,
    tags: ['calm'],
    visibility: 'private',
    references,
  } as const;
  return cloned.create(voice, workspace);
};
await clone('Anna');
await clone('Bert');
await clone('Foreign', 'ws_other');

const TONE_ID = voiceId('tone', createToneSpeech().voices[0]!.name);

type Json = Record<string, unknown>;
interface Voice extends Json {
  readonly voice_id: string;
  readonly name: string;
  readonly labels: Record<string, unknown>;
}
interface Page extends Json {
  readonly voices: Voice[];
  readonly next_page_token: string | null;
}

async function read<T = Json>(t: Test, path: string, headers: Record<string, string> = KEY): Promise<T> {
  const response = await api.get(path, headers);
  t.equal(response.status, 200, path);
  t.match(response.headers.get('content-type'), /^application\/json/);
  return (await response.json()) as T;
}

const names = ({ voices }: Page): string[] => voices.map(({ name }) => name);

/** The fields of a voice that the protocol's description and its clients require. */
const VOICE_FIELDS = [
  'voice_id',
  'name',
  'category',
  'labels',
  'available_for_tiers',
  'high_quality_base_model_ids',
  'created_at_unix',
];

t.test('matrix "Voice listing": /v1/voices holds the engines’ voices and the workspace’s own', async (t) => {
  const page = await read<Page>(t, '/v1/voices');
  t.strictSame(names(page).sort(), ['Anna', 'Bert', 'Tone (for tests)']);
  for (const voice of page.voices) {
    for (const field of VOICE_FIELDS) t.ok(voice[field] !== undefined && voice[field] !== null, field);
    t.ok(
      Object.values(voice.labels).every((label) => typeof label === 'string'),
      'labels are text, or clients throw',
    );
  }
  exactly(
    t,
    page.voices.find(({ voice_id: id }) => id === TONE_ID),
    { category: 'premade', is_owner: false },
  );
  exactly(
    t,
    page.voices.find(({ name }) => name === 'Anna'),
    { category: 'cloned', is_owner: true, description: 'About Anna', labels: { tags: 'calm' } },
  );
});

t.test('matrix "Voice listing": /v2/voices pages through all of them', async (t) => {
  const first = await read<Page>(t, '/v2/voices');
  exactly(t, first, { has_more: false, total_count: 3, next_page_token: null });
  const seen: string[] = [];
  let token: string | null = '';
  while (token !== null) {
    const page: Page = await read<Page>(t, `/v2/voices?page_size=1&sort=name&next_page_token=${token}`);
    t.equal(page['has_more'], page.next_page_token !== null);
    t.equal(page['total_count'], 3);
    seen.push(...names(page));
    token = page.next_page_token;
  }
  t.strictSame(seen, ['Anna', 'Bert', 'Tone (for tests)']);
});

t.test('/v2/voices: search, filters, order, ids', async (t) => {
  const found: Record<string, string[]> = {
    'search=ANN': ['Anna'],
    'search=premade': ['Tone (for tests)'],
    'category=cloned&sort=name&sort_direction=desc': ['Bert', 'Anna'],
    'voice_type=default': ['Tone (for tests)'],
    [`voice_ids=${TONE_ID}&voice_ids=nobody`]: ['Tone (for tests)'],
    'include_total_count=false&search=bert': ['Bert'],
  };
  for (const [query, expected] of Object.entries(found))
    t.strictSame(names(await read<Page>(t, `/v2/voices?${query}`)), expected, query);
  const refused: [string, string][] = [
    ['page_size=0', 'page_size'],
    ['page_size=101', 'page_size'],
    ['page_size=x', 'page_size'],
    ['sort=age', 'sort'],
    ['sort_direction=up', 'sort_direction'],
    ['next_page_token=nobody', 'next_page_token'],
  ];
  for (const [query, param] of refused)
    exactly(t, await detailOf(t, await api.get(`/v2/voices?${query}`)), { code: 'invalid_request', param });
});

t.test(
  '/v2/voices: who deletes each page before asking for the next one still sees every voice',
  async (t) => {
    const titles = ['Zoe a', 'Zoe b', 'Zoe c', 'Zoe d'];
    const orders = [
      '',
      'sort=name',
      'sort=name&sort_direction=desc',
      'sort=created_at_unix&sort_direction=asc',
    ];
    for (const order of orders) {
      for (const title of titles) await clone(title);
      const seen: string[] = [];
      let token: string | null = '';
      while (token !== null) {
        const query = `page_size=1&search=zoe&${order}&next_page_token=${token}`;
        const page: Page = await read<Page>(t, `/v2/voices?${query}`);
        seen.push(...names(page));
        for (const { voice_id: id } of page.voices) t.ok(await cloned.remove(id, workspaceId));
        token = page.next_page_token;
      }
      t.strictSame(seen.toSorted(), titles, order);
    }
    for (const token of [
      `${'f'.repeat(32)}.x`,
      `${'f'.repeat(32)}.${Buffer.from('[1]').toString('base64url')}`,
    ])
      exactly(t, await detailOf(t, await api.get(`/v2/voices?next_page_token=${token}`)), {
        code: 'invalid_request',
        param: 'next_page_token',
      });
  },
);

t.test('/v1/voices/{id}: by id and alias; unknown is 404 here and 400 when spoken', async (t) => {
  const voice = await read<Voice>(t, `/v1/voices/${TONE_ID}?with_settings=true`);
  exactly(t, voice, { voice_id: TONE_ID, settings: { speed: 1 } });
  t.equal((await read<Voice>(t, '/v1/voices/alloy')).voice_id, TONE_ID);
  for (const id of ['Alloy', 'f'.repeat(32), 'svc%2Fx']) {
    const detail = await detailOf(t, await api.get(`/v1/voices/${id}`), 404);
    exactly(t, detail, { type: 'not_found', code: 'voice_not_found' });
  }
  t.equal((await detailOf(t, await api.speak('f'.repeat(32), { text: 'a' }))).code, 'voice_not_found');
});

t.test('settings of voices, as the SDK reads them', async (t) => {
  const settings = { stability: 0.5, similarity_boost: 0.75, style: 0, use_speaker_boost: true, speed: 1 };
  for (const path of [`/v1/voices/${TONE_ID}/settings`, '/v1/voices/settings/default'])
    t.strictSame(await read(t, path), settings);
  const detail = await detailOf(t, await api.get('/v1/voices/nobody/settings'), 404);
  exactly(t, detail, { code: 'voice_not_found', message: /GET \/v1\/voices lists/ });
});

t.test('matrix "Model catalog": a bare list with what the protocol requires', async (t) => {
  const models = await read<Json[]>(t, '/v1/models');
  const aliases = models.filter(({ description }) => String(description).startsWith('Alias of '));
  t.strictSame(
    models
      .filter((model) => !aliases.includes(model))
      .map(({ model_id: id, can_do_text_to_speech: speaks }) => [id, speaks]),
    [
      ['svc/s2.1-pro', true],
      ['svc/s2.1-pro-free', true],
      ['svc/s2-pro', true],
      ['svc/s1', true],
      ['svc/transcribe-1', false],
    ],
  );
  const named = (id: string) => aliases.find(({ model_id: known }) => known === id);
  exactly(t, named('eleven_multilingual_v2'), {
    can_do_text_to_speech: true,
    description: 'Alias of svc/s2.1-pro',
  });
  exactly(t, named('scribe_v1'), { can_do_text_to_speech: false, description: 'Alias of svc/transcribe-1' });
  exactly(t, await read(t, '/v1/voices/default'), { voice_id: 'default', name: 'Default' });
  for (const model of models) {
    exactly(t, model, {
      name: String,
      description: String,
      token_cost_factor: Number,
      maximum_text_length_per_request: Number,
      model_rates: { character_cost_multiplier: Number },
      concurrency_group: String,
    });
    exactly(t, (model['languages'] as object[])[0], { language_id: String, name: String });
  }
});

t.test('user and subscription: the workspace’s own numbers', async (t) => {
  const free = await read(t, '/v1/user');
  exactly(t, free, { user_id: workspaceId, subscription: { character_limit: 2 ** 31 - 1 } });
  const subscription = await read(t, '/v1/user/subscription', { 'xi-api-key': other.key });
  exactly(t, subscription, { character_limit: 1000, character_count: 0, status: 'active' });
  t.strictSame(subscription['open_invoices'], []);
  t.ok((subscription['next_character_count_reset_unix'] as number) > Date.now() / 1000);
});

t.test('every listing needs a key', async (t) => {
  const paths = [
    '/v1/voices',
    '/v2/voices',
    `/v1/voices/${TONE_ID}`,
    `/v1/voices/${TONE_ID}/settings`,
    '/v1/voices/settings/default',
    '/v1/models',
    '/v1/user',
    '/v1/user/subscription',
  ];
  for (const path of paths) {
    await detailOf(t, await api.get(path, {}), 401);
    await detailOf(t, await api.get(path, { 'xi-api-key': 'wrong' }), 401);
  }
  await detailOf(t, await fetch(api.url('/v1/single-use-token/realtime_scribe'), { method: 'POST' }), 401);
});

const issue = (kind: string, at: Gateway = gateway) =>
  fetch(`${at.base}${BASE}/v1/single-use-token/${kind}`, { method: 'POST', headers: KEY });

async function tokenOf(t: Test, kind: string): Promise<string> {
  const response = await issue(kind);
  t.equal(response.status, 200);
  return ((await response.json()) as { token: string }).token;
}

/** Whether the gateway accepts the token for an upload; the request has no file, so nothing more happens. */
async function opens(token: string, at: Gateway): Promise<boolean> {
  const response = await new ProtocolB(at).transcribe(new FormData(), { token }, {});
  await response.body?.cancel();
  return response.status !== 401;
}

t.test('single-use tokens: each kind is issued; any other is 400', async (t) => {
  for (const kind of SINGLE_USE_TOKEN_KINDS) t.match(await tokenOf(t, kind), /^sutkn_[A-Za-z0-9_-]{43}$/);
  exactly(t, await detailOf(t, await issue('everything')), { code: 'invalid_request', param: 'type' });
});

t.test('a token works once, among all gateways, for its kind', async (t) => {
  const token = await tokenOf(t, 'batch_scribe');
  const opened = await Promise.all([gateway, neighbour, gateway, neighbour].map((at) => opens(token, at)));
  t.equal(opened.filter(Boolean).length, 1, 'whoever comes first');
  t.notOk(await opens(await tokenOf(t, 'tts_websocket'), neighbour));
  t.notOk(await opens('sutkn_nobody', gateway));
});

t.test('a key in the headers is taken before a token, which stays good', async (t) => {
  const token = await tokenOf(t, 'batch_scribe');
  await (await api.transcribe(new FormData(), { token })).body?.cancel();
  t.ok(await opens(token, neighbour));
});

const tokens = createSingleUseTokens({ database, log: silentLog });

t.test('a token stands for its caller, as long as the key does, and leaves no trace of itself', async (t) => {
  const { id: keyId } = await createKey(sql, randomIds, { workspaceId: 'ws_other', name: 'short' });
  const caller = { workspaceId: 'ws_other', keyId };
  const token = await tokens.issue(caller, 'tts_websocket');
  const [row] = await sql`select s::text as row from single_use_tokens s where key_id = ${keyId}`;
  t.notOk(String(row!['row']).includes(token.slice(6)), 'digests only');
  t.equal(await tokens.redeem(token, 'realtime_scribe'), undefined, 'another kind leaves it alone');
  t.strictSame(await tokens.redeem(token, 'tts_websocket'), { ...caller, role: 'full' });
  t.equal(await tokens.redeem(token, 'tts_websocket'), undefined);
  t.equal((await sql`select 1 from single_use_tokens where key_id = ${keyId}`).length, 0);
  const late = await tokens.issue(caller, 'tts_websocket');
  await revokeKey(sql, keyId);
  t.equal(await tokens.redeem(late, 'tts_websocket'), undefined, 'the key is revoked');
});

t.test('a token lives for 15 minutes, and is swept away after them', async (t) => {
  const caller = { workspaceId: 'ws_other', keyId: other.id };
  const token = await tokens.issue(caller, 'tts_websocket');
  const [row] = await sql`
    select extract(epoch from expires_at - clock_timestamp())::float8 as left
    from single_use_tokens where key_id = ${other.id}`;
  const left = row!['left'] as number;
  t.ok(left > 800 && left <= LIMITS.singleUseToken.ttlMs / 1000);
  await sql`update single_use_tokens set expires_at = clock_timestamp() where key_id = ${other.id}`;
  t.equal(await tokens.redeem(token, 'tts_websocket'), undefined);
  const kept = await tokens.issue(caller, 'tts_websocket');
  const rows = await sql`select 1 from single_use_tokens where key_id = ${other.id}`;
  t.equal(rows.length, 1, 'the new one alone');
  t.ok(await tokens.redeem(kept, 'tts_websocket'));
});

t.test('a workspace has a bounded number of unused tokens', async (t) => {
  const caller = { workspaceId: 'ws_other', keyId: other.id };
  const { perWorkspace } = LIMITS.singleUseToken;
  await sql`
    insert into single_use_tokens (digest, workspace_id, key_id, kind, expires_at)
    select sha256(number::text::bytea), 'ws_other', ${other.id}, 'tts_websocket', clock_timestamp() + interval '1 hour'
    from generate_series(1, ${perWorkspace}::int) number`;
  await rejectsExactly(t, tokens.issue(caller, 'tts_websocket'), {
    code: 'concurrency_exceeded',
    status: 429,
  });
  await sql`delete from single_use_tokens where workspace_id = 'ws_other'`;
  t.ok(await tokens.issue(caller, 'tts_websocket'));
});

t.test('if the database does not answer, a token is 503, not 401', async (t) => {
  const away = await postgres.open();
  await away.close();
  const orphaned = createSingleUseTokens({ database: away, log: silentLog });
  const token = `sutkn_${'a'.repeat(43)}`;
  await rejectsExactly(t, orphaned.redeem(token, 'tts_websocket'), { code: 'overloaded', status: 503 });
});

t.test('the interface description covers the listings', async (t) => {
  const { paths } = (await (await fetch(`${gateway.base}/openapi.json`)).json()) as { paths: Json };
  const described = ['/v1/voices', '/v2/voices', '/v1/voices/{voice_id}', '/v1/models', '/v1/user'];
  for (const path of [...described, '/v1/user/subscription', '/v1/single-use-token/{type}'])
    t.ok(paths[BASE + path], path);
});
