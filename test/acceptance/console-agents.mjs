/**
 * An owner makes an agent with a webhook and a language model of its own, publishes it and calls a telephone; then comes what belongs
 * to it (console-library.mjs), and what others are shown (console-readers.mjs).
 */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startModel } from '../../dist/test/fixtures/chat/model.js';
import { exactly } from '../../dist/test/fixtures/exactly.js';
import { PhoneApi } from '../../dist/test/fixtures/phone/api.js';
import { twilioApi } from '../../dist/test/fixtures/phone/api-twilio.js';
import { newNumber, SECRET } from '../../dist/test/fixtures/phone/placed-calls.js';
import { isSignedBy, startReceiver } from '../../dist/test/fixtures/platform/receiver.js';
import { until } from '../../dist/test/fixtures/until.js';
import { run } from '../../ops/agents/run.mjs';
import { agentOf, draftOf, HOSTILE, madeOfTexts, signIn, violations } from './console.mjs';
import { LIBRARY_STEPS } from './console-library.mjs';
import { READER_STEPS } from './console-readers.mjs';
import { leavesOf, WORDS, wordsShown } from './console-words.mjs';

/** The console in a browser, at which nobody has signed in; arguments as in browser-console.test.mjs. */
async function openConsole(t, { browser, workspace, sql }) {
  const hook = await startReceiver(t, (_, response) => response.end(HOSTILE[5]));
  const model = await startModel();
  t.teardown(() => model.stop());
  const { page } = await browser.open(`${workspace.base}/console#/agents`, 'Sign in · Speech gateway');
  return {
    ...workspace,
    ...{ workspaceId: workspace.id, hook, model, page, sql },
    button: (name) => page.getByRole('button', { name, exact: true }),
    tab: (name) => page.getByRole('link', { name, exact: true }).click(),
    saved: () =>
      page
        .getByRole('status')
        .filter({ hasText: /^Saved$/ })
        .waitFor(),
    well: async (t, what) => {
      t.strictSame(await violations(page), [], `assistive technology reads ${what}`);
      t.strictSame(await madeOfTexts(page), [], 'text stays text');
    },
  };
}

const AGENT_STEPS = {
  'a draft is saved as it is typed, and published': async (t, { button, call, key, page, saved }) => {
    await signIn(page, key);
    await page.getByText('No agents here yet.').waitFor();
    await page.getByLabel('Name of a new agent').fill(HOSTILE[0]);
    await button('Create').click();

    await page.getByLabel('System prompt').fill(`The shop opens at nine. ${HOSTILE[1]}`);
    await saved();
    t.equal(
      (await draftOf(call)).prompt.system_prompt,
      `The shop opens at nine. ${HOSTILE[1]}`,
      'a draft is saved as it is typed',
    );
    await page.getByLabel(/^Title of the version/).fill('Opening hours');
    await button('Publish').click();
    await page.getByText('Version 1 is published.').waitFor();
  },

  'what is refused says so beside its control, and what could not be sent is sent later': async (
    t,
    { button, call, page, saved, well },
  ) => {
    await page.getByRole('heading', { name: 'Conversation' }).click();
    const seconds = page.getByLabel('Max duration, in seconds');
    await seconds.fill('5');
    await page.getByRole('alert').filter({ hasText: 'must be in [60, 3600]' }).waitFor();
    t.equal(
      await seconds.getAttribute('aria-invalid'),
      'true',
      'what was refused says so beside its control',
    );
    t.equal(await button('Publish').isEnabled(), false);
    await well(t, 'a draft with something wrong');
    await page.reload();
    await page.getByRole('alert').filter({ hasText: 'must be in [60, 3600]' }).waitFor();
    await page.getByRole('heading', { name: 'Conversation' }).click();
    t.equal(await seconds.inputValue(), '5', 'what was refused outlives a reload');
    const state = (name) => page.getByRole('status').filter({ hasText: name }).waitFor();
    await page.context().setOffline(true);
    await seconds.fill('1200');
    await state('Not saved');
    await page.context().setOffline(false);
    await state(/^Saved$/);
    t.equal(
      (await draftOf(call)).conversation.max_duration_seconds,
      1200,
      'what could not be sent is sent later',
    );
    await seconds.fill('600');
    await saved();
  },

  'what happens where a machine takes a placed call is chosen in words': async (t, { call, page, saved }) => {
    const placed = page.getByRole('group', { name: 'Placed calls' });
    await placed.getByLabel('Detect answering machines').check();
    await placed.getByLabel('What is done then').selectOption('Leave the message');
    await placed.getByLabel('Message').fill('Please call back.');
    await saved();
    t.strictSame((await draftOf(call)).conversation.outbound, {
      amd_enabled: true,
      voicemail: { action: 'leave_message', message: 'Please call back.' },
    });
  },

  'each member of the configuration has a control that says in words what it is': async (
    t,
    { call, page },
  ) => {
    const { body } = await call('../../openapi.json');
    const { schema } =
      body.paths['/v1/agent/agents/{agent_id}/config'].patch.requestBody.content['application/json'];
    t.strictSame(leavesOf(schema).sort(), Object.keys(WORDS).sort(), 'a new one needs words of its own');
    const shown = await page.evaluate(wordsShown);
    for (const [leaf, words] of Object.entries(WORDS)) t.ok(shown.includes(words), `${leaf}: ${words}`);
    t.strictSame(
      shown.filter((words) => words.includes('_')),
      [],
    );
  },

  'words of the widget are replaced by what they say': async (t, { button, call, page, saved }) => {
    await page.getByRole('heading', { name: 'Widget' }).click();
    const words = page.getByRole('group', { name: 'Words in place of its own' });
    await words.getByLabel('Replace another one').selectOption('Start call');
    await words.getByLabel('In place of “Start call”').fill('Call the bakery');
    await saved();
    t.strictSame((await draftOf(call)).widget.text_contents, { start: 'Call the bakery' });
    await words.getByLabel('One of another widget').fill('title');
    await words.getByRole('button', { name: 'Add', exact: true }).click();
    await words.getByLabel('In place of “title”').fill('Bakery');
    await saved();
    t.equal((await draftOf(call)).widget.text_contents.title, 'Bakery');
    await button('Say “title” again').click();
    await button('Say “Start call” again').click();
    await saved();
    t.strictSame((await draftOf(call)).widget.text_contents, {});
    await page.getByRole('heading', { name: 'Widget' }).click();
  },

  'a language model of its own is tried out, used and left': async (
    t,
    { button, call, model, page, saved, well },
  ) => {
    await page.getByRole('heading', { name: 'Language model' }).click();
    const which = page.getByLabel('Which model answers');
    await which.selectOption('high');
    await saved();
    t.equal((await draftOf(call)).llm.tier, 'high');
    await button('Try it').click();
    await page.getByText(/^builtin-dialogue began to answer after/).waitFor();

    await which.selectOption('own');
    await page.getByLabel('Address').fill(model.url);
    await page.getByLabel('Name of the model').fill(HOSTILE[0]);
    await page.getByLabel('Key', { exact: true }).fill('sesame');
    model.answer(() => 401);
    await button('Try it').click();
    await page.getByText('It does not work. The key was refused (401).').waitFor();
    model.answer(() => ({ calls: { report_ready: { word: 'ready' } } }));
    await button('Try it').click();
    await page.getByText('It called the tool that it was asked to call.').waitFor();
    await well(t, 'a model that is tried out');
    await button('Use this model').click();
    await page.getByText(`The draft uses ${HOSTILE[0]} at ${model.url}.`).waitFor();
    exactly(t, (await draftOf(call)).llm, {
      tier: 'medium',
      custom: { base_url: model.url, model: HOSTILE[0], api_key: null, has_secret: true },
    });
    t.equal(await page.getByLabel('Key', { exact: true }).inputValue(), '', 'the key is not kept');
    t.equal(model.requests.at(-1).authorization, 'Bearer sesame');
    await button('Try it').click();
    await until('the stored key is sent', () => model.requests.length === 3);
    t.equal(model.requests.at(-1).authorization, 'Bearer sesame');

    await which.selectOption('medium');
    t.not((await draftOf(call)).llm.custom, null, 'a key does not go unasked');
    await button('Use the gateway’s model').click();
    await until('it is left', async () => (await draftOf(call)).llm.custom === null);
  },

  'versions are compared, and go back into the draft': async (
    t,
    { button, call, page, saved, tab, well },
  ) => {
    await page.getByLabel('System prompt').fill('The shop is closed.');
    await saved();
    await page.getByText('What would change').click();
    const change = (hasText) => page.locator('.diff > li', { hasText }).waitFor();
    await change(/^Max duration, in seconds \(Conversation\): from 1,800 to 600$/);
    await change(/^System prompt \(Prompt\): from The shop opens at nine\..* to The shop is closed\.$/s);
    await change(/^Detect answering machines \(Conversation, Placed calls\): from off to on$/);
    await well(t, 'what would change');

    await tab('Versions');
    await button('Compare version 1').click();
    await page.locator('mark', { hasText: 'is closed.' }).waitFor();
    await button('Put version 1 into the draft').click();
    await page.getByText('There is no difference.').waitFor();
    t.equal(
      (await draftOf(call)).conversation.max_duration_seconds,
      1800,
      'a version goes back into the draft',
    );
    await well(t, 'versions');
  },

  'a webhook is tried, and its deliveries are told': async (
    t,
    { button, call, hook, page, sql, tab, well },
  ) => {
    const id = await agentOf(call);
    const secret = 'kept to itself';
    await call(`agents/${id}/config`, {
      method: 'PATCH',
      body: { webhooks: { post_call: [{ url: hook.url, secret }] } },
    });
    await call(`agents/${id}/publish`, { method: 'POST' });
    await page.reload();
    await page.getByLabel('Beside it').selectOption('Version 2');
    await page
      .locator('.diff > li', { hasText: /^Events after a call 1 \(Webhooks\): from nothing to .*URL: http/ })
      .waitFor();
    t.match(page.url(), /versions\?version=1&beside=2$/, 'what is compared is in the address');
    await tab('Webhooks');
    await button('Send a test').click();
    await page.getByText(/^200 · [\d,]+ ms$/).waitFor();
    t.ok(isSignedBy(secret, hook.seen[0]), 'a webhook is tried as it will be called');
    const made = (await call('sessions', { body: { agent_id: id } })).body;
    await sql`update sessions set status = 'active', started_at = now() where id = ${made.session_id}`;
    await call(`sessions/${made.session_id}/end`, { method: 'POST' });
    await until('both events are there', () => hook.seen.length === 3);
    await page.reload();
    await page.getByText('A call was analysed').waitFor();
    await button('Deliver again').first().click();
    await page.getByText('asked for').waitFor();
    t.equal(hook.seen[3].body, hook.seen[2].body, 'what is delivered again is the same');
    await page.getByText('Body').first().click();
    await page.getByText('"call.analyzed"').waitFor();
    await well(t, 'webhooks');
  },

  'settings, and the snippet for a page': async (t, { base, button, call, page, saved, tab, well }) => {
    const id = await agentOf(call);
    await tab('Settings and embedding');
    await page.getByLabel('Open to everybody').check();
    await button('Add to Allowed origins').click();
    await page.getByLabel('Allowed origins 1').fill('https://shop.example.com');
    await saved();
    const { public_enabled, allowed_origins } = (await call(`agents/${id}`)).body;
    t.strictSame(
      { public_enabled, allowed_origins },
      { public_enabled: true, allowed_origins: ['https://shop.example.com'] },
    );
    const snippet = await page.locator('pre', { hasText: 'speech-agent' }).textContent();
    t.equal(
      snippet,
      `<script src="${base}/widget.js" async></script>\n<speech-agent agent-id="${id}"></speech-agent>`,
    );
    await well(t, 'settings');
    await tab('All agents');
    await page.getByLabel('Search', { exact: true }).fill('nothing of this name');
    await page.getByText('No agent matches.').waitFor();
    await page.getByLabel('Search', { exact: true }).fill('');
    await page.getByRole('link', { name: HOSTILE[0] }).waitFor();
    await well(t, 'the list of agents');
  },

  'an agent is saved as the files that the command `agents` reads': async (
    t,
    { base, button, call, key, page, well },
  ) => {
    await page.evaluate((hash) => (location.hash = hash), `#/agents/${await agentOf(call)}/settings`);
    const [download] = await Promise.all([page.waitForEvent('download'), button('Save as files').click()]);
    t.match(download.suggestedFilename(), /^img-src.*\.zip$/);
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'agent-files-'));
    t.teardown(() => fs.rmSync(folder, { recursive: true }));
    execFileSync('python3', ['-m', 'zipfile', '-e', await download.path(), folder]);
    const lines = [];
    const io = { out: (line) => lines.push(line), err: (line) => lines.push(line) };
    const env = { AGENTS_URL: base, AGENTS_KEY: key };
    t.equal(await run(['diff', folder], env, io), 0, `there is no difference: ${lines.join(' ')}`);
    t.match(lines[0], /^no difference/);
    await well(t, 'an agent as files');
  },

  'an agent calls a telephone': async (t, { button, call, page, well }) => {
    const id = await agentOf(call);
    await page.evaluate((hash) => (location.hash = hash), `#/agents/${id}/draft`);
    await page.getByLabel('System prompt').waitFor();
    t.equal(await page.getByText('Call a telephone').count(), 0, 'no number places calls');
    const api = await PhoneApi.start(t, twilioApi, SECRET);
    const [from, to] = [newNumber(), newNumber()];
    const credentials = { [twilioApi.verifies]: SECRET, ...twilioApi.credentials };
    const number = { provider: 'twilio', phone_number: from, api_url: api.url, credentials };
    const { phone_number_id: added } = (await call('phone-numbers', { body: number })).body;
    await page.reload();
    await page.getByText('Call a telephone').click();
    await page.getByLabel('Number to call').fill('030');
    await button('Call it').click();
    await page.getByRole('alert').waitFor();
    await well(t, 'a number that cannot be called');
    await page.getByLabel('Number to call').fill(to);
    await button('Call it').click();
    const placed = await api.call(to);
    t.equal(placed.from, from);
    await page.waitForURL(/#\/calls\/sess_/);
    await page.getByText(to, { exact: false }).first().waitFor();
    await button('End the call').click();
    await button('End it now').click();
    await until('it is hung up', () => api.hungUp.includes(placed.callId));
    await call(`phone-numbers/${added}`, { method: 'DELETE' });
    await page.evaluate(() => (location.hash = '#/agents'));
  },
};

/** From the first agent of a workspace to keys of other roles, in this order. */
const STEPS = { ...AGENT_STEPS, ...LIBRARY_STEPS, ...READER_STEPS };

/** Makes an agent; arguments as in browser-console.test.mjs. */
export async function makeAgentOnConsole(t, owner) {
  const at = await openConsole(t, owner);
  for (const [name, step] of Object.entries(STEPS)) await t.test(name, (t) => step(t, at));
  await at.page.context().close();
}
