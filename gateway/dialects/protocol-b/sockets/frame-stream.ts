/**
 * The frames of a context as one pull stream, which releases held audio when no more arrives for a while.
 * Invariant: the audio is abandoned when the reader leaves, and read no further than the frames are.
 */
import type { Clock } from '../../../../contracts/clock.js';
import type { TimedAudio } from '../../../../contracts/ports/speech/speech.js';
import { waitUpTo } from '../../../../contracts/time/timeouts.js';
import type { AudioFrames } from './audio-frames.js';

type Step = IteratorResult<TimedAudio, unknown>;

async function nextStep(step: Promise<Step>, frames: AudioFrames, clock: Clock): Promise<Step | undefined> {
  const { patienceMs } = frames;
  return patienceMs === undefined ? step : waitUpTo(clock, patienceMs, step);
}

export async function* frameStream(
  audio: AsyncIterable<TimedAudio>,
  frames: AudioFrames,
  clock: Clock,
): AsyncGenerator<string> {
  const chunks = audio[Symbol.asyncIterator]();
  try {
    let coming = chunks.next();
    for (;;) {
      const step = await nextStep(coming, frames, clock);
      if (!step) {
        // If the reader leaves now, nobody awaits this promise: its rejection must not be unhandled.
        coming.catch(() => undefined);
        yield* frames.release();
        continue;
      }
      if (step.done === true) return yield* frames.finish();
      yield* frames.push(step.value);
      coming = chunks.next();
    }
  } finally {
    void chunks.return?.().catch(() => undefined);
  }
}
