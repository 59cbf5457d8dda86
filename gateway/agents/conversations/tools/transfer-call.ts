/** The tool by which an agent connects its caller to somebody on the telephone. */
import { plainText } from '../../../../contracts/text/text.js';
import { isPlainObject } from '../../../../contracts/schemas/plain-object.js';
import type { SessionPlan } from '../../../../contracts/ports/sessions/sessions.js';
import type { Briefing } from '../../../../contracts/phone/transfers.js';
import { parseArguments } from './arguments.js';
import { type ConversationTool, failure, type PhoneTransfer, type ToolResult, type ToolUse } from './tool.js';

type Destination = SessionPlan['config']['conversation']['transfer_destinations'][number];

/** The conversation's part in connecting its caller to somebody else. */
export interface Consulting {
  /** Resolves when the answer so far has been heard, or nobody hears it any more. */
  heard(): Promise<void>;
  /** Writes the colleague's briefing about the caller. `asks`: whether they are asked to take the call. Never rejects. */
  briefing(asks: boolean, signal: AbortSignal): Promise<Briefing>;
  /** Puts the caller on hold: nothing said meanwhile is for the agent. The result ends the hold. */
  hold(): () => void;
}

/** The label if it has one that is unique, otherwise the number. */
const nameOf = ({ label, phone_number }: Destination, _: number, all: readonly Destination[]): string =>
  label !== '' && all.filter((other) => other.label === label).length === 1 ? label : phone_number;

export const TRANSFER_CALL = 'transfer_call';
/** The caller broke in or said something meanwhile, or the answer failed. */
const NOT_HEARD =
  'The caller spoke, or your answer ended, before they had heard that they are connected, and they are not';
const DONE = { cold: 'The caller is being connected', warm: 'The caller is connected' } as const;

async function connect(
  { label, phone_number: to, mode, warm_connect: connects }: Destination,
  { callId, signal, begin }: ToolUse,
  transfer: PhoneTransfer,
  consulting: Consulting,
): Promise<ToolResult> {
  const asks = connects === 'confirm';
  // The briefing is written while the caller is told of the transfer.
  const writing = mode === 'warm' ? consulting.briefing(asks, signal) : Promise.resolve(null);
  await consulting.heard();
  if (!(await begin())) return failure(NOT_HEARD);
  const goOn = consulting.hold();
  try {
    const request = { toolCallId: callId, label, to, mode, briefing: await writing, signal };
    const refusal = await transfer.begin(request);
    return refusal === undefined ? { ok: true, output: DONE[mode], handsOver: true } : failure(refusal);
  } finally {
    goOn();
  }
}

/** Hands the caller over to somebody on the telephone, once the agent's words before that have been heard. */
export function transferCallTool(
  destinations: readonly Destination[],
  transfer: PhoneTransfer,
  consulting: Consulting,
): ConversationTool {
  const names = destinations.map(nameOf);
  return {
    name: TRANSFER_CALL,
    description:
      'Connects the caller to somebody on the telephone, which ends your part of the call. Tell the caller so first, in a few words.',
    parameters: {
      type: 'object',
      properties: { destination: { type: 'string', enum: [...new Set(names)] } },
      required: ['destination'],
      additionalProperties: false,
    },
    source: 'builtin',
    act: 'transfer',
    beginsLater: true,
    async run(args, use) {
      const wanted = parseArguments(args);
      const at = isPlainObject(wanted) ? names.indexOf(plainText(wanted['destination'])) : -1;
      const destination = destinations[at];
      if (!destination) return failure('There is no such destination');
      return connect(destination, use, transfer, consulting);
    },
  };
}
