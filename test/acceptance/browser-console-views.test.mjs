/**
 * More views of the console in headless Chromium, on one gateway and in one tab: a realtime session by text, file and
 * microphone; tests of an agent; telephone numbers; a call to a version with other devices. Then all of them:
 * at three widths, by the keyboard, and in Firefox.
 */
import { networkInterfaces } from 'node:os';
import t from 'tap';
import { client, makeAgent } from '../../dist/test/fixtures/agents.js';
import { skipReason } from '../../dist/test/fixtures/external.js';
import { startGateway, TEST_KEY } from '../../dist/test/fixtures/gateway.js';
import { until } from '../../dist/test/fixtures/until.js';
import { HOSTILE, madeOfTexts, signIn, violations } from './console.mjs';
import {
  HAS_LINE,
  IS_READY,
  IS_SHOWN,
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

const skip = skipReason('chromium');

/** Firefox sends no media to loopback. Undefined where the machine has no other address. */
const OUTWARD = Object.values(networkInterfaces())
  .flat()
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

t.test('an owner works on the console', { skip, timeout: 300_000 }, async (t) => {
  const { startBrowser } = await import('./browser.mjs');
  const gateway = await startGateway({ MEDIA_UDP_PORT: '0', MEDIA_HOST: OUTWARD ?? '127.0.0.1' });
  t.teardown(() => gateway.stop());
  const browser = await startBrowser(gateway, { before: 1, text: 'The lamps are here.', after: 1 });
  t.teardown(() => browser.stop());
  const { page, complaints } = await browser.open(`${gateway.base}/console`, 'Sign in · Speech gateway');
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
  const call = client(gateway.base);
  const prompt = { system_prompt: 'The shop opens at nine on weekdays.', first_message_mode: 'fixed' };
  const agent = await makeAgent(call, {
    name: HOSTILE[0],
    config: {
      prompt: { ...prompt, first_message: 'Hello from the shop.' },
      conversation: { record_audio: true },
    },
  });
  await t.test('the first load is small, and moves little', async (t) => {
    for (const view of MEASURED) {
      const fresh = await browser.open(`${gateway.base}/console`, 'Sign in · Speech gateway');
      const measured = await measure(fresh.page, gateway.base, { view });
      for (const [name, most] of Object.entries(BOUNDS))
        t.ok(measured[name] <= most, `${name} of /${view}: ${measured[name]} of ${most}`);
      t.strictSame(fresh.complaints, []);
      await fresh.page.context().close();
    }
  });
  await signIn(page);

  await t.test('a realtime session, and its events', async (t) => {
    const line = (text) => page.locator('.lines li', { hasText: text }).first().waitFor();
    const events = () => page.locator('.events summary').allInnerTexts();
    await view('Realtime');
    await button('Connect').click();
    await page.getByText('Connected', { exact: true }).waitFor();
    await page.getByLabel('Text to speak').fill(HOSTILE[0]);
    await button('Speak').click();
    await line(`Spoken: ${HOSTILE[0]}`);
    await page.locator('.events summary', { hasText: 'response.done' }).first().waitFor();

    const spoken = await fetch(`${gateway.base}/v1/tts`, {
      method: 'POST',
      headers: { ...gateway.authorization, 'content-type': 'application/json' },
      body: JSON.stringify({ text: 'The lamps are here.', format: 'wav' }),
    });
    const buffer = Buffer.from(await spoken.arrayBuffer());
    const choose = page.getByLabel('Choose a file').first();
    await choose.setInputFiles({ name: 'lamps.wav', mimeType: 'audio/wav', buffer });
    await line('Heard: The lamps are here.');
    await choose.setInputFiles({ name: 'lamps.wav', mimeType: 'audio/wav', buffer: Buffer.from('none') });
    await told('The browser cannot decode this file');

    await page.getByLabel('Filter').fill('append');
    await page.getByLabel('Direction').selectOption('sent');
    t.ok((await events()).every((text) => /sent\s+input_audio_buffer\.append/.test(text)));
    await page.locator('.events summary').first().click();
    t.match(await page.locator('.events pre').textContent(), /"audio": "\([\d.]+ KB of audio\)"/);
    await page.getByLabel('Filter').fill('');
    await page.getByLabel('Direction').selectOption('');

    await button('Microphone on').click();
    await button('Stop and transcribe').waitFor();
    const count = await page.locator('.events summary', { hasText: 'append' }).count();
    await page.waitForFunction(
      (before) =>
        [...document.querySelectorAll('.events summary')].filter(({ innerText }) => /append/.test(innerText))
          .length > before,
      count,
    );
    await button('Pause').click();
    await button('Stop and discard').click();
    await button('Follow again').click();
    await page.locator('.events summary', { hasText: 'input_audio_buffer.cleared' }).waitFor();

    await page.getByLabel('Microphone', { exact: true }).selectOption({ index: 1 });
    await page.evaluate(() => {
      const { prototype } = WebSocket;
      window.buffered = Object.getOwnPropertyDescriptor(prototype, 'bufferedAmount');
      Object.defineProperty(prototype, 'bufferedAmount', { configurable: true, get: () => 1 << 24 });
    });
    await button('Microphone on').click();
    await told('the microphone was switched off');
    await page.evaluate(() => Object.defineProperty(WebSocket.prototype, 'bufferedAmount', window.buffered));

    await page.getByText('Send any event').click();
    await page.getByLabel('Event (JSON)').fill('{"type": "input_audio_buffer.commit"}');
    await button('Send').click();
    await told('Switch the microphone on or choose a file first.');
    await page.getByLabel('Event (JSON)').fill('{}');
    await button('Send').click();
    await told('An event is a JSON object');
    await page.getByLabel(/^Speed/).fill('1.5');
    await page.locator('.events summary', { hasText: 'session.updated' }).waitFor();
    await well(t, 'a realtime session');
    await button('Disconnect').click();
    await page.getByText('Not connected').waitFor();
    await button('Connect').waitFor();
    await page.getByLabel('Session', { exact: true }).selectOption('transcription');
    await button('Connect').click();
    await button('Microphone on').waitFor();
    t.equal(await button('Speak').count(), 0, 'a session that transcribes does not speak');
    await button('Disconnect').click();
  });

  await t.test('tests of an agent: made, played, looked at, two versions side by side', async (t) => {
    await view('Tests');
    await page.getByText('No scenarios here yet.').waitFor();
    await page.getByText('Add a scenario').click();
    await page.getByLabel('Name', { exact: true }).fill(HOSTILE[1]);
    await page
      .getByLabel('What the user says')
      .fill('When does the shop open on weekdays?\n\nThank you, bye.');
    await button('Create').click();
    await button('Add to Checks').click();
    t.equal(await page.getByLabel('Criterion').count(), 0, 'a check shows the fields of its type only');
    await page.getByText('missing field text').first().waitFor();
    await page.getByLabel('Text', { exact: true }).fill('nine on weekdays');
    await saved();
    await page.getByLabel('Mode').selectOption('voice');
    await page.getByLabel('Pause ms').fill('300');
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
    t.match(scenario, {
      mode: 'text',
      user: { lines: ['When does the shop open on weekdays?'] },
      checks: [{ type: 'contains', text: 'nine on weekdays' }],
    });

    await page.getByRole('link', { name: 'All scenarios' }).click();
    await page.getByText('In writing, 1 check').waitFor();
    const lines = page.getByLabel('What the user says');
    await page.getByText('Add a scenario').click();
    await page.getByLabel('Name', { exact: true }).fill('By telephone');
    await page.getByLabel('How it is held').selectOption('By voice');
    await lines.fill('When does the shop open <break time="300ms"/> on weekdays?');
    await page.reload();
    await page.getByText('Add a scenario').click();
    t.match(await lines.inputValue(), 'When does the shop open', 'what was typed outlives a reload');
    await button('Create').click();
    await page.getByLabel('Noise db').fill('-60');
    await button('Add to Interruptions').click();
    await page.getByLabel('Turn', { exact: true }).fill('1');
    await page.getByLabel('After ms').fill('60000');
    await page.getByLabel('Say', { exact: true }).fill(HOSTILE[2]);
    await saved();
    await well(t, 'a scenario by voice');

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
    await page.getByLabel('Version').selectOption('Version 1');
    await button('Play them').click();
    await page.getByText(/^Version 1, .* · /).waitFor();
    await page.getByRole('row', { name: /Passed 1 of 1/ }).waitFor();
    await page.getByRole('row', { name: /By telephone Passed/ }).waitFor({ timeout: 90_000 });
    await well(t, 'a run');
    await page.getByRole('link', { name: 'By telephone' }).click();
    const plays = page.getByRole('button', { name: 'Play', exact: true });
    await until('its call can be heard', () => plays.isEnabled());
    await plays.click();
    await until('it plays', async () => Number(await page.getByLabel('Position').inputValue()) > 0.3);
    await button('Pause').click();
    await page.getByText('Answers, median').waitFor();
    await well(t, 'a result by voice');
    await page.getByRole('link', { name: 'Back to the run' }).click();

    const body = { prompt: { system_prompt: 'The shop is closed.' } };
    await call(`agents/${agent}/config`, { method: 'PATCH', body });
    await page.getByRole('link', { name: 'All runs' }).click();
    await page.getByLabel('Version').selectOption('Draft');
    await page.getByLabel('Which').selectOption(HOSTILE[3]);
    await button('Play them').click();
    await page.getByRole('row', { name: /Failed 0 of 1/ }).waitFor();
    await page.getByRole('row', { name: /By telephone Passed/ }).waitFor({ timeout: 90_000 });
    await page.getByRole('link', { name: HOSTILE[1] }).click();
    await page.locator('.lines', { hasText: 'When does the shop open' }).waitFor();
    await well(t, 'a result');
    await page.getByRole('link', { name: 'Back to the run' }).click();
    await page.getByLabel('Compare with another run').selectOption({ index: 1 });
    await page.getByText('Broken').waitFor();
    await page.getByText('holds → does not hold').waitFor();
    await until('both are there', async () => (await page.locator('.lines').count()) === 2);
    await page.getByRole('heading', { name: 'By telephone' }).click();
    for (let count = 0; count < 2; count += 1) await button('Hear the call').first().click();
    await until(
      'both calls can be heard',
      async () => (await plays.count()) === 2 && plays.last().isEnabled(),
    );
    await well(t, 'two runs side by side');
    await page.getByRole('link', { name: 'Back to the run' }).click();
    await button('Delete…').click();
    await button('Delete for good').click();
    await until('one run is left', async () => (await page.locator('tbody tr').count()) === 1);
    await view('Suites');
    await page.getByRole('link', { name: HOSTILE[3] }).click();
    await button('Delete…').click();
    await button('Delete for good').click();
    await page.getByText('No suites here yet').waitFor();
  });

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
    await page.getByText(/\/v1\/phone\/twilio\/answer$/).waitFor();
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
    await page.getByLabel('Microphone').selectOption({ index: 1 });
    await button('Talk').click();
    await page.locator('.lines li', { hasText: 'Hello from the shop.' }).waitFor();
    await page.getByLabel('Microphone').selectOption('As the system');
    await page.getByLabel('Loudspeaker').selectOption({ index: 1 });
    t.equal(await page.locator('.lines .error').count(), 0);
    await well(t, 'a call with a choice of devices');
    await button('Hang up').click();
    await page.getByRole('link', { name: 'Read and hear this call again' }).click();
    await page.locator('.transcript li', { hasText: 'Hello from the shop.' }).waitFor();
    const [, id] = /calls\/(sess_\w+)/.exec(page.url());
    held = id;
    t.match((await call(`sessions/${id}`)).body, { version_number: 1, source: 'dashboard' });
    await page.goBack();
    await page.getByLabel('Microphone').waitFor();
    t.match(page.url(), /version=1/, 'the version is in the address');
  });

  await t.test(
    'each view and what is below it fits three widths and a zoom of 200 %, moves nothing, and is a keyboard’s',
    async (t) => {
      await page.emulateMedia({ reducedMotion: 'reduce' });
      for (const address of [
        ...(await page.evaluate(VIEWS)),
        ...(await pagesBelow(gateway, { agent, session: held })),
      ]) {
        const link = address.split(/[/?]/).slice(0, 2).join('/');
        await page.evaluate((hash) => (location.hash = hash), address);
        await until(`${address} is there`, () => page.evaluate(IS_SHOWN, link));
        await page.evaluate(UNFOLD);
        for (const width of WIDTHS) {
          await page.setViewportSize({ width, height: 900 });
          t.strictSame(await page.evaluate(TOO_WIDE), [], `${address} fits ${width} pixels`);
        }
        t.equal(await page.evaluate(() => document.getAnimations().length), 0, `${address} stands still`);
        t.strictSame(await notReached(page), [], `${address} is reached by the keyboard`);
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
    const press = async (name) => {
      await tab.wait(`${name} can be pressed`, IS_READY, name);
      await tab.run(PRESS, name);
    };
    const line = (text) => tab.wait(`“${text}” is said`, HAS_LINE, text);
    await tab.goTo(`${gateway.base}/console`);
    await tab.wait('one can sign in', () => document.querySelector('input') !== null);
    await tab.run(SEND, TEST_KEY);
    await tab.wait('one has signed in', () => document.querySelector('nav') !== null);
    for (const address of await tab.run(VIEWS)) {
      await tab.run((hash) => void (location.hash = hash), address);
      await tab.wait(`${address} is there`, IS_SHOWN, address);
      for (const width of WIDTHS) {
        await tab.resize(width, 900);
        t.strictSame(await tab.run(TOO_WIDE), [], `${address} fits ${width} pixels`);
      }
    }
    await tab.run(() => void (location.hash = '#/realtime'));
    await press('Connect');
    await press('Speak');
    await line('Spoken: Hello');
    // Where a machine has no sound, Firefox's stands still: the microphone is Chromium's, above.
    await press('Disconnect');
    await t.test('and holds a call', { skip: OUTWARD ? false : 'no address but loopback' }, async () => {
      await tab.run((hash) => void (location.hash = hash), `#/talk?agent=${agent}`);
      await press('Talk');
      await line('Agent: Hello from the shop.');
      // Its microphone is one steady tone, for which an agent falls silent as for any voice.
      await press('Mute');
      await tab.wait('one can write', () => document.querySelector('main form input') !== null);
      await tab.run(SEND, 'When does the shop open on weekdays?');
      await line('Agent: The shop opens at nine on weekdays.');
      await press('Hang up');
      await tab.wait(
        'its record is linked',
        () => document.querySelector('main a[href^="#/calls/"]') !== null,
      );
      await tab.run(() => document.querySelector('main a[href^="#/calls/"]').click());
      await tab.wait('it is read', () => /at nine/.test(document.querySelector('.transcript')?.textContent));
    });
    // LiveKit's client says so where it finds its channel closed first.
    const ours = (await tab.complaints()).filter((text) => !/DataChannel error on/.test(text));
    t.strictSame(ours, [], 'neither an error nor something that the policy forbids');
  });
});
