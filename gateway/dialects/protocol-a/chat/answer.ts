/**
 * The identity of an answer: the ids and names that are sent in each of its chunks, or once in a whole answer
 * (docs/contract/protocol-a.md 4.2).
 */
import type { Clock } from '../../../../contracts/clock.js';

export interface ChatAnswer {
  readonly id: string;
  readonly audioId: string;
  /** Seconds since the epoch. */
  readonly created: number;
  /** End of the time in which a client may refer to the audio, in seconds since the epoch. No audio is kept, and references to it are ignored. */
  readonly expiresAt: number;
  readonly model: string;
}

const EXPIRES_SECONDS = 3600;

export function answerOf(generationId: string, model: string, clock: Clock): ChatAnswer {
  const created = Math.floor(clock.now() / 1000);
  return {
    id: `chatcmpl-${generationId}`,
    audioId: `audio_${generationId}`,
    created,
    expiresAt: created + EXPIRES_SECONDS,
    model,
  };
}
