/** Whom a page of the examples talks to: the agent that AGENT names, or a bakery’s, which is made. */
import { putAgent } from './agents.mjs';

const makeBakery = () =>
  putAgent('Bakery', {
    prompt: {
      system_prompt:
        'You answer for a bakery. We open at seven and close at six, from Tuesday to Saturday. Bread is baked at five.',
      first_message_mode: 'fixed',
      first_message: 'Hello, this is the bakery.',
    },
  });

/** Resolves with the agent's id. */
export const agentOrBakery = async () => process.env.AGENT || makeBakery();
