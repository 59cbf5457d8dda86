/** The console's views of agent tests: scenarios, suites, runs, results, and two runs side by side. */
import { exactly } from '../../dist/test/fixtures/exactly.js';
import { until } from '../../dist/test/fixtures/until.js';
import { HOSTILE } from './console.mjs';

/** Makes a scenario in writing and changes each of its parts; resolves with it. */
async function makeScenario(t, { page, agent, call, button, view, saved, well }) {
  await view('Tests');
  await page.getByText('No scenarios here yet.').waitFor();
  await page.getByText('Add a scenario').click();
  await page.getByLabel('Name', { exact: true }).fill(HOSTILE[1]);
  await page.getByLabel('What the user says').fill('When does the shop open on weekdays?\n\nThank you, bye.');
  await button('Create').click();
  await button('Add to Checks').click();
  t.equal(await page.getByLabel('Criterion').count(), 0, 'a check shows the fields of its type only');
  await page.getByText('missing field text').first().waitFor();
  await page.getByLabel('Text', { exact: true }).fill('nine on weekdays');
  await saved();
  await page.getByLabel('Mode').selectOption('voice');
  await page.getByLabel('Pause, in ms').fill('300');
  await saved();
  await well(t, 'a scenario');
  await page.getByLabel('Mode').selectOption('text');
  await saved();
  await page.getByLabel('Who speaks').selectOption('goal');
  await page.getByLabel('Goal').fill('To know when the shop opens');
  await saved();
  await page.getByLabel('Who speaks').selectOption('script');
  await page.getByLabel('What the user says').fill('When does the shop open on weekdays?');
  await saved();
  const [scenario] = (await call(`tests/scenarios?agent_id=${agent}`)).body.scenarios;
  exactly(t, scenario, {
    mode: 'text',
    user: { lines: ['When does the shop open on weekdays?'] },
    checks: [{ type: 'contains', text: 'nine on weekdays' }],
  });
  return scenario;
}

async function makeScenarioByVoice(t, { page, button, saved, well }) {
  await page.getByRole('link', { name: 'All scenarios' }).click();
  await page.getByText('In writing, 1 check').waitFor();
  const lines = page.getByLabel('What the user says');
  await page.getByText('Add a scenario').click();
  await page.getByLabel('Name', { exact: true }).fill('By telephone');
  await page.getByLabel('How it is held').selectOption('By voice');
  await lines.fill('Open <break time="300ms"/> now?');
  await page.reload();
  await page.getByText('Add a scenario').click();
  t.match(await lines.inputValue(), 'Open <break time="300ms"/> now?', 'what was typed outlives a reload');
  await button('Create').click();
  await page.getByLabel('Noise, in dB').fill('-60');
  await button('Add to Interruptions').click();
  await page.getByLabel('Turn', { exact: true }).fill('1');
  await page.getByLabel('After, in ms').fill('60000');
  await page.getByLabel('Say', { exact: true }).fill(HOSTILE[2]);
  await saved();
  await well(t, 'a scenario by voice');
}

/** Makes a suite of both scenarios. */
async function makeSuite(t, { page, agent, call, button, view, well }, scenario) {
  await page.getByRole('link', { name: 'All scenarios' }).click();
  await view('Suites');
  await page.getByText('Make a suite').click();
  await page.getByLabel('Name', { exact: true }).fill(HOSTILE[3]);
  t.equal(await button('Create').isEnabled(), false, 'a suite has a scenario');
  await button('All').click();
  await button('Create').click();
  await page.waitForURL(/suites\/\w/);
  await page.getByText('Scenarios: 2 of 2 chosen').waitFor();
  const chosen = async () => (await call(`tests/suites?agent_id=${agent}`)).body.suites[0].scenario_ids;
  await page.getByLabel('By telephone · By voice').uncheck();
  await until('a suite is changed as it is clicked', async () => (await chosen()).length === 1);
  t.strictSame(await chosen(), [scenario.scenario_id]);
  await page.getByLabel('By telephone · By voice').check();
  await until('it is there again', async () => (await chosen()).length === 2);
  await well(t, 'a suite');
}

/** Plays the suite against the published version, and plays the call of its test by voice. */
async function playSuite(t, { page, button, well }) {
  await page.getByLabel('Version').selectOption('Version 1');
  await button('Play them').click();
  await page.getByText(/^Version 1, .* · /).waitFor();
  await page.getByRole('row', { name: /Passed 1 of 1/ }).waitFor();
  await page.getByRole('row', { name: /By telephone Passed/ }).waitFor();
  await well(t, 'a run');
  const first = page.url();
  await button('Run again').click();
  await page.waitForURL((url) => /runs\/run_/.test(url.href) && url.href !== first);
  await page.getByText(/^Version 1, .* · /).waitFor();
  await page.getByRole('row', { name: /Passed 1 of 1/ }).waitFor();
  await button('Cancel').click();
  await button('Delete…').click();
  await button('Delete for good').click();
  await page
    .getByRole('row', { name: /Version 1/ })
    .getByRole('link')
    .click();
  await page.getByRole('link', { name: 'By telephone' }).click();
  const plays = button('Play');
  await until('its call can be heard', () => plays.isEnabled());
  await plays.click();
  await until('it plays', async () => Number(await page.getByLabel('Position').inputValue()) > 0.3);
  await button('Pause').click();
  await page.getByText('Answers, median').waitFor();
  await well(t, 'a result by voice');
  await page.getByRole('link', { name: 'Back to the run' }).click();
}

/** Takes all other scenarios out of the suite. */
async function keepOnly({ call, agent }, { scenario_id: id }) {
  const [{ suite_id: suite }] = (await call(`tests/suites?agent_id=${agent}`)).body.suites;
  await call(`tests/suites/${suite}`, { method: 'PATCH', body: { scenario_ids: [id] } });
}

/**
 * Plays the suite against a draft that fails it, and compares both runs. In the short form the second run is in writing only,
 * since a call takes as long as people talk.
 */
async function compareRuns(t, { page, agent, call, button, well, long }, scenario) {
  const body = { prompt: { system_prompt: 'The shop is closed.' } };
  await call(`agents/${agent}/config`, { method: 'PATCH', body });
  if (!long) await keepOnly({ call, agent }, scenario);
  await page.getByRole('link', { name: 'All runs' }).click();
  await page.getByLabel('Version').selectOption('Draft');
  await page.getByLabel('Which').selectOption(HOSTILE[3]);
  await button('Play them').click();
  await page.getByRole('row', { name: /Failed 0 of 1/ }).waitFor();
  if (long) await page.getByRole('row', { name: /By telephone Passed/ }).waitFor();
  await page.getByRole('link', { name: HOSTILE[1] }).click();
  await page.locator('.lines', { hasText: 'When does the shop open' }).waitFor();
  await well(t, 'a result');
  await page.getByRole('link', { name: 'Back to the run' }).click();
  await page.getByLabel('Compare with another run').selectOption({ index: 1 });
  await page.getByText('Broken').waitFor();
  await page.getByText('holds → does not hold').waitFor();
  const calls = long ? 2 : 1;
  await until('all are there', async () => (await page.locator('.lines').count()) === (long ? 2 : 3));
  if (long) await page.getByRole('heading', { name: 'By telephone' }).click();
  else await page.getByText('It was not part of this run.').waitFor();
  for (let count = 0; count < calls; count += 1) await button('Hear the call').first().click();
  await until(
    'the calls can be heard',
    async () => (await button('Play').count()) === calls && button('Play').last().isEnabled(),
  );
  await well(t, 'two runs side by side');
}

async function removeRunAndSuite({ page, button, view }) {
  await page.getByRole('link', { name: 'Back to the run' }).click();
  await button('Delete…').click();
  await button('Delete for good').click();
  await until('one run is left', async () => (await page.locator('tbody tr').count()) === 1);
  await view('Suites');
  await page.getByRole('link', { name: HOSTILE[3] }).click();
  await button('Delete…').click();
  await button('Delete for good').click();
  await page.getByText('No suites here yet').waitFor();
}

/** Works through all views of agent tests. */
export async function workOnAgentTests(t, desk) {
  const scenario = await makeScenario(t, desk);
  await makeScenarioByVoice(t, desk);
  await makeSuite(t, desk, scenario);
  await playSuite(t, desk);
  await compareRuns(t, desk, scenario);
  await removeRunAndSuite(desk);
}
