/** Language models whose template begins a thought, so that their answers hold the closing mark alone. */
import t from '../../fixtures/tap.js';
import { delta, modelAt, sse } from '../../fixtures/chat/server.js';
import { answer, user } from '../../fixtures/chat/requests.js';

t.test('a model that sends only the end of its thoughts is heard thinking once at most', async (t) => {
  const answers = [
    ['Hm, a ', 'question.', '\n</think>\n\n', 'Yes.'],
    ['The user ', 'asks again.\n</th', 'ink>\n\nNo', ', never.'],
    ['Once ', 'more.', '</think>', 'Well.'],
    ['<think>Hm.', '</think>', 'Fine.'],
    ['It thinks ', 'no more.'],
    ['So ', 'be it.'],
  ];
  const model = await modelAt(t, (_request, response) => {
    const chunks = (answers.shift() ?? []).map((content) => delta({ content }));
    response.end(sse(...chunks, '[DONE]'));
  });
  const texts = async () =>
    (await answer(model, { messages: [user('U')] })).flatMap((event) =>
      event.kind === 'text' ? [event.text] : [],
    );
  t.same(await texts(), ['Hm, a ', 'question.', 'Yes.'], 'the first one cannot be known');
  t.same(await texts(), ['No', ', never.']);
  t.same(await texts(), ['Well.']);
  t.same(await texts(), ['Fine.'], 'with both marks');
  t.same(await texts(), ['It thinks no more.'], 'late, as it may be a thought');
  t.same(await texts(), ['So ', 'be it.'], 'no longer expected');
});
