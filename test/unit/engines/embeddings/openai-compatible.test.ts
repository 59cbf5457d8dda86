/** What a server of embeddings answers, read with suspicion (engines/embeddings/openai-compatible.ts). */
import t from '../../../fixtures/tap.js';
import { noKeeper } from '../../../../contracts/ports/parts.js';
import { LIMITS } from '../../../../contracts/limits.js';
import { createOpenaiEmbedder, vectorsIn } from '../../../../engines/embeddings/openai-compatible.js';
import { throwsExactly } from '../../../fixtures/exactly.js';
import { embeddingServer } from '../../../fixtures/knowledge/embeddings.js';

const bodyOf = (...data: unknown[]): Buffer => Buffer.from(JSON.stringify({ data }));

t.test('vectors are of length 1, in the order of their texts', async (t) => {
  const body = bodyOf({ index: 1, embedding: [0, 2] }, { index: 0, embedding: [3, 4] });
  t.strictSame(vectorsIn(body, 2).map((vector) => [...vector].map((each) => each.toFixed(2))), [['0.60', '0.80'], ['0.00', '1.00']]); // oxfmt-ignore
  t.equal(
    vectorsIn(bodyOf({ embedding: [1] }, { embedding: [1] }), 2).length,
    2,
    'without an index: as they come',
  );
});

t.test('anything else is refused', async (t) => {
  const long = Array.from({ length: LIMITS.embedding.dimensions + 1 }, () => 1);
  const wrong: Buffer[] = [
    ...[Buffer.from('<html>'), Buffer.from('null'), Buffer.from('{"data":{}}'), bodyOf(), bodyOf(null)],
    ...[
      bodyOf({ embedding: [1] }, { embedding: [1] }),
      bodyOf({ embedding: [] }),
      bodyOf({ embedding: [0, 0] }),
    ],
    ...[bodyOf({ embedding: [1, 'x'] }), bodyOf({ embedding: long }), bodyOf({ index: 7, embedding: [1] })],
  ];
  for (const body of wrong)
    throwsExactly(t, () => vectorsIn(body, 1), { code: 'provider_failed' }, body.toString().slice(0, 60));
  throwsExactly(t, () => vectorsIn(bodyOf({ embedding: [1] }, { embedding: [1, 2] }), 2), {
    code: 'provider_failed',
  });
  throwsExactly(t, () => vectorsIn(bodyOf({ index: 0, embedding: [1] }, { index: 0, embedding: [1] }), 2), { code: 'provider_failed' }); // oxfmt-ignore
});

t.test('models that want to know whether a text asks are told by their prefix', async (t) => {
  const server = await embeddingServer(t, [/a/]);
  const embed = async (model: string) => {
    const part = { kind: 'model', name: 'embeddings' } as const;
    const embedder = createOpenaiEmbedder({ url: server.url, model }, part, noKeeper);
    await embedder.embed(['a?'], 'question', 5000);
    await embedder.embed(['a.'], 'passage', 5000);
    return server.requests.splice(0).flatMap(({ input }) => input);
  };
  t.strictSame(await embed('intfloat/multilingual-e5-small'), ['query: a?', 'passage: a.']);
  t.strictSame(await embed('nomic-embed-text:v1.5'), ['search_query: a?', 'search_document: a.']);
  t.strictSame(await embed('text-embedding-3-small'), ['a?', 'a.']);
});
