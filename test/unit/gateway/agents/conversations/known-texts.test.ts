/** What an agent knows by heart, and what is searched for where it does not. */
import t from '../../../../fixtures/tap.js';
import { ServiceError } from '../../../../../contracts/errors.js';
import type { KnowledgeSearch, Passage } from '../../../../../contracts/ports/agents/knowledge.js';
import type { SessionPlan } from '../../../../../contracts/ports/sessions/sessions.js';
import { DEFAULT_CONFIG } from '../../../../../contracts/schemas/agent-config.js';
import { KnownTexts, questionOf } from '../../../../../gateway/agents/conversations/known-texts.js';

const TEXT = { sourceId: 'ks_1', source: 'Hours', text: 'From 7:30.', rank: 1, by: 'whole' } as const;
const planOf = (): SessionPlan => {
  const config = { ...DEFAULT_CONFIG, knowledge_base: { enabled: true, knowledge_source_ids: [] } };
  return { config, knowledge: [{ sourceId: 'ks_1', revision: 1 }] } as unknown as SessionPlan;
};

t.test(
  'texts are read once for each agent of a call, and again if the database did not answer',
  async (t) => {
    const answers: (() => Promise<readonly Passage[]>)[] = [
      () => Promise.reject(new ServiceError('storage_busy')),
      () => Promise.resolve([TEXT]),
      () => Promise.resolve([]),
    ];
    const knowledge: KnowledgeSearch = {
      whole: () => answers.shift()!(),
      search: () => Promise.reject(new Error('not asked')),
    };
    const texts = new KnownTexts();
    const [first, second] = [planOf(), planOf()];
    const told = async (plan: SessionPlan) => (await texts.of(knowledge, 'ws', plan)).map(({ text }) => text);
    t.same(await told(first), []);
    t.same(await told(first), ['From 7:30.']);
    t.same(await told(first), ['From 7:30.'], 'kept');
    t.same(await told(second), [], 'of an agent whose sources are too large');
    t.same(await told(second), [], 'kept as well');
    t.same(answers, []);
  },
);

t.test("the question is made of the user's last three turns, a line each, the newest first", async (t) => {
  const user = (content: string) => ({ role: 'user', content }) as const;
  const said = [
    user('Hello'),
    user('When do you open?'),
    { role: 'assistant', content: 'At seven.' } as const,
  ];
  t.equal(questionOf([]), undefined);
  t.equal(questionOf([{ role: 'assistant', content: 'Hello.' }]), undefined);
  t.equal(questionOf([user('Hello')]), 'Hello');
  t.equal(questionOf([...said, user('And on Sundays?')]), 'And on Sundays?\nWhen do you open?\nHello');
  t.equal(
    questionOf([user('Hi'), ...said, user('And\n on Sundays?')]),
    'And on Sundays?\nWhen do you open?\nHello',
  );
});
