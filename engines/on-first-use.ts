/**
 * A recogniser whose models are loaded with the first audio: they take 200 MB, which an installation that only speaks
 * never needs. The next audio retries a failed load.
 */
import { announced } from '../processes/child/announce.js';
import type { Transcriber } from './long-audio.js';

export function onFirstUse(
  { name, languages }: Pick<Transcriber, 'name' | 'languages'>,
  load: () => Promise<Transcriber>,
): Transcriber {
  let loading: Promise<Transcriber> | undefined;
  function loaded(): Promise<Transcriber> {
    loading ??= announced(load).catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  }
  return {
    name,
    languages,
    async *transcribe(audio, options, signal) {
      const transcriber = await loaded();
      yield* transcriber.transcribe(audio, options, signal);
    },
  };
}
