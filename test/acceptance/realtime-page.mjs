/** A page, on an origin of its own, that holds the unmodified @openai/agents-realtime. */
import { readFile } from 'node:fs/promises';
import { HTML, SCRIPT, servePages } from './page-server.mjs';

const BUNDLE = new URL('./node_modules/@openai/agents-realtime/dist/bundle/', import.meta.url);

/** `talk` connects a session by the SDK's own WebRTC; its events are kept in `told`. */
const PAGE = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><title>A shop</title>
<script type="module">
import { OpenAIRealtimeWebRTC, RealtimeAgent, RealtimeSession, tool } from '/openai-realtime-agents.mjs';
window.told = [];
window.calls = [];
window.errors = [];
const price = tool({
  name: 'price',
  description: 'The price of a thing',
  parameters: { type: 'object', properties: { of: { type: 'string' } }, required: ['of'], additionalProperties: false },
  execute: async (input) => {
    calls.push(input);
    return 'two euros';
  },
});
window.talk = async (apiKey, url) => {
  const audio = (window.audio = document.createElement('audio'));
  const transport = (window.transport = new OpenAIRealtimeWebRTC({ audioElement: audio }));
  const session = (window.session = new RealtimeSession(new RealtimeAgent({ name: 'shop', tools: [price] }), { transport }));
  transport.on('*', (event) => told.push(event));
  session.on('error', (error) => errors.push(JSON.stringify(error)));
  await session.connect({ apiKey, url });
};
/** How loud the agent is just now, from 0 to 1. */
window.loudness = async () => {
  const reports = await transport.connectionState.peerConnection.getStats();
  return Math.max(0, ...[...reports.values()].filter(({ type }) => type === 'inbound-rtp').map(({ audioLevel = 0 }) => audioLevel));
};
document.title = 'ready';
</script>`;

async function answer(path) {
  if (path === '/') return { type: HTML, body: PAGE };
  const [, file] = /^\/([\w-]+\.mjs)$/.exec(path) ?? [];
  return file && { type: SCRIPT, body: await readFile(new URL(file, BUNDLE)) };
}

export const serveRealtimePage = () => servePages(answer);
