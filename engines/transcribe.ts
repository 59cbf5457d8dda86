/**
 * The Transcription port: admission, isolated decoding, recognition, as one flow: pieces are recognised
 * while the file is still being decoded, and nothing of it is held beyond the piece at work.
 */
import { RECOGNITION_RATE } from '../contracts/audio.js';
import { ServiceError } from '../contracts/errors.js';
import type { Decode } from '../contracts/ports/codec.js';
import type { Admission } from '../contracts/ports/identity.js';
import type { Transcript, Transcription, TranscriptSegment } from '../contracts/ports/speech.js';
import type { TimedWord } from '../contracts/ports/tts.js';
import { share, wordsIn } from './alignment/transcript-words.js';
import type { HeardSegment } from './long-audio.js';
import type { Registry } from './registry.js';

export interface TranscriptionParts {
  readonly registry: Registry;
  readonly admission: Admission;
  readonly decode: Decode;
}

/** Passes audio on and counts its samples. */
function counted(audio: AsyncIterable<Int16Array>) {
  const count = { samples: 0 };
  async function* pass(): AsyncGenerator<Int16Array> {
    for await (const chunk of audio) {
      count.samples += chunk.length;
      yield chunk;
    }
  }
  return { count, audio: pass() };
}

const textOf = (segments: readonly TranscriptSegment[]): string =>
  segments
    .map(({ text }) => text)
    .filter((text) => text !== '')
    .join(' ');

/** An engine that cannot time words leaves only their length to go by. */
const wordsOf = (segment: HeardSegment): readonly TimedWord[] =>
  segment.words ?? share(wordsIn(segment.text), segment);

const withoutWords = ({ text, start, end }: HeardSegment): TranscriptSegment => ({ text, start, end });

export function createTranscription({ registry, admission, decode }: TranscriptionParts): Transcription {
  return {
    async transcribe(request, caller, signal): Promise<Transcript> {
      const language = request.language?.toLowerCase().split('-')[0];
      const transcriber = registry.transcriberFor(request.model, language);
      if (!transcriber) {
        throw new ServiceError('language_unavailable', {
          message: `No speech recognition for "${language}"`,
        });
      }
      const leave = await admission.enter(caller.workspaceId, 'transcription_ms');
      try {
        const { count, audio } = counted(decode(request.audio, signal));
        const heard: HeardSegment[] = [];
        const { words = false } = request;
        for await (const segment of transcriber.transcribe(audio, { language, words }, signal))
          heard.push(segment);
        const duration = count.samples / RECOGNITION_RATE;
        admission.use(caller.workspaceId, 'transcription_ms', Math.round(duration * 1000));
        return {
          text: textOf(heard),
          duration,
          segments: heard.map(withoutWords),
          ...(words && { words: heard.flatMap(wordsOf) }),
        };
      } finally {
        leave();
      }
    },
  };
}
