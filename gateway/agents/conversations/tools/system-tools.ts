/** Built-in tools. An owner's tool of the same name takes precedence. */
import { LIMITS } from '../../../../contracts/limits.js';
import { isPlainObject } from '../../../../contracts/schemas/plain-object.js';
import { parseArguments } from './arguments.js';
import type { Reachable } from './reachable.js';
import { type ConversationTool, failure } from './tool.js';

export const HANG_UP = 'hang_up_call';

/** Ends the call after the words that are being said. */
export const hangUpTool = (hangUp: () => void): ConversationTool => ({
  name: HANG_UP,
  description:
    'Ends the call. Say goodbye first. Use it when the caller wants to end the call or all is done.',
  parameters: { type: 'object', properties: {}, additionalProperties: false },
  source: 'builtin',
  act: 'hangUp',
  endsAnswer: true,
  run: () => {
    hangUp();
    return Promise.resolve({ ok: true, output: 'The call ends, unless the user says something more' });
  },
});

const { sentKeys: MOST_KEYS } = LIMITS.phone;
const KEYS = new RegExp(`^[0-9*#w]{1,${MOST_KEYS}}$`);

export const SEND_DIGITS = 'send_digits';

/** Keys for a telephone menu. `press` resolves when they were sent. */
export const sendDigitsTool = (press: (keys: string) => Promise<void>): ConversationTool => ({
  name: SEND_DIGITS,
  description:
    'Presses keys of the telephone for whom you are speaking with: to choose from a menu, or to enter a number that a machine asks for.',
  parameters: {
    type: 'object',
    properties: {
      digits: {
        type: 'string',
        description: `0-9, * and #; w waits for half a second. At most ${MOST_KEYS}.`,
      },
    },
    required: ['digits'],
    additionalProperties: false,
  },
  source: 'builtin',
  act: 'effect',
  async run(args) {
    const wanted = parseArguments(args);
    const digits = isPlainObject(wanted) ? wanted['digits'] : undefined;
    if (typeof digits !== 'string' || !KEYS.test(digits))
      return failure(`digits must be 1 to ${MOST_KEYS} of 0-9, *, # and w`);
    await press(digits);
    return { ok: true, output: 'The keys were pressed' };
  },
});

const lineOf = ({ agentId, name, description }: Reachable): string =>
  `${agentId}: ${name}${description === '' ? '' : `. ${description}`}`;

const noteOf = (args: unknown): { readonly id: string; readonly note: string } | undefined => {
  if (!isPlainObject(args) || typeof args['agent_id'] !== 'string') return undefined;
  const { agent_id: id, note } = args;
  return { id, note: typeof note === 'string' ? note.slice(0, LIMITS.session.transferNote) : '' };
};

export const TRANSFER = 'transfer_to_agent';

/** Hands the call over to another agent. `handOver` resolves to the reason of a refusal, as text for the model. */
export const transferTool = (
  reachable: readonly Reachable[],
  handOver: (target: Reachable, signal: AbortSignal) => Promise<string | undefined>,
): ConversationTool => ({
  name: TRANSFER,
  description:
    'Hands this call over to another agent, who speaks with the user from then on. Tell the user so first, in a few words. ' +
    `The agents:\n${reachable.map(lineOf).join('\n')}`,
  parameters: {
    type: 'object',
    properties: {
      agent_id: { type: 'string', enum: reachable.map(({ agentId }) => agentId) },
      note: {
        type: 'string',
        description: 'What the next agent should know: what the user wants, and what is done.',
      },
    },
    required: ['agent_id', 'note'],
    additionalProperties: false,
  },
  source: 'builtin',
  act: 'handOver',
  async run(args, { signal }) {
    const wanted = noteOf(parseArguments(args));
    const target = reachable.find(({ agentId }) => agentId === wanted?.id);
    if (!wanted || !target) return failure('There is no such agent to transfer to');
    const refusal = await handOver(target, signal);
    if (refusal !== undefined) return failure(refusal);
    const { agentId, name, versionNumber } = target;
    const output = { agent_id: agentId, agent_name: name, version_number: versionNumber, note: wanted.note };
    return { ok: true, output: JSON.stringify(output), handsOver: true };
  },
});
