/** Frames that the realtime socket sends (docs/contract/protocol-b.md 5), as JSON text. */
import type { CommittedTranscript, SessionFault } from '../../../../actors/transcription-session.js';
import type { Vocabulary } from '../../../../contracts/vocabulary.js';
import { seconds } from '../../../server/seconds.js';
import { wordEntries } from '../words.js';
import type { TranscriptionOptions } from './options.js';

const frame = (message_type: string, fields: object): string => JSON.stringify({ message_type, ...fields });

/** Reported values of options that have no effect here. */
const WITHOUT_EFFECT = {
  vad_silence_threshold_secs: 1.5,
  vad_threshold: 0.4,
  min_speech_duration_ms: 100,
  min_silence_duration_ms: 100,

  no_verbatim: false,
} as const;

export const startedFrame = (
  session_id: string,
  options: TranscriptionOptions,
  { vendor }: Pick<Vocabulary, 'vendor'>,
): string =>
  frame('session_started', {
    session_id,
    config: {
      sample_rate: options.sampleRate,
      audio_format: options.audioFormat,
      language_code: options.language || null,
      commit_strategy: 'manual',
      model_id: `${vendor}/${options.model}`,
      enable_logging: true,
      include_timestamps: options.timestamps,
      include_language_detection: options.languageDetection,
      keyterms: options.terms,
      ...WITHOUT_EFFECT,
    },
  });

export const partialFrame = (text: string): string => frame('partial_transcript', { text });

/** Words with times from the start of the session's audio, since clients concatenate the words of all commits. */
const wordsOf = (transcript: CommittedTranscript) =>
  wordEntries(transcript).map((word) => ({
    ...word,
    start: seconds(transcript.from + word.start),
    end: seconds(transcript.from + word.end),
    characters: [...word.text],
  }));

/** Frames of one commit, in order. The language is the one that the client sent (rule 12). */
export function* committedFrames(
  transcript: CommittedTranscript,
  options: TranscriptionOptions,
): Generator<string> {
  const { text } = transcript;
  yield frame('committed_transcript', { text });
  if (!options.timestamps && !options.languageDetection) return;
  yield frame('committed_transcript_with_timestamps', {
    text,
    language_code: options.language,
    words: options.timestamps ? wordsOf(transcript) : null,
  });
}

/** `message` repeats `error`, since some clients read that instead. */
export const errorFrame = ({ type, message }: SessionFault): string =>
  frame(type, { error: message, message });
