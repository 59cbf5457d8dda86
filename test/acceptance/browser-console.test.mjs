/** The console's page in headless Chromium: an account owner talks to the draft of an agent, in voice and in writing. */
import t from 'tap';
import { client, makeAgent } from '../../dist/test/fixtures/agents.js';
import { skipReason } from '../../dist/test/fixtures/external.js';
import { startGateway, TEST_KEY } from '../../dist/test/fixtures/gateway.js';
import { until } from '../../dist/test/fixtures/until.js';

const skip = skipReason('chromium');

t.test('an owner talks to an agent on the console', { skip, timeout: 180_000 }, async (t) => {
  const { startBrowser } = await import('./browser.mjs');
  const gateway = await startGateway({ MEDIA_UDP_PORT: '0', MEDIA_HOST: '127.0.0.1' });
  t.teardown(() => gateway.stop());
  const browser = await startBrowser(gateway, { before: 60, text: 'Nobody gets to hear this.', after: 1 });
  t.teardown(() => browser.stop());
  const call = client(gateway.base);
  const prompt = { system_prompt: 'The shop opens at nine on weekdays.', first_message_mode: 'fixed' };
  const config = { prompt: { ...prompt, first_message: 'Hello from the draft.' } };
  await makeAgent(call, { name: 'Lamp shop', published: false, config });

  const { page, complaints } = await browser.open(`${gateway.base}/console`, 'Talk to an agent');
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  const button = (name) => page.getByRole('button', { name, exact: true });
  const said = (text) => page.locator('#lines li', { hasText: text }).waitFor({ timeout: 60_000 });
  const state = () => page.locator('#state').textContent();

  await page.getByLabel('API key').fill('wrong');
  await button('Show agents').click();
  await said(/token|key/i);
  t.ok(complaints.length > 0, 'the browser notes the refusal');
  complaints.length = 0;

  await page.getByLabel('API key').fill(TEST_KEY);
  await button('Show agents').click();
  await page.locator('#agent').selectOption('Lamp shop');
  await button('Talk').click();
  await said('no published version');
  complaints.length = 0;
  await page.getByLabel('its draft').check();
  await button('Talk').click();
  await said('Hello from the draft.');

  await page.getByLabel('Write').fill('When does the shop open on weekdays?');
  await page.getByLabel('answer in writing').check();
  await button('Send').click();
  await said('The shop opens at nine on weekdays.');
  await button('Mute').click();
  await button('Unmute').click();
  await button('Mute').waitFor();
  await button('Hang up').click();
  await until('it is over', async () => /Over: user hangup/.test(await state()));
  t.equal(await button('Talk').isEnabled(), true, 'it can be called again');
  t.strictSame(complaints, [], 'neither an error nor something that the policy forbids');
});
