/**
 * The usage of a chat completion in tokens, the unit that clients of language models expect. This service has no
 * tokens, so they are estimated at fixed rates: one for four characters, for a tenth of a second of transcribed audio, and
 * for a twentieth of a second of spoken audio.
 */
import type { ChatUsage } from './schema.js';

const CHARACTERS = 4;
const TRANSCRIBED_PER_SECOND = 10;
const SPOKEN_PER_SECOND = 20;

interface Tokens {
  readonly text: number;
  readonly audio: number;
}

const textTokens = (text: string): number => Math.ceil(text.length / CHARACTERS);

const usageOf = (prompt: Tokens, completion: Tokens): ChatUsage => {
  const [before, after] = [prompt.text + prompt.audio, completion.text + completion.audio];
  return {
    prompt_tokens: before,
    completion_tokens: after,
    total_tokens: before + after,
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: prompt.audio },
    completion_tokens_details: { reasoning_tokens: 0, audio_tokens: completion.audio },
  };
};

/** Usage of speaking the text, which took `seconds` of audio. */
export const usageOfSpeech = (text: string, seconds: number): ChatUsage =>
  usageOf({ text: textTokens(text), audio: 0 }, { text: 0, audio: Math.round(seconds * SPOKEN_PER_SECOND) });

/** Usage of transcribing `seconds` of audio to the text. */
export const usageOfTranscription = (text: string, seconds: number): ChatUsage =>
  usageOf(
    { text: 0, audio: Math.round(seconds * TRANSCRIBED_PER_SECOND) },
    { text: textTokens(text), audio: 0 },
  );
