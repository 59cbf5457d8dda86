/**
 * A chat answer as one `chat.completion`. Speech is held until it is complete, so that a failure is an error with its
 * status. Speech longer than the limit is sent as it is synthesised once the limit is passed; a failure then breaks the
 * connection.
 */
import { LIMITS } from '../../../../contracts/limits.js';
import {
  mustCharge,
  type MemoryShare,
  UNBOUNDED_SHARE,
} from '../../../../contracts/ports/accounts/memory.js';
import type { Transcript } from '../../../../contracts/ports/speech/speech.js';
import type { ChatAnswer } from './answer.js';
import type { AnswerEvent } from './events.js';
import type { ChatUsage } from './schema.js';
import { usageOfTranscription } from './usage.js';

const CHOICE = { index: 0, logprobs: null, finish_reason: 'stop' } as const;
const MESSAGE = { role: 'assistant', refusal: null } as const;

const headOf = ({ id, created, model }: ChatAnswer) => ({
  id,
  object: 'chat.completion',
  created,
  model,
  system_fingerprint: null,
});

export function transcriptCompletion({ text, duration }: Transcript, answer: ChatAnswer): string {
  const message = { ...MESSAGE, content: text };
  const usage = usageOfTranscription(text, duration);
  return JSON.stringify({ ...headOf(answer), usage, choices: [{ ...CHOICE, message }] });
}

/** Closes the audio, the message, the choice and the list of choices. */
const CLOSING = '}}}]';

/** The completion's text up to its audio. */
function beforeAudio(answer: ChatAnswer): string {
  const audio = { id: answer.audioId, expires_at: answer.expiresAt, data: '' };
  const message = { ...MESSAGE, content: null, audio };
  const whole = JSON.stringify({ ...headOf(answer), choices: [{ ...CHOICE, message }] });
  return whole.slice(0, -`"${CLOSING}}`.length);
}

const afterAudio = (transcript: string, usage: ChatUsage): string =>
  `","transcript":${JSON.stringify(transcript)}${CLOSING},"usage":${JSON.stringify(usage)}}`;

/** The completion's JSON text, piece by piece. Errors: `memory_exhausted`, while it is held. */
export async function* speechCompletion(
  events: AsyncIterable<AnswerEvent>,
  answer: ChatAnswer,
  share: MemoryShare = UNBOUNDED_SHARE,
  heldLimit: number = LIMITS.chat.heldBytes,
): AsyncGenerator<string> {
  const waiting = [beforeAudio(answer)];
  let length = 0;
  let transcript = '';
  for await (const event of events) {
    if (event.kind === 'transcript') transcript += event.text;
    if (event.kind === 'usage') waiting.push(afterAudio(transcript, event.usage));
    if (event.kind !== 'audio') continue;
    waiting.push(event.base64);
    length += event.base64.length;
    if (length <= heldLimit) mustCharge(share, event.base64.length);
    else {
      share.close();
      yield* waiting.splice(0);
    }
  }
  yield* waiting;
}
