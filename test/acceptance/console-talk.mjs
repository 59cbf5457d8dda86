/**
 * An account owner talks to the draft of an agent, in voice and in writing. What
 * goes wrong before costs no session, and neither the keyboard's place nor what it said stays behind.
 */
import { makeAgent } from '../../dist/test/fixtures/platform/agents.js';
import { until } from '../../dist/test/fixtures/until.js';
import { HOSTILE, madeOfTexts, signIn, violations } from './console.mjs';

/** Talks to an agent; `browser` and `workspace` as in browser-console.test.mjs. */
export async function talkToAgent(t, { browser, workspace }) {
  const { base, authorization, key, call } = workspace;
  const prompt = { system_prompt: 'The shop opens at nine on weekdays.', first_message_mode: 'fixed' };
  const config = {
    prompt: { ...prompt, first_message: 'Hello from the draft.' },
    conversation: { record_audio: true },
  };
  const agent = await makeAgent(call, { name: 'Lamp shop', published: false, config });
  // The list is told by the hundred, and the first one is the last.
  for (let count = 0; count < 100; count += 1)
    await call('agents', { body: { name: HOSTILE[count] ?? `Shop ${count}` } });

  const { page, complaints } = await browser.open(`${base}/console`, 'Sign in · Speech gateway');
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  const button = (name) => page.getByRole('button', { name, exact: true });
  const said = (text) => page.locator('.lines li', { hasText: text }).first().waitFor();
  const told = (text) => page.getByRole('alert').filter({ hasText: text }).waitFor();
  const state = () => page.locator('output').textContent();
  const focus = () => page.evaluate(() => document.activeElement.textContent);
  const sessions = async () => (await call('sessions')).body.sessions.length;
  const errors = () => page.locator('.lines .error').count();
  const well = async (what) => t.strictSame(await violations(page), [], `assistive technology reads ${what}`);

  await well('the sign-in');
  await signIn(page, 'wrong');
  await told(/token|key/i);
  t.ok(complaints.length > 0, 'the browser notes the refusal');
  complaints.length = 0;
  await signIn(page, key);
  await page.getByRole('link', { name: 'Speak', exact: true }).click();
  await page.getByLabel('Text').fill(HOSTILE[1]);
  await button('Speak').click();
  await page.getByText('Time to first audio').waitFor();
  await button('ElevenLabs').click();
  await page.getByText(JSON.stringify(HOSTILE[1])).waitFor();
  await page.getByLabel('Format').selectOption('wav');
  await page.getByText('wav_44100').waitFor();
  await well('what speaks');
  t.strictSame(await madeOfTexts(page), []);
  await page.reload();
  t.equal(await page.getByLabel('Text').inputValue(), HOSTILE[1], 'what was typed outlives a reload');
  t.equal(await page.getByLabel('Format').inputValue(), 'wav');

  await page.getByRole('link', { name: 'Listen', exact: true }).click();
  const spoken = await fetch(`${base}/v1/tts`, {
    method: 'POST',
    headers: { ...authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ text: 'The lamps are here.', format: 'wav' }),
  });
  const file = { name: HOSTILE[0], mimeType: 'audio/wav', buffer: Buffer.from(await spoken.arrayBuffer()) };
  await page.getByLabel('Choose a file').first().setInputFiles(file);
  await page.locator('.words button').first().click();
  await button('Save as srt').waitFor();
  await well('what listens');
  t.strictSame(await madeOfTexts(page), []);

  // Not sooner: the start asks for agents as well.
  await page.route('**/v1/agent/agents?*', (route) => route.fulfill({ body: '<h1>Welcome</h1>' }), {
    times: 1,
  });
  await page.getByRole('link', { name: 'Talk', exact: true }).click();
  await told('The gateway answers 200, and not as it should');
  await button('Try again').click();

  await page.getByLabel('Agent', { exact: true }).selectOption('Lamp shop');
  t.equal(await page.getByRole('alert').count(), 0, 'what was wrong before is gone');
  await well('the choice of an agent');
  await button('Talk').click();
  await said('no published version');
  t.strictSame([await state(), await focus()], ['', 'Talk']);
  complaints.length = 0;
  await page.getByLabel('Version').selectOption('Draft');

  await page.evaluate(() => {
    navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException('No', 'NotAllowedError'));
  });
  await button('Talk').click();
  await said('The microphone cannot be used');
  await page.evaluate(() => {
    navigator.mediaDevices.getUserMedia = () => new Promise(() => undefined);
  });
  await button('Talk').click();
  t.equal(await focus(), 'Hang up', 'to be given up while the user is still asked');
  await button('Hang up').click();
  await button('Talk').waitFor();
  t.strictSame([await state(), await focus(), await errors()], ['', 'Talk', 0]);
  t.equal(await sessions(), 0, 'neither has cost a session');

  await page.evaluate(() => {
    delete navigator.mediaDevices.getUserMedia;
    AudioContext.prototype.createMediaStreamSource = () => {
      throw new DOMException('Another sample rate', 'NotSupportedError');
    };
  });
  await button('Talk').click();
  await said('Agent: Hello from the draft.');
  await until('it is announced', async () =>
    /^Agent: Hello from the draft\.$/.test((await page.locator('[aria-live]').textContent()).trim()),
  );
  t.equal(await focus(), 'Hang up', 'a volume that cannot be measured ends nothing');

  await page.getByLabel('Write').fill('When does the shop open on weekdays?');
  await page.getByLabel('Answer in writing').check();
  await button('Send').click();
  await said('You: When does the shop open on weekdays?');
  await said('Agent: The shop opens at nine on weekdays.');
  await page.getByLabel('Write').fill(HOSTILE.join(' '));
  await button('Send').click();
  await said(`You: ${HOSTILE.join(' ')}`);
  t.strictSame(await madeOfTexts(page), [], 'text stays text');
  await well('a call');
  await button('Mute').click();
  await button('Unmute').click();
  await button('Mute').waitFor();
  await button('Hang up').click();
  await until('it is over', async () => /Over: you hung up/.test(await state()));
  t.equal(await button('Talk').isEnabled(), true, 'it can be called again');
  t.equal(await focus(), 'Talk');

  await page.getByRole('link', { name: 'Read and hear this call again' }).click();
  const line = (text) => page.locator('.transcript li', { hasText: text });
  await line('The shop opens at nine on weekdays.').waitFor();
  t.strictSame(await madeOfTexts(page), [], 'text of a record stays text');
  await until('the recording is there', () => button('Play').isEnabled());
  await well('a call');
  const position = page.getByLabel('Position');
  const marks = (text) => page.locator('.transcript [aria-current]').filter({ hasText: text }).waitFor();
  await line('The shop opens at nine on weekdays.').locator('button').click();
  await until('the line leads to its moment', async () => Number(await position.inputValue()) > 0);
  await marks('The shop opens at nine on weekdays.');
  await line('Hello from the draft.').locator('button').click();
  await marks('Hello from the draft.');
  const moment = Number(await position.inputValue());
  await line('The shop opens at nine on weekdays.').locator('button').click();
  await marks('The shop opens at nine on weekdays.');
  // The greeting is the one line that nothing follows at once.
  await position.fill(String(moment + 0.1));
  await marks('Hello from the draft.');
  await line('Hello from the draft.').locator('button').click();
  const before = Number(await position.inputValue());
  await button('Play').click();
  await until('it plays', async () => Number(await position.inputValue()) > before + 0.5);
  await button('Pause').click();
  await button('Delete…').click();
  await button('Cancel').click();
  await button('Delete…').click();
  await button('Delete for good').click();
  await page.getByText('No calls here yet.').waitFor();

  await call(`agents/${agent}/publish`, { method: 'POST' });
  for (let count = 0; count < 51; count += 1)
    await call('sessions', { body: { agent_id: agent, name: HOSTILE[count] ?? `Call ${count}` } });
  await page.getByLabel('What was said').fill('lamps <b>');
  await page.keyboard.press('Enter');
  await page.getByText('No call matches.').waitFor();
  t.match(page.url(), /search=lamps/, 'a search is in the address');
  await page.getByRole('link', { name: 'Clear the filters' }).click();
  await page.getByLabel('Status').selectOption('failed');
  await page.getByText('No call matches.').waitFor();
  await page.getByLabel('Status').selectOption('pending');
  await page
    .getByRole('link', { name: /\d\d:\d\d:\d\d/ })
    .first()
    .waitFor();
  t.equal(await page.locator('tbody tr').count(), 50);
  await button('Show more').click();
  const all = async () => (await page.locator('tbody tr').count()) === 51;
  await until('the next page is there', all);
  await page.locator('tbody a').last().click();
  await page.getByRole('link', { name: 'All calls' }).waitFor();
  await page.goBack();
  await until('both pages are there again', all);
  t.match(page.url(), /status=pending&pages=2/);
  t.equal(await button('Show more').count(), 0);
  await well('the list of calls');
  t.strictSame(await madeOfTexts(page), [], 'names stay text');
  await page.reload();
  t.equal(await page.getByLabel('Status').inputValue(), 'pending', 'the filter is in the address');

  // LiveKit measures as well, and is not ours to mend.
  // LiveKit's client says the second where a browser that gets no time finds its channel closed first.
  const others = [/^Another sample rate$/, /^DataChannel error on/];
  const ours = complaints.filter((text) => !others.some((other) => other.test(text)));
  t.strictSame(ours, [], 'neither an error nor something that the policy forbids');
  await page.context().close();
}
