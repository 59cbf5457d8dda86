/**
 * All views of the console in one tab: a realtime session by text, file and microphone; tests of an agent; telephone
 * numbers; a call to a version with other devices. Then each of them: at the width of a phone, by the keyboard, and in
 * Firefox; in the long form at all widths, and a session and a call in Firefox.
 */
import { makeAgent } from '../../dist/test/fixtures/platform/agents.js';
import { exactly } from '../../dist/test/fixtures/exactly.js';
import { skipReason } from '../../dist/test/fixtures/external.js';
import { until } from '../../dist/test/fixtures/until.js';
import { HOSTILE, madeOfTexts, violations } from './console.mjs';
import { workOnAgentTests } from './console-agent-tests.mjs';
import { holdRealtimeSession } from './console-realtime.mjs';
import {
  HAS_LINE,
  IS_READY,
  IS_SHOWN,
  keyboardOf,
  notReached,
  pagesBelow,
  PRESS,
  SEND,
  TOO_WIDE,
  UNFOLD,
  VIEWS,
  WIDTHS,
} from './console-views.mjs';
import { BOUNDS, MEASURED, measure } from './measures.mjs';

/** A realtime session, and a call in writing. */
async function talkInFirefox(t, { tab, agent, outward }) {
  const press = async (name) => {
    await tab.wait(`${name} can be pressed`, IS_READY, name);
    await tab.run(PRESS, name);
  };
  const line = (text) => tab.wait(`“${text}” is said`, HAS_LINE, text);
  await tab.run(() => void (location.hash = '#/realtime'));
  await press('Connect');
  await press('Speak');
  await line('Spoken: Hello');
  // Where a machine has no sound, Firefox's stands still: the microphone is Chromium's, above.
  await press('Disconnect');
  await t.test('and holds a call', { skip: outward ? false : 'no address but loopback' }, async () => {
    await tab.run((hash) => void (location.hash = hash), `#/talk?agent=${agent}`);
    await press('Talk');
    await line('Agent: Hello from the shop.');
    // Its microphone is one steady tone, for which an agent falls silent as for any voice.
    await press('Mute');
    await tab.wait('one can write', () => document.querySelector('main form input') !== null);
    await tab.run(SEND, 'When does the shop open on weekdays?');
    await line('Agent: The shop opens at nine on weekdays.');
    await press('Hang up');
    await tab.wait('its record is linked', () => document.querySelector('main a[href^="#/calls/"]') !== null);
    await tab.run(() => document.querySelector('main a[href^="#/calls/"]').click());
    await tab.wait('it is read', () => /at nine/.test(document.querySelector('.transcript')?.textContent));
  });
}

/** Works through all views; `browser` and `workspace` as in browser-console.test.mjs; `outward`: an address other than loopback. */
export async function workThroughViews(t, { browser, workspace, outward, long }) {
  const { base, key, call } = workspace;
  const { page, complaints } = await browser.open(`${base}/console`, 'Sign in · Speech gateway');
  page.on(
    'console',
    (message) => message.type() === 'error' && complaints.push(`${message.text()} ${message.location().url}`),
  );
  const button = (name) => page.getByRole('button', { name, exact: true });
  const view = (name) => page.getByRole('link', { name, exact: true }).click();
  const told = (text) => page.getByRole('alert').filter({ hasText: text }).waitFor();
  const well = async (t, what) => {
    t.strictSame(await violations(page), [], `assistive technology reads ${what}`);
    t.strictSame(await madeOfTexts(page), [], 'text stays text');
  };
  const saved = () =>
    page
      .getByRole('status')
      .filter({ hasText: /^Saved$/ })
      .waitFor();
  const prompt = { system_prompt: 'The shop opens at nine on weekdays.', first_message_mode: 'fixed' };
  const agent = await makeAgent(call, {
    name: HOSTILE[0],
    config: {
      prompt: { ...prompt, first_message: 'Hello from the shop.' },
      conversation: { record_audio: true },
    },
  });
  await t.test('the first load fetches few bytes and shifts the layout little', async (t) => {
    const isWithin = async (page, view) => {
      const measured = await measure(page, workspace, { view });
      for (const [name, most] of Object.entries(BOUNDS))
        t.ok(measured[name] <= most, `${name} of /${view}: ${measured[name]} of ${most}`);
    };
    for (const view of long ? MEASURED.slice(0, -1) : []) {
      const fresh = await browser.open(`${base}/console`, 'Sign in · Speech gateway');
      await isWithin(fresh.page, view);
      t.strictSame(fresh.complaints, []);
      await fresh.page.context().close();
    }
    // The last has the most requests, elements and texts. The tab is signed in afterwards, and worked in.
    await isWithin(page, MEASURED.at(-1));
  });

  const desk = { page, workspace, agent, call, button, view, told, saved, well, long };
  await t.test('a realtime session, and its events', (t) => holdRealtimeSession(t, desk));

  await t.test('tests of an agent: made, played, looked at, two versions side by side', (t) =>
    workOnAgentTests(t, desk),
  );

  await t.test('telephone numbers: added, changed, removed; credentials are never shown', async (t) => {
    const { providers } = await page.evaluate(async () => {
      const { paths } = await (await fetch('openapi.json')).json();
      const { schema } = paths['/v1/agent/phone-numbers'].post.requestBody.content['application/json'];
      return { providers: schema.properties.provider.enum };
    });
    await view('Phone numbers');
    await page.getByText('No numbers here yet.').waitFor();
    await page.getByText('Add a number').click();
    const offered = await page
      .getByLabel('Provider')
      .locator('option')
      .evaluateAll((all) => all.map(({ value }) => value));
    t.strictSame(offered, providers, 'the providers are those of the API');
    await page.getByLabel('Number', { exact: true }).fill('030 1234');
    await page.getByLabel('Auth token').fill('a-secret-that-nobody-sees');
    await button('Add').click();
    await told('E.164');
    await page.getByLabel('Number', { exact: true }).fill('+493012345678');
    await page.getByLabel('Agent that answers').selectOption(HOSTILE[0]);
    await button('Add').click();
    await page.getByText(/\/v1\/phone\/twilio\/answer\/[\w-]+$/).waitFor();
    await page.getByText('Answers', { exact: true }).waitFor();
    await page.getByText('Providers use https only').waitFor();
    await page.getByLabel('Calls are answered').uncheck();
    await page.getByText('Rejects calls', { exact: true }).waitFor();
    await saved();
    await page.getByText('Replace credentials').click();
    await page.getByLabel('Auth token').fill('another-secret');
    await button('Replace').click();
    await page.getByText('Replaced.').waitFor();
    await well(t, 'a telephone number');
    await page.reload();
    await page.getByText('Rejects calls', { exact: true }).waitFor();
    t.notMatch(await page.content(), /secret-that|another-secret/);
    await button('Delete…').click();
    await button('Delete for good').click();
    await page.getByText('No numbers here yet.').waitFor();
  });

  /** The call that was held. */
  let held;
  await t.test('a call to a version, with another microphone', async (t) => {
    await view('Talk');
    await page.getByLabel('Version').selectOption('Version 1');
    // Not by its place: the headless shell forgets the ids of devices at a reload, and one chosen before comes first.
    await page.getByLabel('Microphone').selectOption('Fake Audio Input 1');
    await button('Talk').click();
    await page.locator('.lines li', { hasText: 'Hello from the shop.' }).waitFor();
    await page.getByLabel('Microphone').selectOption('As the system');
    await page.getByLabel('Loudspeaker').selectOption('Fake Audio Output 1');
    t.equal(await page.locator('.lines .error').count(), 0);
    // What assistive technology reads of a call is tried in console-talk.mjs.
    t.strictSame(await madeOfTexts(page), [], 'text stays text');
    await button('Hang up').click();
    await page.getByRole('link', { name: 'Read and hear this call again' }).click();
    await page.locator('.transcript li', { hasText: 'Hello from the shop.' }).waitFor();
    const [, id] = /calls\/(sess_\w+)/.exec(page.url());
    held = id;
    exactly(t, (await call(`sessions/${id}`)).body, { version_number: 1, source: 'dashboard' });
    await page.goBack();
    await page.getByLabel('Microphone').waitFor();
    t.match(page.url(), /version=1/, 'the version is in the address');
  });

  await t.test(
    'each view and what is below it fits its width, stands still, and is a keyboard’s',
    async (t) => {
      await page.emulateMedia({ reducedMotion: 'reduce' });
      const press = await keyboardOf(page);
      // There and back: where one view ends the next begins.
      let widths = long ? WIDTHS : WIDTHS.slice(0, 1);
      let top = true;
      for (const address of [
        ...(await page.evaluate(VIEWS)),
        ...(await pagesBelow(workspace, { agent, session: held })),
      ]) {
        const link = address.split(/[/?]/).slice(0, 2).join('/');
        await page.evaluate((hash) => (location.hash = hash), address);
        await until(`${address} is there`, () => page.evaluate(IS_SHOWN, link));
        await page.evaluate(UNFOLD);
        for (const width of widths) {
          await page.setViewportSize({ width, height: 900 });
          t.strictSame(await page.evaluate(TOO_WIDE), [], `${address} fits ${width} pixels`);
        }
        t.equal(await page.evaluate(() => document.getAnimations().length), 0, `${address} stands still`);
        t.strictSame(await notReached(page, press, { top }), [], `${address} is reached by the keyboard`);
        widths = widths.toReversed();
        top = false;
      }
      await page.emulateMedia({ reducedMotion: null });
    },
  );

  // The browser notes what was refused on purpose.
  const ours = complaints.filter((text) => !/ 422 /.test(text));
  t.strictSame(ours, [], 'neither an error nor something that the policy forbids');

  await t.test('Firefox goes through every view', { skip: skipReason('firefox-esr') }, async (t) => {
    const { startFirefox } = await import('./firefox.mjs');
    const firefox = await startFirefox();
    t.teardown(() => firefox.stop());
    const { tab } = firefox;
    await tab.goTo(`${base}/console`);
    await tab.wait('one can sign in', () => document.querySelector('input') !== null);
    await tab.run(SEND, key);
    await tab.wait('one has signed in', () => document.querySelector('nav') !== null);
    for (const address of [...(await tab.run(VIEWS)), '#/agents/new']) {
      await tab.run((hash) => void (location.hash = hash), address);
      await tab.wait(`${address} is there`, IS_SHOWN, address.replace(/\/new$/, ''));
      for (const width of long ? WIDTHS : WIDTHS.slice(0, 1)) {
        await tab.resize(width, 900);
        t.strictSame(await tab.run(TOO_WIDE), [], `${address} fits ${width} pixels`);
      }
    }
    if (long) await talkInFirefox(t, { tab, agent, outward });
    // LiveKit's client says so where it finds its channel closed first.
    const ours = (await tab.complaints()).filter((text) => !/DataChannel error on/.test(text));
    t.strictSame(ours, [], 'neither an error nor something that the policy forbids');
  });
}
