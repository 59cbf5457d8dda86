/**
 * An owner with 300 agents and thousands of calls: finds an agent, sees how many calls there are, follows one and ends it, goes on with
 * another key when the first has ended, and deletes an agent.
 */
import { makeAgent } from '../../dist/test/fixtures/platform/agents.js';
import { randomIds } from '../../dist/contracts/ids.js';
import { createKey } from '../../dist/storage/keys/keys.js';
import { until } from '../../dist/test/fixtures/until.js';
import { madeOfTexts, shows, signIn, violations } from './console.mjs';
import { TOO_WIDE } from './console-views.mjs';

const AGENTS = 300;
const CALLS = 5000;

async function fill({ id: workspaceId, call }, sql) {
  const agent = await makeAgent(call, { name: 'Lamp shop' });
  await sql`
    insert into agents (id, workspace_id, name, description, config)
    select 'agent_' || lpad(n::text, 24, '0'), ${workspaceId}, 'Desk ' || lpad(n::text, 3, '0'), '', config
    from generate_series(1, ${AGENTS - 1}::int) n, agents where agents.id = ${agent}`;
  await sql`
    insert into sessions (id, workspace_id, agent_id, agent_name, version_number, config_hash, source, name, timezone, metadata,
      overrides, status, expires_at, started_at, ended_at, ended_reason, max_duration_seconds, created_at)
    select 'sess_' || lpad(n::text, 24, '0'), ${workspaceId}, ${agent}, 'Lamp shop', 1, 'sha256:0', 'api_key',
      'A call with a name that is much longer than anybody would want to read in a list of calls', 'UTC', '{}', '{}', 'completed',
      now(), now(), now(), 'hangup', 600, now() - n * interval '1 minute'
    from generate_series(1, ${CALLS}::int) n`;
  return agent;
}

/** Looks after many; arguments as in browser-console.test.mjs. */
export async function lookAfterMany(t, { browser, workspace, sql }) {
  const { authorization, base, key, call, id: workspaceId } = workspace;
  const agent = await fill(workspace, sql);
  const { session_id: running } = (await call('sessions', { body: { agent_id: agent } })).body;
  const { page, complaints } = await browser.open(`${base}/console#/calls`, 'Sign in · Speech gateway');
  await page.setViewportSize({ width: 1024, height: 900 });
  await signIn(page, key);
  const button = (name) => page.getByRole('button', { name, exact: true });
  const well = async (t, what) => {
    t.strictSame(await violations(page), [], `assistive technology reads ${what}`);
    t.strictSame(await madeOfTexts(page), [], 'text stays text');
  };

  await t.test('lists say how many there are, and no column is pushed out of view', async (t) => {
    await page.getByText('5,000 calls').waitFor();
    t.strictSame(await page.evaluate(TOO_WIDE), []);
    const right = () =>
      page
        .locator('th')
        .last()
        .evaluate((head) => Math.round(head.getBoundingClientRect().right) <= innerWidth);
    t.ok(await right(), 'the last column is seen');
    await well(t, 'many calls');
  });

  await t.test('one agent of 300 is found by a part of its name', async (t) => {
    const agents = page.getByLabel('Agent', { exact: true });
    await page.getByText('300 agents').waitFor();
    await page.getByLabel('Find an agent').fill('shop la');
    await page.getByText('1 agent', { exact: true }).waitFor();
    t.strictSame(await agents.locator('option').allTextContents(), ['All agents', 'Lamp shop']);
    await agents.selectOption('Lamp shop');
    t.match(page.url(), new RegExp(`agent_id=${agent}`));
    await page.getByLabel('Find an agent').fill('');
    const names = await agents.locator('option').allTextContents();
    t.strictSame(names.slice(1), names.slice(1).toSorted(), 'they are sorted');
  });

  await t.test('a call in progress comes into the list by itself, is followed, and ended', async (t) => {
    await sql`
      update sessions set status = 'active', joined_at = now(), started_at = now(),
        owner_id = (select process_id from session_owners limit 1) where id = ${running}`;
    await page.locator('tbody').getByText('In progress', { exact: true }).waitFor();
    await page.getByText('This list follows calls in progress.').waitFor();
    await page.locator('tbody a').first().click();
    await sql`
      insert into session_items (session_id, type, turn_id, created_at, content)
      values (${running}, 'message', 1, now(), '{"role":"user","content":"Do you sell lamps?"}')`;
    await page.getByText('Do you sell lamps?').waitFor();
    await button('End the call').click();
    await well(t, 'a call in progress');
    await button('End it now').click();
    await page.getByText('Completed', { exact: true }).waitFor();
    t.equal((await call(`sessions/${running}`)).body.ended_reason, 'ended_by_api');
  });

  await t.test('differences name what ids stand for', async (t) => {
    const desk = 'agent_'.padEnd(29, '0') + 1;
    const { tool_id: tool } = (
      await call('tools', { body: { name: 'Orders', url: 'https://shop.example.com/orders' } })
    ).body;
    const { items } = await (await fetch(`${base}/model?page_size=1`, { headers: authorization })).json();
    const [{ _id: voice, title }] = items;
    const tools = { tool_ids: [tool], transfer_agents: [{ agent_id: desk }] };
    const patched = await call(`agents/${agent}/config`, {
      method: 'PATCH',
      body: { voice: { voice_id: voice }, tools },
    });
    t.equal(patched.status, 200);
    await page.evaluate((hash) => (location.hash = hash), `#/agents/${agent}/versions`);
    await button('Compare version 1').click();
    const change = (hasText) => page.locator('.diff > li', { hasText }).waitFor();
    await change(/^Tools \(Tools\): from nothing to Orders$/);
    await change(/^Agents to hand calls over to 1 \(Tools\).*Agent: Desk 001/s);
    await change(`Voice (Voice): from Default, by language to ${title}`);
    await well(t, 'differences');
    const before = { voice: { voice_id: 'default' }, tools: { tool_ids: [], transfer_agents: [] } };
    t.equal((await call(`agents/${agent}/config`, { method: 'PATCH', body: before })).status, 200);
    await page.evaluate(() => (location.hash = '#/agents'));
    await page.getByLabel('Search', { exact: true }).waitFor();
  });

  await t.test('a key that has ended is replaced in place; what was typed is kept, and sent', async (t) => {
    await page.evaluate((hash) => (location.hash = hash), `#/agents/${agent}`);
    await page.getByText('Version 1 is live', { exact: true }).waitFor();
    // All that the form asks for is there: nothing but what is typed is refused.
    const asked = ['/model?', '/tools?', '/knowledge-sources?', '/agents?'];
    await until('the form is whole', () =>
      page.evaluate((all) => {
        const seen = performance.getEntriesByType('resource').map(({ name }) => name);
        return all.every((part) => seen.some((name) => name.includes(part)));
      }, asked),
    );
    await sql`update api_keys set revoked_at = now() where workspace_id = ${workspaceId}`;
    await page.getByLabel('System prompt').fill('You sell lamps, and nothing else.');
    const dialog = page.getByRole('dialog', { name: 'This key does not work any more' });
    await dialog.waitFor();
    await well(t, 'the question for a key');
    await dialog.getByLabel('API key').fill('wrong');
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.getByRole('alert').waitFor();
    const next = await createKey(sql, randomIds, { workspaceId, name: 'Next' });
    await dialog.getByLabel('API key').fill(next.key);
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await dialog.waitFor({ state: 'detached' });
    const place = () => page.evaluate(() => document.activeElement.tagName);
    await shows('the focus is where one typed', place, 'TEXTAREA');
    await page.getByText('Version 1 is live; the draft has changes', { exact: true }).waitFor();
    t.equal(await page.getByLabel('System prompt').inputValue(), 'You sell lamps, and nothing else.');
    const stored = async () => {
      const [row] = await sql`
        select config #>> '{prompt,system_prompt}' as prompt from agents where id = ${agent}`;
      return row.prompt;
    };
    await shows('it is sent', stored, 'You sell lamps, and nothing else.');
  });

  await t.test('the state of an agent follows what is done, and versions mark the live one', async (t) => {
    await button('Publish').click();
    await page.getByText('Version 2 is live', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Versions', exact: true }).click();
    const marked = () => page.locator('main li', { hasText: 'Live' }).locator('h2').allTextContents();
    await shows('the newest alone', marked, ['Version 2']);
    await well(t, 'versions');
  });

  await t.test('an agent is deleted', async (t) => {
    await page.getByRole('link', { name: 'Settings and embedding' }).click();
    const focused = () => page.evaluate(() => document.activeElement.textContent);
    await button('Delete…').focus();
    await page.keyboard.press('Enter');
    await shows('the focus at what does no harm', focused, 'Cancel');
    await page.keyboard.press('Enter');
    await shows('the focus where it was', focused, 'Delete…');
    await page.keyboard.press('Enter');
    await page.getByText('Records of its calls stay.').waitFor();
    await button('Delete for good').focus();
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.activeElement.tagName === 'MAIN', undefined, { polling: 50 });
    await page.getByLabel('Search', { exact: true }).fill('Lamp shop');
    await page.getByText('No agent matches.').waitFor();
    t.equal((await sql`select from agents where id = ${agent}`).length, 0);
  });
  t.strictSame(
    complaints.filter((line) => !/401/.test(line)),
    [],
    'neither an error nor something that the policy forbids',
  );
}
