/**
 * Voices that services list themselves: asked as the gateway starts, and again while that fails. A start waits for them for a moment only,
 * as a service that does not answer must keep nobody else from speaking.
 */
import type { Clock } from '../../contracts/clock.js';
import { LIMITS } from '../../contracts/limits.js';
import type { Log } from '../../contracts/log.js';
import type { TtsEngine } from '../../contracts/ports/speech/tts.js';
import { repeat } from '../../contracts/time/repeat.js';

const { answerMs, againMs } = LIMITS.partCheck;
const START_MS = 2000;

/** Asks all of them once; those that did not answer. Never rejects. */
async function learnOnce(engines: readonly TtsEngine[], log: Log): Promise<readonly TtsEngine[]> {
  const left = engines.map(async (engine) => {
    try {
      await engine.learnVoices?.(AbortSignal.timeout(answerMs));
      return [];
    } catch (err) {
      log.warn({ engine: engine.name, err }, 'a service did not list its voices, and is asked again');
      return [engine];
    }
  });
  return (await Promise.all(left)).flat();
}

/** Resolves when they are known, or after a moment. The result stops it. */
export async function learnVoices(
  engines: readonly TtsEngine[],
  clock: Clock,
  log: Log,
): Promise<() => void> {
  let left: readonly TtsEngine[] = engines.filter(({ learnVoices: learn }) => learn !== undefined);
  if (left.length === 0) return () => undefined;
  let known = (): void => undefined;
  const first = new Promise<void>((resolve) => (known = resolve));
  let stop = (): void => undefined;
  const look = async (): Promise<void> => {
    left = await learnOnce(left, log);
    known();
    if (left.length === 0) stop();
  };
  stop = repeat(clock, againMs, look, () => undefined);
  const stopWaiting = clock.after(START_MS, known);
  await first;
  stopWaiting();
  return () => stop();
}
