/** The console's view of a realtime session: text, a file and the microphone, its events, and events written by hand. */
import { HOSTILE, shows } from './console.mjs';

/** Holds a realtime session, then connects to one that only transcribes. */
export async function holdRealtimeSession(t, { page, workspace, button, view, told, well }) {
  const line = (text) => page.locator('.lines li', { hasText: text }).first().waitFor();
  const events = () => page.locator('.events summary').allInnerTexts();
  await view('Realtime');
  await button('Connect').click();
  await page.getByText('Connected', { exact: true }).waitFor();
  await page.getByLabel('Text to speak').fill(HOSTILE[0]);
  await button('Speak').click();
  await line(`Spoken: ${HOSTILE[0]}`);
  await page.locator('.events summary', { hasText: 'response.done' }).first().waitFor();

  const spoken = await fetch(`${workspace.base}/v1/tts`, {
    method: 'POST',
    headers: { ...workspace.authorization, 'content-type': 'application/json' },
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
  const others = async () =>
    (await events()).filter((text) => !/sent\s+input_audio_buffer\.append/.test(text));
  await shows('events of other kinds', others, []);
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

  await page.getByLabel('Microphone', { exact: true }).selectOption('Fake Audio Input 1');
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
  // Few of the events: the hundreds that were sent are alike.
  await page.getByLabel('Filter').fill('session');
  await well(t, 'a realtime session');
  await page.getByLabel('Filter').fill('');
  await button('Disconnect').click();
  await page.getByText('Not connected').waitFor();
  await button('Connect').waitFor();
  await page.getByLabel('Session', { exact: true }).selectOption('transcription');
  await button('Connect').click();
  await button('Microphone on').waitFor();
  t.equal(await button('Speak').count(), 0, 'a session that transcribes does not speak');
  await button('Disconnect').click();
}
