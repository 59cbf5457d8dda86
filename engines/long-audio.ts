/**
 * Recognition of audio of any length: cut by voice activity into pieces that the engine takes, each
 * transcribed as it ends. Streaming both ways; what is held is the piece at work.
 */
import { RECOGNITION_RATE } from '../contracts/audio.js';
import type { TranscriptSegment } from '../contracts/ports/speech.js';
import type { SttCapabilities, SttEngine, VoiceActivity } from '../contracts/ports/stt.js';

export interface HearingOptions {
  readonly language?: string | undefined;
}

/** A recogniser of long audio as the speech pipeline sees it, wherever it runs. */
export interface Transcriber {
  readonly name: string;
  readonly languages: SttCapabilities['languages'];
  /**
   * Yields what was said as it is heard, in order; times in seconds from the start of the audio, which is
   * 16 kHz PCM. Audio is pulled as it is needed. Leaving the loop, or an abort, stops the work.
   */
  transcribe(
    audio: AsyncIterable<Int16Array>,
    options: HearingOptions,
    signal: AbortSignal,
  ): AsyncIterable<TranscriptSegment>;
}

export interface Ears {
  readonly engine: SttEngine;
  readonly voiceActivity: VoiceActivity;
}

/** Pieces without words give no segment. Errors: the engine's and the audio's own. */
export async function* transcribeStream(
  audio: AsyncIterable<Int16Array>,
  { engine, voiceActivity, language }: Ears & HearingOptions,
  signal: AbortSignal,
): AsyncGenerator<TranscriptSegment> {
  const { maxPieceSeconds } = engine.capabilities;
  const hint = language === undefined ? {} : { language };
  for await (const span of voiceActivity.spans(audio, { maxSpanSeconds: maxPieceSeconds }, signal)) {
    const { text } = await engine.transcribe(span.samples, hint, signal);
    if (text === '') continue;
    const start = span.start / RECOGNITION_RATE;
    yield { text, start, end: start + span.samples.length / RECOGNITION_RATE };
  }
}

/** A transcriber whose engine runs in this process. */
export const createTranscriber = (ears: Ears): Transcriber => ({
  name: ears.engine.name,
  languages: ears.engine.capabilities.languages,
  transcribe: (audio, options, signal) => transcribeStream(audio, { ...ears, ...options }, signal),
});
