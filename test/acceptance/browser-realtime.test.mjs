/**
 * The unmodified @openai/agents-realtime in headless Chromium, by its own WebRTC, with an agent as its model: a spoken turn, a function
 * of the page, an interruption, and a hang-up.
 */
import { exactly } from '../../dist/test/fixtures/exactly.js';
import t from '../../dist/test/fixtures/tap.js';
import { said, toolSaid } from '../../dist/test/fixtures/chat/model.js';
import { messagesOf, Talks } from '../../dist/test/fixtures/conversation/conversation.js';
import { skipReason } from '../../dist/test/fixtures/external.js';
import { EMBEDDED } from '../../dist/test/fixtures/gateway.js';
import { until } from '../../dist/test/fixtures/until.js';

const FIRST = 'Hello, this is the bakery.';
/** The microphone says it over and over. */
const SAID = { before: 8, text: 'What is the price of bread?', after: 12 };
const LONG = Array.from({ length: 60 }, () => 'We bake bread and cakes every morning').join(', ');
const PATIENCE_MS = 90_000;

t.test('a conversation', { skip: skipReason('chromium') }, async (t) => {
  const { startBrowser } = await import('./browser.mjs');
  const { serveRealtimePage } = await import('./realtime-page.mjs');
  const talks = await Talks.start(t, EMBEDDED);
  const { gateway, model } = talks;
  model.answer((messages) => {
    const result = toolSaid(messages);
    if (result !== undefined) return `It costs ${result}.`;
    const words = said(messages).toLowerCase();
    if (words.includes('bake')) return LONG;
    return words.includes('price') ? { calls: { price: { of: 'bread' } } } : 'Good morning.';
  });
  const site = await serveRealtimePage();
  t.teardown(() => site.stop());
  const browser = await startBrowser(gateway, SAID);
  t.teardown(() => browser.stop());
  const agentId = await talks.agent({ prompt: { first_message_mode: 'fixed', first_message: FIRST } });
  const issued = await fetch(`${gateway.base}/v1/realtime/client_secrets`, {
    method: 'POST',
    headers: { ...gateway.authorization, 'content-type': 'application/json' },
    body: JSON.stringify({ session: { type: 'realtime', model: agentId } }),
  });
  const { value } = await issued.json();
  const { page, complaints } = await browser.open(site.origin);
  const eventsOf = (type) => page.evaluate((wanted) => told.filter((event) => event.type === wanted), type);
  const heard = async () =>
    (await eventsOf('response.output_audio_transcript.done')).map(({ transcript }) => transcript.trim());
  const untilHeard = (text) =>
    until(`it says ${text}`, async () => (await heard()).includes(text), PATIENCE_MS);

  await page.evaluate(({ key, url }) => talk(key, url), {
    key: value,
    url: `${gateway.base}/v1/realtime/calls`,
  });
  const id = await page.evaluate(() => globalThis.transport.callId);
  await until(
    'it is heard',
    () => page.evaluate(async () => (await globalThis.loudness()) > 0.02),
    PATIENCE_MS,
  );
  await untilHeard(FIRST);
  await untilHeard('It costs two euros.');
  t.strictSame((await page.evaluate(() => calls))[0], { of: 'bread' });
  await page.evaluate(() => {
    session.mute(true);
    session.sendMessage('What do you bake?');
  });
  const spoken = (await eventsOf('output_audio_buffer.started')).length;
  await until(
    'it tells',
    async () => (await eventsOf('output_audio_buffer.started')).length > spoken,
    PATIENCE_MS,
  );
  await page.evaluate(() => session.interrupt());
  await until(
    'it stops',
    async () => (await eventsOf('output_audio_buffer.cleared')).length > 0,
    PATIENCE_MS,
  );
  t.strictSame([await page.evaluate(() => globalThis.errors), complaints], [[], []]);
  await page.evaluate(() => session.close());
  const record = await talks.ended({ session_id: id });
  exactly(t, record, { status: 'completed', ended_reason: 'hangup', agent_id: agentId });
  const messages = messagesOf(record);
  t.equal(messages[0], `assistant: ${FIRST}`);
  // The voice is heard by a small recogniser, which takes bread for red.
  t.ok(
    messages.some((text) => /^user: .*price/i.test(text)),
    messages.join(' | '),
  );
  t.ok(messages.includes('assistant: It costs two euros.'));
  t.notOk(
    messages.some((text) => text.includes(LONG)),
    'only what was heard of the long answer',
  );
});
