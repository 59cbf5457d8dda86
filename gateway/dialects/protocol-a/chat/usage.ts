/**
 * The usage of a chat completion in tokens, which clients of language models count in. Nothing here is made of
 * tokens, so they are stand-ins at fixed rates: four characters, a tenth of a second of transcribed audio, a
 * twentieth of a second of spoken audio.
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

/** `seconds` of audio were made of the text. */
export const usageOfSpeech = (text: string, seconds: number): ChatUsage =>
  usageOf({ text: textTokens(text), audio: 0 }, { text: 0, audio: Math.round(seconds * SPOKEN_PER_SECOND) });

/** `seconds` of audio were transcribed to the text. */
export const usageOfTranscription = (text: string, seconds: number): ChatUsage =>
  usageOf(
    { text: 0, audio: Math.round(seconds * TRANSCRIBED_PER_SECOND) },
    { text: textTokens(text), audio: 0 },
  );
