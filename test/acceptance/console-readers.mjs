/** What is shown to whom (console-agents.mjs): texts of others as text, and to keys of other roles what they may do. */
import { randomIds } from '../../dist/contracts/ids.js';
import { createKey } from '../../dist/storage/keys/keys.js';
import { until } from '../../dist/test/fixtures/until.js';
import { agentOf, HOSTILE, madeOfTexts, signIn } from './console.mjs';
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

export const READER_STEPS = {
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
