/** GET …/models on all three bases, and what protocol A does not have (protocol-a.md section 3; spec rule 13). */
import t from 'tap';
import { startGateway } from '../fixtures/gateway.js';
import { AGGREGATOR, BASES, type Fields, PLAIN, refusal } from '../fixtures/protocol-a.js';

const gateway = await startGateway();
t.teardown(() => gateway.stop());

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
    t.match(all, { object: 'list', links: { next: null }, total_count: 5 });
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

t.test('rule 13: what is always null in the catalogue, and what is absent (fine point 3)', async (t) => {
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
    t.match(entry, { object: 'model', owned_by: 'svc', id: /^svc\//, name: String, created: Number });
  }
});

t.test("404 in the protocol's shape: a model by id, translations, anything unknown", async (t) => {
  const paths = BASES.flatMap((base) => [
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
  for (const path of [...paths, '/compat', '/compat/v2/audio/speech', '/compat/nobody/v1/models']) {
    for (const method of ['GET', 'POST']) {
      const response = await fetch(`${gateway.base}${path}`, { method, headers: gateway.authorization });
      t.match(await refusal(response, 404), { type: 'invalid_request_error' }, `${method} ${path}`);
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
    t.strictSame((paths[`${base}/models`]?.['get'] as { security: unknown }).security, []);
  }
});
