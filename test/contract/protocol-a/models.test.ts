/** GET …/models on all bases, and endpoints that protocol A does not have (docs/contract/protocol-a.md 3; rule 13). */
import t from '../../fixtures/tap.js';
import { exactly } from '../../fixtures/exactly.js';
import { sharedGateway } from '../../fixtures/gateway.js';
import { AGGREGATOR, BASES, type Fields, PLAIN, refusal, ROOT } from '../../fixtures/protocol-a/rest.js';

const gateway = await sharedGateway(t);

t.test('GET …/models: no key, one list for all clients', async (t) => {
  for (const base of BASES) {
    const list = async (query: string) => {
      const response = await fetch(`${gateway.base}${base}/models${query}`);
      t.equal(response.status, 200);
      return (await response.json()) as {
        object: string;
        data: Fields[];
        links: Fields;
        total_count: number;
      };
    };
    const ids = async (query: string) => (await list(query)).data.map(({ id }) => id);
    const all = await list('');
    exactly(t, all, { object: 'list', links: { next: null }, total_count: 5 });
    const speech = ['svc/s2.1-pro', 'svc/s2.1-pro-free', 'svc/s2-pro', 'svc/s1'];
    t.strictSame(await ids(''), [...speech, 'svc/transcribe-1']);
    t.strictSame(await ids('?output_modalities=speech&limit=500&offset=0'), speech);
    for (const name of ['text', 'transcription'])
      t.strictSame(await ids(`?output_modalities=${name}`), ['svc/transcribe-1']);
    t.strictSame(await ids('?output_modalities=image'), []);
    t.equal((await ids('?output_modalities=speech,text')).length, 5);
    t.equal((await ids('?output_modalities=')).length, 5);
  }
});

t.test('limit and offset: pages that end', async (t) => {
  interface List {
    readonly data: { readonly id: string }[];
    readonly links: { readonly next: string | null };
    readonly total_count: number;
  }
  const read = async (path: string): Promise<List> =>
    (await fetch(gateway.base + path)).json() as Promise<List>;
  for (const base of BASES) {
    const seen: string[] = [];
    for (let next: string | null = `${base}/models?output_modalities=all&limit=2`; next !== null;) {
      const page: List = await read(next);
      t.ok(page.data.length <= 2 && page.total_count === 5);
      seen.push(...page.data.map(({ id }) => id));
      next = page.links.next;
    }
    t.equal(new Set(seen).size, 5);
    t.equal(seen.length, 5);
    exactly(t, await read(`${base}/models?limit=5&offset=5`), { data: [], links: { next: null } });
    t.equal((await read(`${base}/models?limit=&offset=`)).data.length, 5);
    for (const [name, value] of [
      ['limit', '0'],
      ['limit', 'all'],
      ['offset', '-1'],
      ['offset', '1.5'],
    ] as const)
      t.equal((await refusal(await fetch(`${gateway.base}${base}/models?${name}=${value}`))).param, name);
  }
});

t.test('rule 13: what is always null in the catalogue, and what is absent (decision 3)', async (t) => {
  const response = await fetch(`${gateway.base}${AGGREGATOR}/models`, {
    headers: { authorization: 'Bearer nonsense' },
  });
  const { data } = (await response.json()) as { data: Fields[] };
  for (const entry of data) {
    for (const name of ['context_length', 'default_parameters', 'per_request_limits', 'supported_voices']) {
      t.equal(entry[name], null, name);
    }
    const absent = [
      'alias_target',
      'benchmarks',
      'expiration_date',
      'hugging_face_id',
      'knowledge_cutoff',
      'reasoning',
    ];
    for (const name of absent) t.notOk(name in entry, name);
    exactly(t, entry, { object: 'model', owned_by: 'svc', id: /^svc\//, name: String, created: Number });
  }
});

t.test("404 in the protocol's shape: a model by id, translations, anything unknown", async (t) => {
  const compatible = BASES.filter((base) => base !== ROOT);
  const paths = compatible.flatMap((base) => [
    `${base}/models/svc%2Fs2.1-pro`,
    `${base}/models/svc/s2.1-pro`,
    `${base}/models/`,
    `${base}/audio/translations`,
    `${base}/embeddings`,
    base,
    // The matrix: no voice listing, no speech with the times of its characters.
    `${base}/voices`,
    `${base}/audio/voices`,
    `${base}/audio/speech/with-timestamps`,
  ]);
  const own = [
    `${ROOT}/models/svc%2Fs2.1-pro`,
    `${ROOT}/models/`,
    `${ROOT}/audio`,
    `${ROOT}/audio/translations`,
    ...['completions', 'embeddings', 'images/generations', 'moderations', 'responses', 'responses/id'].map(
      (path) => `${ROOT}/${path}`,
    ),
  ];
  for (const path of [...paths, ...own, '/compat', '/compat/v2/audio/speech', '/compat/nobody/v1/models']) {
    for (const method of ['GET', 'POST']) {
      const response = await fetch(`${gateway.base}${path}`, { method, headers: gateway.authorization });
      exactly(t, await refusal(response, 404), { type: 'invalid_request_error' }, `${method} ${path}`);
    }
  }
  const wrong = await fetch(`${gateway.base}${PLAIN}/audio/speech`, { headers: gateway.authorization });
  t.match(wrong.headers.get('allow'), /^POST\b/);
  t.equal((await refusal(wrong, 405)).type, 'invalid_request_error');
});

t.test('the interface description has every route of every base', async (t) => {
  const { paths } = (await (await fetch(`${gateway.base}/openapi.json`)).json()) as {
    paths: Record<string, Fields>;
  };
  for (const base of BASES) {
    t.ok(paths[`${base}/audio/speech`]?.['post']);
    t.ok(paths[`${base}/audio/transcriptions`]?.['post']);
    const models = paths[`${base}/models`]?.['get'] as { security: unknown; responses: Fields };
    t.strictSame(models.security, []);
    t.strictSame(Object.keys(models.responses), ['200', '400', '503']);
  }
});
