/**
 * An owner makes an agent with tools, knowledge and a webhook, publishes it and finds what is
 * left of its calls; keys of other roles are shown what they may do.
 */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { randomIds } from '../../dist/contracts/ids.js';
import { createKey } from '../../dist/storage/keys/keys.js';
import { startModel } from '../../dist/test/fixtures/chat/model.js';
import { exactly } from '../../dist/test/fixtures/exactly.js';
import { PhoneApi } from '../../dist/test/fixtures/phone/api.js';
import { twilioApi } from '../../dist/test/fixtures/phone/api-twilio.js';
import { newNumber, SECRET } from '../../dist/test/fixtures/phone/placed-calls.js';
import { isSignedBy, startReceiver } from '../../dist/test/fixtures/platform/receiver.js';
import { until } from '../../dist/test/fixtures/until.js';
import { run } from '../../ops/agents/run.mjs';
import { HOSTILE, madeOfTexts, signIn, violations } from './console.mjs';
import { IS_SHOWN } from './console-views.mjs';

/** What the roles other than `full` are shown. */
const VIEWS_OF = {
  speech: ['Start', 'Speak', 'Listen', 'Realtime', 'Voices'],
  sessions: ['Start', 'Talk', 'Tests', 'Calls', 'Deliveries'],
  read: [
    ...[
      'Start',
      'Agents',
      'Tools',
      'Knowledge',
      'Voices',
      'Tests',
      'Phone numbers',
      'Calls',
      'Deliveries',
      'Audit',
      'Machine',
    ],
  ],
};

/** What only keys that may change things have to do with. */
const MANAGING =
  /^(Create|Add|Remove|Make|Delete|Publish|Replace|Save the text|Call it now|Send a test|Deliver|Put version|Use this model|Use the gateway|Try it)/;

const agentOf = async (call) => (await call('agents')).body.agents[0].agent_id;
const draftOf = async (call) => (await call(`agents/${await agentOf(call)}/config`)).body;

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

/** From the first agent of a workspace to keys of other roles, in this order. */
const STEPS = {
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
    await placed.getByLabel('Action').selectOption('leave message');
    await placed.getByLabel('Message').fill('Please call back.');
    await saved();
    t.strictSame((await draftOf(call)).conversation.outbound, {
      amd_enabled: true,
      voicemail: { action: 'leave_message', message: 'Please call back.' },
    });
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

  'texts of others stay text': async (t, { call, page, sql, workspaceId }) => {
    const id = await agentOf(call);
    const made = (await call('sessions', { body: { agent_id: id, name: HOSTILE[1] } })).body.session_id;
    const items = [
      ['message', { role: 'user', content: HOSTILE[0] }],
      ['message', { role: 'assistant', content: HOSTILE[1], error: HOSTILE[2] }],
      ['tool_call', { callId: 'a', toolName: HOSTILE[3], toolSource: 'webhook', input: HOSTILE[4] }],
      [
        'tool_result',
        {
          ...{ callId: 'a', toolName: HOSTILE[3], toolSource: 'webhook', status: 'completed', error: null },
          ...{ output: HOSTILE[5], outputTruncated: false, latencyMs: 5 },
        },
      ],
    ];
    for (const [type, content] of items)
      await sql`insert into session_items (session_id, type, turn_id, created_at, content)
        values (${made}, ${type}, 1, now(), ${JSON.stringify(content)})`;
    const analysis = {
      ...{ status: 'completed', summary: HOSTILE[0], error: null },
      data: [{ name: HOSTILE[1], type: 'text', value: HOSTILE[2], rationale: HOSTILE[3] }],
      criteriaResults: [{ name: HOSTILE[4], result: 'success', rationale: HOSTILE[5] }],
    };
    await sql`update sessions set status = 'completed', started_at = now(), ended_at = now(), ended_reason = 'hangup',
      caller_number = ${HOSTILE[3]}, end_user_id = ${HOSTILE[4]}, analysis = ${JSON.stringify(analysis)} where id = ${made}`;
    await createKey(sql, randomIds, { workspaceId, name: HOSTILE[2] });
    const places = {
      [`calls/${made}`]: HOSTILE,
      'calls?status=completed': [HOSTILE[1], HOSTILE[3]],
      machine: [HOSTILE[2]],
      agents: [HOSTILE[0]],
      tools: [HOSTILE[0]],
    };
    for (const [address, texts] of Object.entries(places)) {
      await page.evaluate((hash) => (location.hash = hash), `#/${address}`);
      await until(`${address} says them`, async () => {
        await page.evaluate(() =>
          document.querySelectorAll('main details').forEach((each) => (each.open = true)),
        );
        const said = await page.locator('main').textContent();
        return texts.every((text) => said.includes(text));
      });
      t.strictSame(await madeOfTexts(page), [], `text stays text in ${address}`);
    }
  },

  'actions that a key does not permit are neither shown nor requested': async (
    t,
    { authorization, base, button, call, page, sql, workspaceId },
  ) => {
    const id = await agentOf(call);
    const tool = (await call('tools')).body.tools[0];
    const session = (await call('sessions?status=completed')).body.sessions[0].session_id;
    const form = new FormData();
    form.set('source', new File(['# Returns'], 'returns.md'));
    const sources = `${base}/v1/agent/knowledge-sources`;
    const kept = await fetch(sources, { method: 'POST', headers: authorization, body: form });
    const { knowledge_source_id: source } = await kept.json();
    const below = {
      Agents: ['draft', 'versions', 'webhooks', 'settings'].map((part) => `#/agents/${id}/${part}`),
      Tools: [`#/tools/${tool.tool_id}`],
      Knowledge: [`#/knowledge/${source}`],
      Calls: [`#/calls/${session}`],
      Tests: [`#/tests/suites?agent=${id}`, `#/tests/runs?agent=${id}`],
    };
    const refused = [];
    page.on('response', (response) => {
      if ([401, 403].includes(response.status())) refused.push(response.url());
    });
    for (const [role, views] of Object.entries(VIEWS_OF)) {
      const { key } = await createKey(sql, randomIds, { workspaceId, name: role, role });
      await button('Sign out').click();
      refused.length = 0;
      await signIn(page, key);
      const links = page.locator('header nav a[href^="#"]');
      await links.first().waitFor();
      t.strictSame(await links.allInnerTexts(), views, `${role} is shown its views`);
      for (const view of views) {
        const link = await page.getByRole('link', { name: view, exact: true }).getAttribute('href');
        for (const address of [link, ...(below[view] ?? [])]) {
          await page.evaluate((hash) => (location.hash = hash), address);
          await page.waitForFunction(IS_SHOWN, link);
          const offered = await page.locator('main :is(button:enabled, summary)').allInnerTexts();
          t.strictSame(
            offered.filter((name) => MANAGING.test(name.trim())),
            [],
            `${role} in ${address}`,
          );
        }
      }
      t.strictSame(refused, [], `${role} asks for nothing that is refused`);
    }
  },
};

/** Makes an agent; arguments as in browser-console.test.mjs. */
export async function makeAgentOnConsole(t, owner) {
  const at = await openConsole(t, owner);
  for (const [name, step] of Object.entries(STEPS)) await t.test(name, (t) => step(t, at));
  await at.page.context().close();
}
