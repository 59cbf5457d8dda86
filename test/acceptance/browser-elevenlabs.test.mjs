/**
 * The unmodified @elevenlabs/client in headless Chromium: a page of an allowed origin talks to a public agent by its WebSocket, through
 * microphone and worklets; a tool of the page, an interruption, a hang-up, and what it was told against the record.
 */
import { readFile } from 'node:fs/promises';
import { said, toolSaid } from '../../dist/test/fixtures/chat/model.js';
import { messagesOf, Talks } from '../../dist/test/fixtures/conversation/conversation.js';
import { exactly } from '../../dist/test/fixtures/exactly.js';
import { skipReason } from '../../dist/test/fixtures/external.js';
import { EMBEDDED } from '../../dist/test/fixtures/gateway.js';
import { until } from '../../dist/test/fixtures/until.js';
import t from '../../dist/test/fixtures/tap.js';
import { HTML, SCRIPT, servePages } from './page-server.mjs';

const SDK = new URL('lib.iife.js', import.meta.resolve('@elevenlabs/client'));
const LONG = Array.from({ length: 60 }, () => 'We bake bread and cakes every morning').join(', ');
/** Over and over: the second time it asks for the long answer, the third time it interrupts that. */
const SAID = { before: 5, text: 'Please show me the map.', after: 5 };
/** For waits on sound, which take seconds. */
const PATIENCE_MS = 90_000;

/** `talk` begins a conversation, whose events are kept in `told`. */
const PAGE = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>A shop</title>
<script src="/sdk.js"></script>
<script>
window.told = [];
const tell = (name) => (event) => void told.push({ name, event });
window.talk = async (options) => {
  window.conversation = await ElevenLabsClient.Conversation.startSession({
    ...options,
    clientTools: { show_map: () => 'shown' },
    onMessage: tell('message'), onInterruption: tell('interruption'), onModeChange: tell('mode'),
    onAgentResponseCorrection: tell('correction'), onDisconnect: tell('disconnect'), onError: tell('error'), onPing: tell('ping'),
  });
  return conversation.getId();
};
document.title = 'ready';
</script>`;

async function servePage(t) {
  const files = { '/': { type: HTML, body: PAGE }, '/sdk.js': { type: SCRIPT, body: await readFile(SDK) } };
  const site = await servePages(async (path) => files[path]);
  t.teardown(() => site.stop());
  return site.origin;
}

/** A public agent of the page, with a tool that the page runs. */
async function agentFor(talks, origin) {
  const { body: tool } = await talks.call('tools', {
    body: { name: 'show_map', description: 'Shows the map.', tool_type: 'client', expects_response: true },
  });
  const agentId = await talks.agent({
    prompt: { first_message_mode: 'fixed', first_message: 'Hello.' },
    tools: { tool_ids: [tool.tool_id] },
  });
  const change = { public_enabled: true, allowed_origins: [origin] };
  await talks.call(`agents/${agentId}`, { method: 'PATCH', body: change });
  return agentId;
}

t.test('a page talks to its public agent', { skip: skipReason('chromium') }, async (t) => {
  const { startBrowser } = await import('./browser.mjs');
  const talks = await Talks.start(t, { ...EMBEDDED, LOG_LEVEL: 'info' });
  let turns = 0;
  talks.model.answer((messages) => {
    if (toolSaid(messages) !== undefined) return 'The map is on your screen.';
    if (!said(messages).toLowerCase().includes('map')) return 'Yes?';
    turns += 1;
    if (turns === 1) return { calls: { show_map: {} } };
    return turns === 2 ? LONG : 'I have stopped.';
  });
  const origin = await servePage(t);
  const agentId = await agentFor(talks, origin);
  const browser = await startBrowser(talks.gateway, SAID);
  t.teardown(() => browser.stop());
  const { page, complaints } = await browser.open(origin);
  const all = (name) =>
    page.evaluate((wanted) => told.filter((one) => one.name === wanted).map(({ event }) => event), name);
  const answers = async () =>
    (await all('message')).filter(({ role }) => role === 'agent').map(({ message }) => message);
  const hears = (text) => until(`it says ${text}`, async () => (await answers()).includes(text), PATIENCE_MS);

  const base = `${talks.gateway.base.replace('http', 'ws')}/compat/elevenlabs`;
  const refused = await page.evaluate((options) => talk(options).catch(({ message }) => message), {
    agentId,
    origin: base.replace('ws', 'http'),
  });
  t.match(refused, /websocket/, 'its default, WebRTC, is refused with the way that there is');
  const id = await page.evaluate((options) => talk(options), {
    ...{ agentId, origin: base, connectionType: 'websocket' },
  });
  await hears('Hello.');
  await hears('The map is on your screen.');
  await hears(LONG);
  await until('it is interrupted', async () => (await all('interruption')).length > 0, PATIENCE_MS);
  await hears('I have stopped.');
  const corrected = (await all('correction')).find(({ original_agent_response: text }) => text === LONG);
  const cut = corrected?.corrected_agent_response ?? '';
  t.ok(cut.length > 0 && LONG.startsWith(cut) && cut.length < LONG.length, cut);
  const modes = (await all('mode')).map(({ mode }) => mode);
  t.ok(modes.includes('speaking') && modes.includes('listening'), 'its player has played');
  t.ok((await all('ping')).length > 0);
  await page.evaluate(() => globalThis.conversation.endSession());
  exactly(t, await all('disconnect'), [{ reason: 'user' }]);
  const record = await talks.ended({ session_id: id });
  exactly(t, record, { ended_reason: 'hangup', source: 'public' });
  const spoken = messagesOf(record);
  t.ok(spoken.includes(`assistant: ${cut}`), JSON.stringify(spoken));
  const heard = (await all('message')).filter(({ role }) => role === 'user').map(({ message }) => message);
  t.strictSame(
    spoken.filter((line) => line.startsWith('user: ')).slice(0, heard.length),
    heard.map((text) => `user: ${text}`),
  );
  t.strictSame(await all('error'), []);
  t.strictSame(complaints, []);
});
