/** Keeps the bytes of speech until the load is over, and judges them then. */
import { createHash } from 'node:crypto';
import { type Expected, judgeSpeech, Shapes, type SpeechVerdict } from '../audio/answer.js';
import type { Timeline } from '../audio/player.js';
import type { Verdict } from './client.js';

/** Bodies are looked at by their digests; those that were seen before are let go at once. */
export class SpeechJudge {
  readonly #shapes = new Shapes();
  readonly #kept = new Map<string, Buffer>();

  constructor(private readonly expected: Expected) {}

  /** Call when the answer has come; the verdict may wait. */
  later(timeline: Timeline, body: Buffer, end: number, sent: number): () => Verdict {
    const digest = createHash('sha1').update(body).digest('base64');
    if (!this.#kept.has(digest)) this.#kept.set(digest, body);
    return () => {
      const shape = this.#shapes.of(digest, this.#kept.get(digest) ?? body, this.expected);
      if ('failure' in shape) return shape;
      return readingsOf(judgeSpeech(timeline, shape, end, this.expected), sent);
    };
  }
}

/** In the field's names: first byte, first audio, end to end; the real-time factor is time over audio. */
function readingsOf(verdict: SpeechVerdict, sent: number): Verdict {
  if ('failure' in verdict) return verdict;
  const { firstByte, firstAudio, end, duration, underrun } = verdict;
  return {
    instants: { ttfb: firstByte, ttfa: firstAudio, e2e: end },
    values: { duration, underrun, rtf: (end - sent) / 1000 / duration },
  };
}
