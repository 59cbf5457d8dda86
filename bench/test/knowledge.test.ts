/** What is asked of knowledge: as many questions as the page says, each answered by one passage. */
import t from 'tap';
import { CORPUS } from '../src/scenarios/knowledge/knowledge.js';

const SEARCHED_FROM_BYTES = 8 * 1024;

const sectionsOf = (text: string): string[] => text.split(/^## /m).slice(1);

t.test('sixty questions over ten sources in three languages, with follow-ups and paraphrases', async (t) => {
  t.equal(CORPUS.length, 10);
  t.strictSame([...new Set(CORPUS.map(({ language }) => language))], ['en', 'de', 'ja']);
  t.ok(CORPUS.reduce((sum, { text }) => sum + Buffer.byteLength(text), 0) > SEARCHED_FROM_BYTES);
  for (const kind of ['direct', 'paraphrase', 'follow-up'])
    t.equal(
      CORPUS.flatMap(({ questions }) => questions).filter((each) => each.kind === kind).length,
      20,
      kind,
    );
});

t.test('one section of its source answers a question, and none of another', async (t) => {
  const sections = CORPUS.flatMap(({ name, text }) => sectionsOf(text).map((section) => ({ name, section })));
  for (const { name, questions } of CORPUS)
    for (const { answer } of questions) {
      const holding = sections.filter(({ section }) => section.includes(answer));
      t.strictSame(
        holding.map((each) => each.name),
        [name],
        answer,
      );
    }
});
