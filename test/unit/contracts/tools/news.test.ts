/** What a model is told of a tool. */
import t from '../../../fixtures/tap.js';
import { readToolNews, toolNews } from '../../../../contracts/tools/news.js';

t.test('what a model is told of a tool is found again', async (t) => {
  t.equal(readToolNews(toolNews('find', '{"a":1}', ' 42 has answered: no')), ' 42 has answered: no');
  t.equal(readToolNews('The tool has answered.'), undefined);
});
