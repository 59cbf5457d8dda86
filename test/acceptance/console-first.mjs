/**
 * Somebody who has never made an agent: from the first sign-in to one that books, by clicks alone; the other templates; what is
 * thrown away leaves nothing behind; a microphone that is not there, and a call without one.
 */
import { randomIds } from '../../dist/contracts/ids.js';
import { createKey } from '../../dist/storage/keys/keys.js';
import { exactly } from '../../dist/test/fixtures/exactly.js';
import { until } from '../../dist/test/fixtures/until.js';
import { madeOfTexts, shows, signIn, violations } from './console.mjs';
import { keyboardOf, notReached, TOO_WIDE } from './console-views.mjs';

/** What people are promised, from the first sign-in to a booking agent that has booked. */
const PROMISED_MS = 300_000;

const TEMPLATES = ['Receptionist', 'Support with knowledge', 'Booking with a tool', 'Survey', 'Dictation'];

const STEPS = {
  'by clicks alone, a booking agent books and is live': async (t, desk) => {
    const { button, call, page, said, well } = desk;
    const began = Date.now();
    await page.getByText('No agents here yet.').waitFor();
    await page.getByRole('link', { name: 'New agent from a template' }).click();
    await shows('templates', () => page.locator('.cards h2').allTextContents(), TEMPLATES);
    await well(t, 'the templates');
    await button('Start with Booking with a tool').click();
    await button('Type instead').click();
    await said('Agent: Hello, would you like to book an appointment?');
    await until('one may type at once', () =>
      page.evaluate(() => document.activeElement?.matches('main form input')),
    );
    for (const [say, answer] of [
      ['I would like to book an appointment.', 'Agent: What is the day?'],
      ['Monday', 'Agent: What is the time?'],
      ['10:30', 'Agent: What is the name?'],
      ['Ada Byron', 'Agent: Booked for Ada Byron, Monday, 10:30'],
    ]) {
      await button(say).click();
      await said(answer);
    }
    await page
      .getByRole('log', { name: 'Bookings' })
      .getByText('Booked for Ada Byron, Monday, 10:30')
      .waitFor();
    await well(t, 'the guide in a call');
    await button('Hang up').click();
    await button('Save and publish').click();
    await page.getByText('Bookings is live').waitFor();
    t.ok(Date.now() - began < PROMISED_MS, 'all within five minutes');
    // The focus is at the beginning of what has appeared.
    await page.waitForFunction(() => document.activeElement?.className === 'place');
    await well(t, 'the end of the guide');
    const { agents } = (await call('agents')).body;
    exactly(t, agents, [{ name: 'Bookings', publication_state: 'live' }]);
    const { config } = (await call(`agents/${agents[0].agent_id}/versions/1`)).body;
    t.equal(config.tools.tool_ids.length, 1, 'the tool came with it');
  },

  'what is changed is heard, and what is thrown away leaves nothing behind': async (t, desk) => {
    const { button, call, page, said } = desk;
    await page.getByRole('link', { name: 'Make another one' }).click();
    await button('Start with Support with knowledge').click();
    await page.getByLabel('What it says first').fill('Hello from the lamp shop.');
    await page.getByLabel('Name').fill('Lamps');
    await button('Type instead').click();
    await said('Agent: Hello from the lamp shop.');
    await button('How many days does delivery take?').click();
    await said('three days');
    await button('Hang up').click();
    const names = async () => (await call('agents')).body.agents.map(({ name }) => name);
    await until('its name is saved', async () => (await names()).includes('Lamps'));
    await page.getByLabel('Language', { exact: true }).selectOption('German');
    await until('its language is saved', async () => {
      const { agents } = (await call('agents')).body;
      const { agent_id: id } = agents.find(({ name }) => name === 'Lamps');
      return (await call(`agents/${id}/config`)).body.voice.speaking_language === 'de';
    });
    await page.reload();
    await page.getByLabel('What it says first').waitFor();
    t.equal(
      await page.getByLabel('What it says first').inputValue(),
      'Hello from the lamp shop.',
      'what was typed outlives a reload',
    );
    await page.getByRole('link', { name: 'Read and change the text' }).click();
    await page.getByText('Help for customers').waitFor();
    await page.goBack();
    await page.getByLabel('What it says first').waitFor();
    t.equal((await call('knowledge-sources')).body.knowledge_sources.length, 1);
    await page.getByRole('link', { name: 'Agents', exact: true }).click();
    await page.getByRole('link', { name: 'New agent from a template' }).click();
    await page.getByText('You have begun with').waitFor();
    await page.getByRole('link', { name: 'Go on with it' }).click();
    await button('Back, and delete this draft').click();
    await page.getByRole('status').filter({ hasText: 'The draft was deleted.' }).waitFor();
    t.equal(await desk.focused(), 'place');
    t.strictSame(await names(), ['Bookings']);
    t.equal((await call('knowledge-sources')).body.knowledge_sources.length, 0);
    t.equal((await call('tools')).body.tools.length, 1, 'the tool of the agent that stays');
  },

  'a survey has fields for its record, and says what it needs': async (t, { button, call, page }) => {
    await button('Start with Survey').click();
    await page.getByText('only a language model asks in its own words').waitFor();
    const { agents } = (await call('agents')).body;
    const { agent_id: id } = agents.find(({ name }) => name === 'Survey');
    exactly(t, (await call(`agents/${id}/config`)).body, {
      analysis: { data_fields: [{ name: 'rating' }, { name: 'reason' }, { name: 'recommends' }] },
    });
    await button('Back, and delete this draft').click();
  },

  'dictation writes down what is said': async (t, { button, page, said, well }) => {
    await button('Start with Dictation').click();
    await button('Type instead').click();
    await said('Agent: I am listening.');
    await button('The lamps arrive on Monday.').click();
    await said('Agent: Noted.');
    await page.getByRole('log', { name: 'Written down' }).getByText('The lamps arrive on Monday.').waitFor();
    await button('Save as text').waitFor();
    await button('Hang up').click();
    await until('the call is over', () => button('Type instead').isEnabled());
    await well(t, 'dictation');
    await page.setViewportSize({ width: 390, height: 900 });
    t.strictSame(await page.evaluate(TOO_WIDE), [], 'it fits a phone');
    t.strictSame(await notReached(page, await keyboardOf(page)), [], 'it is reached by the keyboard');
    await page.setViewportSize({ width: 1280, height: 900 });
  },

  'a voice is heard beside where it is chosen, one at a time': async (t, { page }) => {
    await page.getByRole('button', { name: 'Hear The usual voice of the language' }).click();
    await page.getByRole('button', { name: 'Stop The usual voice of the language' }).waitFor();
    await page.getByRole('button', { name: 'Stop The usual voice of the language' }).click();
    await page.getByRole('button', { name: 'Hear The usual voice of the language' }).waitFor();
    await page.getByRole('link', { name: 'Voices', exact: true }).click();
    const hears = page.getByRole('button', { name: /^Hear / });
    await hears.nth(0).click();
    await hears.nth(0).click();
    await until('one sounds', async () => (await page.getByRole('button', { name: /^Stop / }).count()) <= 1);
    t.ok((await page.getByRole('button', { name: /^Stop / }).count()) <= 1);
  },

  'why there is no microphone, and a call without one': async (t, { button, page, well }) => {
    await page.getByRole('link', { name: 'Talk', exact: true }).click();
    await page.getByLabel('Agent', { exact: true }).selectOption('Bookings');
    const note = page.getByRole('status').filter({ hasText: 'You can talk by typing' });
    t.equal(await note.count(), 0, 'nothing is said where there is one');
    const refuse = (name) =>
      page.evaluate((name) => {
        navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('No', name));
      }, name);
    for (const [name, told] of Object.entries({
      NotAllowedError: 'Allow it in the settings beside the address',
      NotFoundError: 'No microphone was found',
      NotReadableError: 'Another program holds the microphone',
    })) {
      await refuse(name);
      await button('Talk').click();
      await note.filter({ hasText: told }).waitFor();
    }
    await well(t, 'why there is no microphone');
    await button('Type instead').click();
    await page.getByLabel('Write').waitFor();
    await button('Unmute').waitFor();
    await button('Hang up').click();
    await button('Talk').waitFor();
  },

  'a page without HTTPS says what to set': async (t, { base, browser, key }) => {
    const { ELSEWHERE } = await import('./browser.mjs');
    const address = base.replace(/127\.0\.0\.1|localhost/, ELSEWHERE);
    const { page } = await browser.open(`${address}/console#/talk`, 'Sign in · Speech gateway');
    await signIn(page, key);
    await page.getByText('Set TLS_CERT and TLS_KEY').waitFor();
    await page.getByLabel('Agent', { exact: true }).selectOption('Bookings');
    await page.getByRole('button', { name: 'Type instead', exact: true }).click();
    await page.locator('.lines li', { hasText: 'Agent: Hello, would you like' }).waitFor();
    await page.getByRole('button', { name: 'Hang up', exact: true }).click();
    await page.context().close();
  },

  'who may not make agents is shown the list': async (t, { base, browser, sql, workspaceId }) => {
    const { key } = await createKey(sql, randomIds, { workspaceId, name: 'read', role: 'read' });
    const { page } = await browser.open(`${base}/console#/agents/new`, 'Sign in · Speech gateway');
    await signIn(page, key);
    await page.getByRole('link', { name: 'Bookings', exact: true }).waitFor();
    t.equal(await page.locator('.cards').count(), 0);
    await page.context().close();
  },
};

/** Makes a first agent; `browser`, `workspace` and `sql` as in browser-console.test.mjs. */
export async function makeFirstAgent(t, { browser, workspace, sql }) {
  const { base, key, call } = workspace;
  const { page, complaints } = await browser.open(`${base}/console#/agents`, 'Sign in · Speech gateway');
  await signIn(page, key);
  const desk = {
    ...{ base, browser, call, key, page, sql, workspaceId: workspace.id },
    button: (name) => page.getByRole('button', { name, exact: true }),
    said: (text) => page.locator('.lines li', { hasText: text }).last().waitFor(),
    focused: () => page.evaluate(() => document.activeElement?.className),
    well: async (t, what) => {
      t.strictSame(await violations(page), [], `assistive technology reads ${what}`);
      t.strictSame(await madeOfTexts(page), [], 'text stays text');
    },
  };
  for (const [name, step] of Object.entries(STEPS)) await t.test(name, (t) => step(t, desk));
  t.strictSame(complaints, [], 'no error');
  await page.context().close();
}
