/**
 * A chat answer as a sequence of events, whichever form it is sent in. The texts of one kind add up to the whole text, the
 * audio blocks to one base64 text; the usage comes last.
 */
import type { TimedAudio } from '../../../../contracts/ports/speech/speech.js';
import { partsOf, type Transcribe } from '../transcript-stream.js';
import { Base64Blocks } from './base64-blocks.js';
import type { ChatUsage } from './schema.js';
import { usageOfTranscription, usageOfSpeech } from './usage.js';

export type AnswerEvent =
  /** Text of the audio that follows. */
  | { readonly kind: 'transcript'; readonly text: string }
  | { readonly kind: 'audio'; readonly base64: string }
  /** Text of the transcript of the client's audio. */
  | { readonly kind: 'content'; readonly text: string }
  | { readonly kind: 'usage'; readonly usage: ChatUsage };

/** The events of speech that says `text`; each piece of text comes before its audio. */
export async function* speechEvents(
  speech: AsyncIterable<TimedAudio>,
  text: string,
): AsyncGenerator<AnswerEvent> {
  const blocks = new Base64Blocks();
  let told = 0;
  let seconds = 0;
  for await (const { audio, piece, end } of speech) {
    const reached = piece.at + piece.text.length;
    if (reached > told) yield { kind: 'transcript', text: text.slice(told, reached) };
    told = Math.max(told, reached);
    seconds = end;
    for (const base64 of blocks.push(audio)) yield { kind: 'audio', base64 };
  }
  if (told < text.length) yield { kind: 'transcript', text: text.slice(told) };
  const base64 = blocks.end();
  if (base64 !== '') yield { kind: 'audio', base64 };
  yield { kind: 'usage', usage: usageOfSpeech(text, seconds) };
}

/** The events of a transcription, each segment as soon as it is known. */
export async function* transcriptionEvents(transcribe: Transcribe): AsyncGenerator<AnswerEvent> {
  for await (const { text, transcript } of partsOf(transcribe)) {
    if (transcript)
      yield { kind: 'usage', usage: usageOfTranscription(transcript.text, transcript.duration) };
    else yield { kind: 'content', text };
  }
}
