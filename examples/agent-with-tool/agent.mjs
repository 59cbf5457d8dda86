/**
 * An agent that looks up orders with your own tool. The example asks it one question in writing.
 *
 * Start the gateway with a language model and allow it to reach the tool on this machine:
 *   LLM_BASE_URL=http://localhost:11434/v1 LLM_MODEL=qwen3:8b OUTBOUND_ALLOW=127.0.0.1:8090 npm start
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { dispose, Room } from '@livekit/rtc-node';
import { AgentSession } from '../../client/dist/index.js';

const { GATEWAY = 'http://localhost:8080', KEY, TOOL_PORT = '8090' } = process.env;
if (!KEY) throw new Error('Set KEY to an API key, for example KEY=$(cat ../../data/api-key)');
const question = process.argv[2] ?? 'When is order 17 ready?';

/** The tool: your own service. */
const ORDERS = { 17: 'ready on Tuesday at nine', 18: 'still in the oven' };
const tool = createServer((request, response) => {
  const order = ORDERS[request.url.split('/').pop()];
  response.setHeader('content-type', 'application/json');
  response.writeHead(order ? 200 : 404).end(JSON.stringify({ order: order ?? 'unknown' }));
});
tool.listen(Number(TOOL_PORT), '127.0.0.1');
await once(tool, 'listening');

async function api(method, path, body) {
  const response = await fetch(`${GATEWAY}/v1/agent/${path}`, {
    method,
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

const { tool_id } = await api('POST', 'tools', {
  name: 'Look up an order',
  description: 'Tells when an order is ready.',
  arguments: [{ name: 'order_id', description: 'The number of the order' }],
  method: 'GET',
  url: `http://127.0.0.1:${tool.address().port}/orders/{{order_id}}`,
});
const { agent_id } = await api('POST', 'agents', {
  name: 'Bakery',
  config: {
    prompt: {
      system_prompt: 'You answer for a bakery. Look up orders with your tool. Answer in one short sentence.',
      first_message_mode: 'off',
    },
    tools: { tool_ids: [tool_id] },
  },
});
await api('POST', `agents/${agent_id}/publish`, {});

const session = new AgentSession({
  room: new Room(),
  session: await api('POST', 'sessions', { agent_id }),
});
session.on('toolCallStarted', ({ toolName, input }) => console.log(`tool: ${toolName} ${input}`));
session.on('error', (error) => console.error(`error: ${error.message}`));
const answered = new Promise((resolve) => session.on('agentResponse', resolve));
await session.start();
await session.sendText(question, { audio: false });
const { text } = await answered;
console.log(`agent: ${text}`);

await session.end();
await dispose();
tool.close();
