/** Asks an agent's owner before a call: one signed request, guarded like those of tools, of which nothing is repeated. */
import { LIMITS } from '../../../contracts/limits.js';
import {
  OutboundError,
  type OutboundFailure,
  type OutboundReply,
} from '../../../contracts/ports/outbound.js';
import type {
  AskBeforeCall,
  InitQuestion,
  InitReply,
} from '../../../contracts/ports/sessions/conversation-init.js';
import { initSlot } from '../../../contracts/schemas/agent-merge.js';
import { type DeliverParts, signatureOf } from './deliver.js';

const { answerBytes } = LIMITS.conversationInit;

export type InitParts = Pick<DeliverParts, 'outbound' | 'secrets' | 'vocabulary' | 'clock'>;

const FAILURES: Readonly<Record<OutboundFailure | 'internal', string>> = {
  refused: 'its address may not be asked',
  unresolved: 'its address has no such name',
  unreachable: 'it could not be reached',
  timeout: 'it did not answer in time',
  too_many_redirects: 'it sends elsewhere',
  internal: 'it could not be asked',
};

const isTaken = (status: number): boolean => status >= 200 && status < 300;

function replyOf({ status, body, truncated }: OutboundReply): InitReply {
  if (!isTaken(status)) return { error: `it answered ${status}` };
  if (truncated) return { error: `it answered more than ${answerBytes / 1024} KiB` };
  return { text: Buffer.from(body).toString() };
}

async function ask(question: InitQuestion, parts: InitParts): Promise<OutboundReply> {
  const { agentId, url, signed, timeoutMs, body } = question;
  const { outbound, secrets, clock } = parts;
  const since = clock.monotonic();
  const secret = signed ? await secrets.secretOf(agentId, initSlot(url)) : undefined;
  return outbound.fetch({
    method: 'POST',
    url,
    headers: [['Content-Type', 'application/json'], ...signatureOf(secret, body, parts)],
    body,
    // Somebody waits: looking the secret up is a part of that time.
    timeoutMs: Math.max(1, timeoutMs - (clock.monotonic() - since)),
    captureBytes: answerBytes,
    redirects: 0,
  });
}

export const askBeforeCall =
  (parts: InitParts): AskBeforeCall =>
  async (question) => {
    try {
      return replyOf(await ask(question, parts));
    } catch (error) {
      return { error: FAILURES[error instanceof OutboundError ? error.failure : 'internal'] };
    }
  };
