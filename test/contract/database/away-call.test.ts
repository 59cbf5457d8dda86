/**
 * A database that is away while people talk: agents answer on, without passages of their knowledge; what was said is written, once,
 * when it is back; the log says that it is away, and that it is back, and little else.
 */
import { setTimeout } from 'node:timers/promises';
import t from '../../fixtures/tap.js';
import { startEmbeddedPostgres } from '../../../storage/embedded.js';
import { letGo } from '../../fixtures/calls/caller.js';
import { filledFolderOf } from '../../fixtures/database/clusters.js';
import { type Meeting, messagesOf, shownBy, Talks } from '../../fixtures/conversation/conversation.js';
import { exactly } from '../../fixtures/exactly.js';
import { TEST_SECRET } from '../../fixtures/gateway.js';
import { said } from '../../fixtures/chat/model.js';
import { shortOrLong } from '../../fixtures/long.js';
import { until } from '../../fixtures/until.js';

t.teardown(letGo);
t.setTimeout(240_000);
/** Longer than a process without other ones used to speak on. */
const AWAY_MS = shortOrLong(14_000, 20_000);

/** More than an agent has in its instructions: it is searched. */
const HANDBOOK = Array.from({ length: 400 }, (_, at) => `Shelf ${at} holds parcels of size ${at}.\n\n`).join(
  '',
);

interface Line {
  readonly level: number;
  readonly msg: string;
}

const WARN = 40;
const MOST_ASKED = 20;

async function attached(talks: Talks): Promise<string> {
  const form = new FormData();
  form.set('source', new File([HANDBOOK], 'handbook.txt'));
  const { gateway } = talks;
  const headers = gateway.authorization;
  const made = await fetch(`${gateway.base}/v1/agent/knowledge-sources`, {
    method: 'POST',
    headers,
    body: form,
  });
  return ((await made.json()) as { knowledge_source_id: string }).knowledge_source_id;
}

const linesOf = (text: string): Line[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);

/** What the caller types, and the answer; resolves once the answer is shown. */
async function ask({ caller }: Meeting, text: string): Promise<void> {
  const before = shownBy(caller, 'agent').length;
  caller.send({ type: 'user.message', text, audio: false });
  await until(`an answer to "${text}"`, () => shownBy(caller, 'agent').length > before);
}

const hasPassages = (messages: readonly { readonly content: string | null }[]): boolean =>
  messages.some(({ content }) => content?.includes('[handbook.txt]'));

/** The record of a conversation in which those were asked, each answered by what the model was asked last. */
const answered = (questions: readonly string[]): string[] =>
  questions.flatMap((question) => [`user: ${question}`, `assistant: You asked: ${question}`]);

t.test('calls outlive a database that is away, and their records have all that was said', async (t) => {
  const folder = filledFolderOf(t);
  const first = await startEmbeddedPostgres({ dataDir: folder });
  const talks = await Talks.start(t, {
    DATABASE_URL: first.url,
    SECRETS_KEY: TEST_SECRET,
    LOG_LEVEL: 'info',
  });
  const { model, gateway } = talks;
  model.answer((messages) => `You asked: ${said(messages).split('\n').at(-1)}`);
  const told = (words: RegExp): Line[] => linesOf(gateway.stderr()).filter(({ msg }) => words.test(msg));
  const config = { knowledge_base: { enabled: true, knowledge_source_ids: [await attached(talks)] } };
  const agent = await talks.agent(config);
  const [staying, leaving] = [await talks.meet(config), await talks.meet(config)];
  const asked: string[] = [];
  const asks = async (text: string): Promise<void> => {
    asked.push(text);
    await ask(staying, text);
  };
  const withPassages = (): number => model.asked.filter(hasPassages).length;
  // A search has 300 ms, which a busy machine may need for other things.
  while (withPassages() === 0 && asked.length < MOST_ASKED) await asks('Where is shelf 12?');
  const found = withPassages();
  t.ok(found > 0, 'passages while there is a database');

  await first.stop();
  const gone = performance.now();
  await ask(leaving, 'Is anybody there?');
  leaving.caller.hangUp();
  while (performance.now() - gone < AWAY_MS) {
    await asks(`What holds shelf ${asked.length}?`);
    await setTimeout(500);
  }
  t.equal(withPassages(), found, 'no answer of the search is no passages');
  const { status, body } = await talks.call('sessions', { body: { agent_id: agent } });
  exactly(
    t,
    { status, body },
    { status: 503, body: { message: /try again/ } },
    'nothing new begins meanwhile',
  );
  t.equal((await fetch(`${gateway.base}/health`)).status, 503);

  const second = await startEmbeddedPostgres({ dataDir: folder });
  t.teardown(() => second.stop());
  await asks('Is all well again?');
  await until(
    'the log says that it is back',
    () => told(/^The database .* is back after \d+ s$/).length === 1,
  );
  staying.caller.hangUp();
  t.strictSame(messagesOf(await talks.ended(staying.invite)), answered(asked), 'nothing is lost or double');
  t.strictSame(messagesOf(await talks.ended(leaving.invite)), answered(['Is anybody there?']));
  exactly(t, told(/^The database .* is away/), [{ setting: 'DATABASE_URL', address: /^postgres/ }]);
  exactly(t, told(/ready again/), [{ level: 30 }]);
  const warnings = told(/./).filter(({ level }) => level >= WARN);
  t.ok(warnings.length <= 8, `${warnings.length} warnings: ${JSON.stringify(warnings)}`);
});
