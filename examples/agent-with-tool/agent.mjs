/**
 * An agent that looks up orders with your own tool. The example asks it one question in writing.
 *
 * Start the gateway with a language model and allow it to reach the tool on this machine:
 *   LLM_BASE_URL=http://localhost:11434/v1 LLM_MODEL=qwen3:8b OUTBOUND_ALLOW=127.0.0.1 npm start
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { putAgent, putTool } from '../agents.mjs';
import { converse } from '../conversation.mjs';

const { TOOL_PORT = '0' } = process.env;
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

const toolId = await putTool({
  name: 'Look up an order',
  description: 'Tells when an order is ready.',
  arguments: [{ name: 'order_id', description: 'The number of the order' }],
  method: 'GET',
  url: `http://127.0.0.1:${tool.address().port}/orders/{{order_id}}`,
});
const agentId = await putAgent('Bakery with orders', {
  prompt: {
    system_prompt: 'You answer for a bakery. Look up orders with your tool. Answer in one short sentence.',
    first_message_mode: 'off',
  },
  tools: { tool_ids: [toolId] },
});
await converse(agentId, [question]);
tool.close();
