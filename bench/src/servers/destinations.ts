/** Where callers whose sound is frames on a socket get to an agent of a server (../calls/doors.ts). */
import type { Destination, DoorName } from '../calls/doors.js';
import { callPlatform, makeAgent } from './agents.js';
import { authorizationOf, type Server } from './server.js';

const SECRET = 'bench-secret-of-the-provider';
const NUMBER = '+493012345678';

/** The agent says the greeting first, and lets itself be interrupted. */
export const makeGreeter = (server: Server, greeting: string): Promise<string> =>
  makeAgent(server, 'Bench', {
    prompt: { first_message_mode: 'fixed', first_message: greeting },
    conversation: { eagerness: 'balanced', interruption_sensitivity: 'balanced' },
  });

/** A number that the agent answers. */
async function numberOf(server: Server, agent: string): Promise<Destination> {
  const { answer_url: answerUrl } = await callPlatform<{ answer_url: string }>(server, 'phone-numbers', {
    provider: 'twilio',
    phone_number: NUMBER,
    agent_id: agent,
    credentials: { auth_token: SECRET },
  });
  return { door: 'phone', who: { answerUrl, number: NUMBER, secret: SECRET } };
}

const socketAt = (server: Server, path: string) => ({
  url: `${server.origin.replace(/^http/, 'ws')}${path}`,
  headers: authorizationOf(server),
});

const MAKE: Readonly<Record<DoorName, (server: Server, agent: string) => Promise<Destination>>> = {
  phone: numberOf,
  realtime: async (server, agent) => ({
    door: 'realtime',
    who: socketAt(server, `/v1/realtime?model=${agent}`),
  }),
  elevenlabs: async (server, agent) => ({
    door: 'elevenlabs',
    who: socketAt(server, `/compat/elevenlabs/v1/convai/conversation?agent_id=${agent}`),
  }),
};

/** The agent behind that door. */
export const destinationOf = (server: Server, agent: string, door: DoorName): Promise<Destination> =>
  MAKE[door](server, agent);
