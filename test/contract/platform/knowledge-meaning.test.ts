/** Knowledge by meaning: sources become vectors, both searches are merged, and words answer alone while the model is away. */
import t from '../../fixtures/tap.js';
import { exactly } from '../../fixtures/exactly.js';
import { embeddingServer, SHORT } from '../../fixtures/knowledge/embeddings.js';
import { LIMITS } from '../../../contracts/limits.js';
import { formOf, type Json, places, startPlatform } from '../../fixtures/platform/platform.js';
import { until } from '../../fixtures/until.js';

const SUBJECTS = [/dog|poodle/i, /open|when/i, /parking|car\b/i];
const model = await embeddingServer(t, SUBJECTS);
const platform = await startPlatform(t, {
  ...{ EMBEDDING_MODEL: 'subjects', EMBEDDING_BASE_URL: model.url, EMBEDDING_API_KEY: 'embedding-key' },
  ...{ LLM_BASE_URL: 'http://127.0.0.1:9/v1', LLM_API_KEY: 'another-key' },
});
const { call, database } = platform;
const SOURCES = '/v1/agent/knowledge-sources';

/** Makes a source one that is searched. */
const LARGE = `\n\n# Dough\n\n${'Flour and water. '.repeat(LIMITS.knowledge.wholeBytes / 16)}`;
const HOUSE = `# Animals\n\nDogs may come in.\n\n# Hours\n\nWe open at seven.\n\n# Cars\n\nThere is parking behind the house.${LARGE}`;

const indexingOf = async (id: string) => (await call('GET', `${SOURCES}/${id}`)).body['indexing'];
const indexed = (id: string) => until('it is indexed', async () => (await indexingOf(id)) === 'done');

const source = await platform.source(HOUSE, 'house.md');
const agent = await platform.agent({
  config: { knowledge_base: { enabled: true, knowledge_source_ids: [source] } },
});
const search = async (query: string, of = agent) =>
  (await call('POST', `/v1/agent/agents/${of}/knowledge/search`, { body: { query } })).body[
    'passages'
  ] as Json[];
const first = async (query: string) => {
  const [passage] = await search(query);
  return [(passage?.['text'] as string | undefined)?.split('\n')[0], passage?.['found_by']];
};

t.test('a source becomes vectors once it is saved, and is found by meaning and by words', async (t) => {
  await indexed(source);
  const [{ authorization, model: named, input } = {}] = model.requests;
  t.strictSame(
    [authorization, named],
    ['Bearer embedding-key', 'subjects'],
    'its own key, not that of another server',
  );
  t.match(input?.[0], /Dogs may come in/);
  t.ok(model.requests.every((request) => request.input.length <= LIMITS.embedding.batch));
  t.strictSame(await first('Is my poodle welcome?'), ['# Animals', 'meaning'], 'none of its words');
  t.strictSame(await first('May dogs come?'), ['# Animals', 'both']);
  const asked = model.requests.at(-1)?.input;
  await search('And when?\nI have a poodle.');
  t.strictSame(
    [asked, model.requests.at(-1)?.input],
    [['May dogs come?'], ['I have a poodle.\nAnd when?']],
    'as it was said',
  );
  const listed = (await call('GET', SOURCES)).body['knowledge_sources'] as Json[];
  t.equal(listed[0]?.['indexing'], 'done');
});

t.test('a new file is indexed again, and a version keeps the vectors of its own', async (t) => {
  await call('POST', `/v1/agent/agents/${agent}/publish`);
  const changed = HOUSE.replace('Dogs may come in.', 'Poodles have to wait.');
  const { body } = await call('PATCH', `${SOURCES}/${source}`, {
    raw: formOf({ source: new File([changed], 'house.md') }),
  });
  t.match(body['indexing'], /pending|done/);
  await indexed(source);
  t.match((await search('Is my puppy or my dog welcome?'))[0]?.['text'], /Poodles have to wait/);
  const old = await call('POST', `/v1/agent/agents/${agent}/knowledge/search`, {
    body: { query: 'Is my poodle welcome?', version_number: 1 },
  });
  exactly(t, (old.body['passages'] as Json[])[0], { text: /Dogs may come in/, found_by: 'meaning' });
});

t.test(
  'while the model is away words answer alone, the operator is told, and what is new waits',
  async (t) => {
    const told = () => platform.gateway.stdout() + platform.gateway.stderr();
    for (const answering of ['with a failure', 'strangely'] as const) {
      model.answering = answering;
      t.strictSame(await first('Where is parking?'), ['# Cars', 'words'], answering);
    }
    await until('it is told', () => /language model \(embeddings\).*EMBEDDING_BASE_URL/.test(told()));
    t.notMatch(told(), /embedding-key|parking/);
    const waiting = await platform.source(HOUSE, 'waiting.md');
    await until('it has failed', async () => (await indexingOf(waiting)) === 'failed');
    model.answering = 'well';
    await database.sql`update knowledge_revisions set embedding_due = now() where source_id = ${waiting}`;
    await indexed(waiting);
  },
);

t.test('a model that does not answer costs no more than its part of the time', async (t) => {
  model.answering = 'not at all';
  const begun = performance.now();
  t.strictSame(await first('Where is parking?'), ['# Cars', 'words']);
  t.ok(performance.now() - begun >= LIMITS.statements.readMs * LIMITS.embedding.timeShare - 50);
  model.answering = 'well';
  t.strictSame((await first('Where is parking?'))[1], 'both');
});

t.test('of passages that are too long for the model their beginnings are vectors', async (t) => {
  model.answering = 'to short texts';
  const long = await platform.source(HOUSE, 'long.md');
  await indexed(long);
  const told = model.requests.flatMap(({ input }) => input).filter((text) => text.startsWith('# Dough'));
  t.ok(told.some(({ length }) => length > SHORT) && told.some(({ length }) => length <= SHORT));
  model.answering = 'well';
});

t.test('with another model all is indexed again', async (t) => {
  await database.sql`update knowledge_revisions set embedded_model = 'before', embedding_due = 'infinity' where source_id = ${source}`;
  t.equal(await indexingOf(source), 'pending');
  t.strictSame((await first('Where is parking?'))[1], 'words', 'vectors of another model are not compared');
});

t.test('more passages than can be compared one by one are refused when they are attached', async (t) => {
  const large = await platform.source(HOUSE, 'large.md');
  const most = LIMITS.embedding.passages;
  const attach = () =>
    call('PATCH', `/v1/agent/agents/${agent}/config`, {
      body: { knowledge_base: { knowledge_source_ids: [large] } },
    });
  await database.sql`update knowledge_revisions set chunk_count = ${most} where source_id = ${large}`;
  t.equal((await attach()).status, 200);
  await database.sql`update knowledge_revisions set chunk_count = ${most + 1} where source_id = ${large}`;
  const refused = await attach();
  t.equal(refused.status, 422);
  t.strictSame(places(refused), ['knowledge_base.knowledge_source_ids']);
  t.match(refused.text, new RegExp(`${most + 1} passages together: at most ${most}`));
});
