/** Steps of an owner who has an agent (console-agents.mjs): its tools, its knowledge, voices, and the machine. */
import { exactly } from '../../dist/test/fixtures/exactly.js';
import { until } from '../../dist/test/fixtures/until.js';
import { agentOf, draftOf, HOSTILE } from './console.mjs';

export const LIBRARY_STEPS = {
  'a tool keeps its secrets, and is called': async (t, { button, call, hook, page, saved, tab, well }) => {
    await tab('Tools');
    await page.getByLabel('Name of a new tool').fill(HOSTILE[0]);
    await page.getByLabel('URL').fill('https://shop.example.com/orders/{{number}}');
    await button('Create').click();
    await button('Add to Headers').click();
    await page.getByLabel('Name', { exact: true }).last().fill('Authorization');
    await page.getByLabel('Value').fill('Bearer secret');
    await page.getByLabel('Kind', { exact: true }).selectOption('authorization_bearer');
    await saved();
    const tool = (await call('tools')).body.tools[0];
    exactly(t, (await call(`tools/${tool.tool_id}`)).body.headers[0], { value: null, has_secret: true });
    await button('Call it now').click();
    await page.getByText('no answer').waitFor();
    await page.getByLabel('URL').fill(hook.url);
    await button('Call it now').click();
    await page.locator('pre', { hasText: HOSTILE[5] }).waitFor();
    await well(t, 'a tool');
  },

  'knowledge is added, looked into and deleted': async (t, { button, call, page, saved, tab, well }) => {
    const id = await agentOf(call);
    await tab('Knowledge');
    await page.getByRole('heading', { level: 1, name: 'Knowledge' }).waitFor();
    await page.getByText('Add a text or a file').click();
    await page.getByLabel('Name', { exact: true }).fill(HOSTILE[1]);
    await page.getByLabel('Text').fill('# Opening hours\n\nNine to six.');
    await button('Create').click();
    await page.getByText('1 passage').waitFor();
    await page.getByLabel('Text').fill(`${HOSTILE[4]} Nine to seven.`);
    await button('Save the text').click();
    await until('it is saved', async () => !(await button('Save the text').isEnabled()));
    await well(t, 'knowledge');
    const source = /ks_\w+/.exec(page.url())[0];
    const knows = (sources) =>
      call(`agents/${id}/config`, {
        method: 'PATCH',
        body: { knowledge_base: { enabled: true, knowledge_source_ids: sources } },
      });
    await tab('All knowledge');
    await page.getByLabel('Agent', { exact: true }).selectOption(HOSTILE[0]);
    await page.getByLabel('A question').fill('Until seven?');
    await tab('Change its configuration');
    await page.getByRole('heading', { name: 'Knowledge base' }).click();
    await page.getByLabel(HOSTILE[1], { exact: true }).check();
    await saved();
    const used = { enabled: true, knowledge_source_ids: [source] };
    exactly(t, (await draftOf(call)).knowledge_base, used, 'the first source switches knowledge on');
    await page.goBack();
    await page.getByText('told as a whole').waitFor();
    await well(t, 'what an agent would be given');
    await knows([]);
    await page.goBack();
    await button('Delete…').click();
    await button('Delete for good').click();
    await page.getByText('No knowledge here yet.').waitFor();
  },

  'a voice is heard, and one of no sound is not made': async (t, { button, page, tab, well }) => {
    await tab('Voices');
    await page
      .getByRole('button', { name: /^Hear / })
      .first()
      .click();
    await page.getByText('Make a voice from recordings').click();
    await page.getByLabel('Name').fill(HOSTILE[2]);
    const sound = { name: `${HOSTILE[3]}.wav`, mimeType: 'audio/wav', buffer: Buffer.from('no sound') };
    await page.getByLabel('Recordings').setInputFiles(sound);
    await button('Make the voice').click();
    await page.getByRole('alert').waitFor();
    await well(t, 'voices, and why none was made');
  },

  'how the machine is': async (t, { page, tab, well }) => {
    await tab('Machine');
    await page.getByText('What was refused or failed in the last hour').waitFor();
    await page
      .getByText(/^Median: \d+ ms now, \d+ ms at its highest$/)
      .first()
      .waitFor();
    await page.getByText('Used this month by the workspace Default').waitFor();
    await page.getByRole('row', { name: /^API_KEY .* full Valid/ }).waitFor();
    await page.getByRole('row', { name: /Up 0.* \d+\.\d+\.\d+/ }).waitFor();
    await page
      .getByRole('row', { name: /^(Encoding of audio|Media of calls) Connected/ })
      .first()
      .waitFor();
    await page.getByRole('row', { name: /PATCH \/v1\/agent\/agents\/\{agent_id\}\/config 422 \d/ }).waitFor();
    await well(t, 'how the machine is');
  },
};
