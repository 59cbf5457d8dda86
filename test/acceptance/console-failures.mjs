/**
 * An account owner looks for what has failed: calls in which answers failed are marked, in the list, on the start page and on their own
 * pages; deliveries that failed are sent again, one, those of a time span, and all.
 */
import { makeAgent } from '../../dist/test/fixtures/platform/agents.js';
import { exactly } from '../../dist/test/fixtures/exactly.js';
import { startReceiver } from '../../dist/test/fixtures/platform/receiver.js';
import { insertTurn, TURN } from '../../dist/test/fixtures/calls/turns.js';
import { NO_USAGE } from '../../dist/contracts/sessions/turns.js';
import { until } from '../../dist/test/fixtures/until.js';
import { madeOfTexts, shows, signIn, violations } from './console.mjs';

const HOUR_MS = 3_600_000;
const models = [
  { model: 'large', inputTokens: 60, outputTokens: 0 },
  { model: 'small', inputTokens: 30, outputTokens: 0 },
];
/** A second answer that came in half the time. */
const QUICK = {
  ...{ ...TURN, number: 2, turnId: 2, playedMs: 510, tools: [], usage: NO_USAGE },
  parts: { ...TURN.parts, silence: 510, endpointing: 0, model: 0, voice: 0, transport: 0 },
};
/** Each call has two events. */
const EVENTS = 2;

/** A moment as a field for date and time takes it, in the time zone of the browser, which is this process's. */
const typed = (ms) => new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

/** Calls that have ended, `hours` ago, each with two events that the receiver did not take; in one call an answer failed. */
async function endedCalls({ call, sql }, url, hours) {
  const agent = await makeAgent(call, { name: 'Lamp shop', config: { webhooks: { post_call: { url } } } });
  const ids = [];
  for (const ago of hours) {
    const { session_id: id } = (await call('sessions', { body: { agent_id: agent } })).body;
    await sql`update sessions set status = 'active', started_at = now() where id = ${id}`;
    if (ids.length === 0)
      await insertTurn(sql, id, { ...TURN, error: 'provider_failed', usage: { ...TURN.usage, models } });
    if (ids.length === 0) await insertTurn(sql, id, QUICK);
    await call(`sessions/${id}/end`, { method: 'POST' });
    await until('its events were tried, and are given up', async () => {
      const rows = await sql`
        update deliveries set outcome = 'failed', settled_at = now(), created_at = now() - ${ago}::int * interval '1 hour'
        where session_id = ${id} and attempts > 0 and (taken_until is null or taken_until < now())
        returning id`;
      return rows.length === EVENTS;
    });
    ids.push(id);
  }
  return ids;
}

/** Looks for failures; `browser`, `workspace` and `sql` as in browser-console.test.mjs. */
export async function lookForFailures(t, { browser, workspace, sql }) {
  const { base, key, call } = workspace;
  let status = 500;
  const { url, seen } = await startReceiver(t, (_, response) => response.writeHead(status).end());
  const ids = await endedCalls({ call, sql }, url, [48, 24, 1, 0]);
  const eventsOf = (from) => seen.slice(from).map(({ body }) => JSON.parse(body));

  const { page, complaints } = await browser.open(`${base}/console`, 'Sign in · Speech gateway');
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  await signIn(page, key);
  const view = (name) => page.getByRole('link', { name, exact: true }).click();
  const mark = page.getByText('1 answer failed', { exact: true });
  const well = async (t, what) => {
    t.strictSame(await violations(page), [], `assistive technology reads ${what}`);
    t.strictSame(await madeOfTexts(page), [], 'text stays text');
  };

  await t.test('a call in which an answer failed is marked', async (t) => {
    await page.locator('section', { hasText: 'Last calls' }).locator(mark).waitFor();
    await view('Calls');
    const rows = page.locator('tbody tr');
    const marked = () =>
      rows.evaluateAll((all) => all.map(({ textContent }) => /answers? failed/.test(textContent)));
    await shows('the newest alone is marked', marked, [false, false, false, true]);
    const [tone, ended] = await Promise.all(
      [mark, rows.nth(3).getByText('Completed')].map((tag) => tag.getAttribute('class')),
    );
    t.strictSame([tone, ended], ['tag bad', 'tag warn'], 'and is not green, though it was completed');
    await well(t, 'the list');
    await rows.nth(3).getByRole('link').click();
    await page.locator('.transcript, main h2').first().waitFor();
    await mark.waitFor();
    await page.getByText('Ended: through the API or the console').waitFor();
    await page.getByText('Where the time of each turn went').click();
    const bars = page.locator('table .split');
    await until('there are both', async () => (await bars.count()) === 2);
    const [slow, quick] = await bars.evaluateAll((all) =>
      all.map((bar) => bar.getBoundingClientRect().width),
    );
    t.ok(Math.abs(slow / quick - 2) < 0.05, `bars have one scale: ${slow} and ${quick}`);
    await page.getByText('What it used').click();
    await page.getByRole('row', { name: 'Tokens read 90 0.00021' }).waitFor();
    await page.getByText('large: 60 tokens read, 0 written').waitFor();
    await page.locator('dl.figures', { hasText: '0.00021 EUR' }).waitFor();
    await well(t, 'the call');
  });

  await t.test('the start says how the calls went, and what is not well', async (t) => {
    await view('Start');
    const named = (name) => ({ has: page.getByText(name, { exact: true }) });
    const figure = (name) => page.locator('dl.figures div', named(name)).locator('dd').textContent();
    await shows(
      'calls, success, failed answers and tools',
      () => Promise.all(['Calls', 'Success', 'Answers failed', 'Tool calls failed'].map(figure)),
      ['4', '100 %', '1', '1'],
    );
    await shows('what they cost', () => figure('Cost'), '0.00021 EUR');
    const line = (name) => page.locator('main li', named(name)).locator('.tag').textContent();
    await shows(
      'what is not well',
      () => Promise.all(['Tools, last 48 hours', 'Deliveries', 'Database', 'Language model'].map(line)),
      ['1 of 1 calls failed', '8 were given up', 'Well', 'None: the built-in dialogue answers'],
    );
    const chart = page.getByRole('slider', { name: 'Calls', exact: true });
    await chart.focus();
    const said = () => chart.getAttribute('aria-valuetext');
    t.match(await said(), /: Completed 4, Failed 0$/);
    await page.keyboard.press('ArrowLeft');
    t.match(await said(), /: Completed 0, Failed 0$/);
    await page.keyboard.press('End');
    t.match(await said(), /: Completed 4, Failed 0$/);
    await page.getByLabel('Time', { exact: true }).selectOption('Last 48 hours');
    await until('they are hours', async () => (await chart.getAttribute('aria-valuemax')) === '47');
    await page.getByText('As a table').first().click();
    await shows('a row for each', () => page.locator('main tbody tr').count(), 48);
    await well(t, 'the start');
    await page.getByLabel('Kind of call').selectOption('Telephone, incoming');
    await page.getByText('No call has ended in this time.').waitFor();
    t.match(page.url(), /range=hours&kind=phone_inbound$/, 'the address holds what is shown');
  });

  await t.test('the trail says who signed in, and what was made', async (t) => {
    await view('Audit');
    const actions = () => page.locator('main tbody tr td:nth-child(3)').allTextContents();
    await shows('all of it', actions, ['Signed in', 'Agent published', 'Agent created', 'Key made']);
    t.match(await page.locator('main tbody tr').nth(1).textContent(), /Lamp shop · 1/);
    await well(t, 'the trail');
    await page.getByLabel('What', { exact: true }).selectOption('Agent created');
    await shows('one kind', actions, ['Agent created']);
    await page.locator('main tbody a').click();
    await page.getByRole('heading', { name: 'Lamp shop' }).waitFor();
  });

  await t.test('a key is made, shown once, and revoked', async (t) => {
    const button = (name) => page.getByRole('button', { name, exact: true });
    await view('Machine');
    await page.getByLabel('Name of a new key').fill('A page of ours');
    await page.getByLabel('Valid for, in days').fill('30');
    await button('Make the key').click();
    const made = await page.locator('.notice code').textContent();
    t.match(made, /^sk_[\w-]{43}$/);
    const asked = () =>
      fetch(`${base}/v1/agent/sessions`, { headers: { authorization: `Bearer ${made}` } }).then(
        (answer) => answer.status,
      );
    t.equal(await asked(), 200, 'it is one of the role sessions');
    await page.getByText('in use here').waitFor();
    await well(t, 'keys');
    await page.reload();
    await page.getByRole('row', { name: /^A page of ours ….* sessions Valid until/ }).waitFor();
    t.notMatch(await page.locator('main').textContent(), made, 'and is not shown again');
    await button('Revoke A page of ours').click();
    await button('Revoke it now').click();
    await page.getByRole('row', { name: /^A page of ours ….* sessions Revoked/ }).waitFor();
    await until('it is refused', async () => (await asked()) === 401);
    await view('Audit');
    const row = (what) => page.getByRole('row').filter({ hasText: what }).first();
    await row('Key revoked').waitFor();
    t.match(await row('Key revoked').textContent(), /Failures.*127\.0\.0\.1/, 'the trail says who did it');
  });

  const button = (name) => page.getByRole('button', { name, exact: true });
  const deliveries = page.locator('main ul.panel > li');
  const shown = (count) => until(`${count} are shown`, async () => (await deliveries.count()) === count);

  await t.test('a failed delivery is sent again', async (t) => {
    status = 200;
    await view('Deliveries');
    await shown(ids.length * EVENTS);
    const newest = deliveries.first();
    t.match(await newest.textContent(), /A call was analysed.*Failed/);
    const before = seen.length;
    await newest.getByRole('button', { name: 'Deliver again' }).click();
    await newest.getByText('Delivered', { exact: true }).waitFor();
    t.match(await newest.textContent(), /500.*200.*asked for/s, 'both attempts are shown');
    exactly(t, eventsOf(before), [{ event: 'call.analyzed', session: { id: ids[3] } }]);
    await page.getByText('Body').first().click();
    await newest.getByText(ids[3]).waitFor();
    await well(t, 'deliveries');
  });

  await t.test('those of a time span are', async (t) => {
    const before = seen.length;
    await page.getByLabel('Status', { exact: true }).selectOption('Failed');
    await shown(ids.length * EVENTS - 1);
    await page.getByLabel('From', { exact: true }).fill(typed(Date.now() - 25 * HOUR_MS));
    await page.getByLabel('Until', { exact: true }).fill(typed(Date.now() - HOUR_MS / 2));
    await shown(2 * EVENTS);
    await button('Deliver these failed ones again').click();
    await page.getByText('4 were sent again').waitFor();
    await page.getByText('No delivery matches.').waitFor();
    t.strictSame(
      eventsOf(before).map(({ event, session }) => `${session.id} ${event}`),
      [ids[1], ids[2]].flatMap((id) => [`${id} call.ended`, `${id} call.analyzed`]),
      'in order, and no others',
    );
  });

  await t.test('all are', async (t) => {
    const before = seen.length;
    await page.getByRole('link', { name: 'Clear the filters' }).click();
    await shown(ids.length * EVENTS);
    await button('Deliver all failed ones again').click();
    await page.getByText('3 were sent again').waitFor();
    await until(
      'none has failed',
      async () => (await page.locator('main .tag.bad[role=status]').count()) === 0,
    );
    t.strictSame(
      eventsOf(before).map(({ session }) => session.id),
      [ids[0], ids[0], ids[3]],
    );
    await page.getByLabel('Status', { exact: true }).selectOption('Failed');
    await page.getByText('No delivery matches.').waitFor();
  });
  t.strictSame(complaints, [], 'neither an error nor something that the policy forbids');
}
