/**
 * A receptionist: it finds out what a caller wants, and hands the call over to one of two other agents, which works in every
 * call. On the telephone it also connects callers to a colleague, if DESK is the colleague's number.
 *
 *   node receptionist.mjs                                   a page on which you talk to it
 *   node receptionist.mjs "I want to change my order."      the same in writing
 *   DESK=+493012345679 PROVIDER=twilio PHONE_NUMBER=+493012345678 \
 *     CREDENTIALS='{"auth_token": "…", "account_sid": "AC…"}' node receptionist.mjs
 *
 * The last one registers your number, and prints the address to enter at the provider (docs/phone.md; the gateway needs
 * PUBLIC_URL). Handing calls over takes a language model: LLM_BASE_URL and LLM_MODEL, when the gateway starts.
 */
import { putAgent } from '../agents.mjs';
import { converse } from '../conversation.mjs';
import { api, stop } from '../gateway.mjs';
import { serveCallPage } from '../web-call/page.mjs';

const { DESK, PHONE_NUMBER, PROVIDER = 'twilio', CREDENTIALS, PORT = '3000' } = process.env;
const lines = process.argv.slice(2);

const SHORT = 'Speak in one or two short sentences.';

const orders = await putAgent('Orders', {
  prompt: {
    system_prompt: `You take orders and change them, for a bakery. Ask for the order’s number. ${SHORT}`,
  },
});
const complaints = await putAgent('Complaints', {
  prompt: {
    system_prompt: `You take complaints for a bakery. Say that you are sorry, and ask what happened. ${SHORT}`,
  },
});

const desk = DESK && {
  transfer_destinations: [
    { label: 'The manager', phone_number: DESK, mode: 'warm', warm_connect: 'confirm' },
  ],
};
const reception = await putAgent('Reception', {
  prompt: {
    system_prompt:
      'You are the receptionist of a bakery. Find out what the caller wants, and hand the call over at once. ' +
      `${DESK ? 'Whoever asks for the manager is transferred there. ' : ''}${SHORT}`,
    first_message_mode: lines.length > 0 ? 'off' : 'fixed',
    first_message: 'The bakery, hello. What is it about?',
  },
  conversation: desk || { transfer_destinations: [] },
  tools: {
    transfer_agents: [
      { agent_id: orders, description: 'Orders: new ones, changes, when they are ready' },
      { agent_id: complaints, description: 'Complaints' },
    ],
  },
});

/** Registers the number, or gives it to this agent. Prints the address of its webhook. */
async function answerNumber() {
  if (!CREDENTIALS)
    stop(`Set CREDENTIALS to the credentials of ${PROVIDER}, as JSON (docs/phone/${PROVIDER}.md)`);
  const settings = { agent_id: reception, enabled: true, credentials: JSON.parse(CREDENTIALS) };
  const { phone_numbers: numbers } = await api('GET', '/v1/agent/phone-numbers?page_size=100');
  const found = numbers.find((one) => one.phone_number === PHONE_NUMBER && one.provider === PROVIDER);
  const number = found
    ? await api('PATCH', `/v1/agent/phone-numbers/${found.phone_number_id}`, settings)
    : await api('POST', '/v1/agent/phone-numbers', {
        ...{ provider: PROVIDER, phone_number: PHONE_NUMBER },
        ...settings,
      });
  console.log(`Enter this address at ${PROVIDER}, and call ${PHONE_NUMBER}: ${number.answer_url}`);
}

if (PHONE_NUMBER) await answerNumber();
else if (lines.length > 0) await converse(reception, lines);
else console.log(`Talk to it: ${await serveCallPage(reception, Number(PORT))}`);
