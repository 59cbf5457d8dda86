/**
 * A support line: it answers from a text (hours-and-prices.md), and books boats with a tool, which is a small service in this
 * program. Without arguments it serves a page on which you talk to it; with arguments they are said to it in writing:
 *
 *   node support-line.mjs "May I bring my dog?" "Please book an electric boat for Sunday at ten, for Ada."
 *
 * The gateway must be allowed to reach the service, and a language model makes it a conversation:
 *   OUTBOUND_ALLOW=127.0.0.1 LLM_BASE_URL=http://localhost:11434/v1 LLM_MODEL=qwen3:8b npm start
 */
import { putAgent, putSource, putTool } from '../agents.mjs';
import { converse } from '../conversation.mjs';
import { serveCallPage } from '../web-call/page.mjs';
import { startBookings } from './bookings.mjs';

const { PORT = '3000', BOOKINGS_PORT = '0' } = process.env;
const lines = process.argv.slice(2);

const bookings = await startBookings(Number(BOOKINGS_PORT));

const toolId = await putTool({
  name: 'Book a boat',
  description: 'Books a boat. Ask for whatever is missing before you call it, and read the answer back.',
  arguments: [
    { name: 'boat', description: 'rowing boat, pedal boat or electric boat' },
    { name: 'day', description: 'The day, as the caller says it' },
    { name: 'time', description: 'The hour at which it begins' },
    { name: 'name', description: 'The caller’s name' },
  ],
  method: 'POST',
  url: `${bookings.address}/bookings`,
  content_type: 'application/json',
  body_template: '{"boat": "{{boat}}", "day": "{{day}}", "time": "{{time}}", "name": "{{name}}"}',
});
const sourceId = await putSource(
  'Hours and prices of the boat hire',
  new URL('hours-and-prices.md', import.meta.url),
);
const agentId = await putAgent('Boat hire support', {
  prompt: {
    system_prompt:
      'You answer the telephone of Lake View Boat Hire. Answer from what you know of it, in one or two short sentences. ' +
      'If you do not know something, say so.',
    first_message_mode: lines.length > 0 ? 'off' : 'fixed',
    first_message: 'Lake View Boat Hire, hello. How can I help you?',
  },
  knowledge_base: { enabled: true, knowledge_source_ids: [sourceId] },
  tools: { tool_ids: [toolId], system_tools: { hang_up_call: true } },
});

if (lines.length > 0) {
  await converse(agentId, lines);
  bookings.stop();
} else console.log(`Talk to it: ${await serveCallPage(agentId, Number(PORT))}`);
