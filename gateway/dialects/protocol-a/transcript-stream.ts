/**
 * A transcription in progress: the text of each segment as soon as it is known, and the transcript at the end.
 * The texts add up to the transcript's text.
 */
import type { Transcript, TranscriptSegment } from '../../../contracts/ports/speech/speech.js';
import { gapBetween } from '../../../contracts/text/joined-texts.js';

/** Runs a transcription; `told` is called with each segment. */
export type Transcribe = (told: (segment: TranscriptSegment) => void) => Promise<Transcript>;

export type TranscriptPart =
  | { readonly text: string; readonly transcript?: undefined }
  | { readonly transcript: Transcript; readonly text?: undefined };

/** Errors: those of the transcription. A reader that stops early must abort it. */
export async function* partsOf(transcribe: Transcribe): AsyncGenerator<TranscriptPart> {
  const waiting: string[] = [];
  let wake = (): void => undefined;
  const ended = transcribe(({ text }) => {
    if (text !== '') waiting.push(text);
    wake();
  });
  let isOver = false;
  const over = (): void => {
    isOver = true;
    wake();
  };
  // Also handles a rejection that nobody waits for, if the reader has left.
  void ended.then(over, over);
  let told = '';
  while (!isOver || waiting.length > 0) {
    if (waiting.length === 0) await new Promise<void>((resolve) => (wake = resolve));
    for (const segment of waiting.splice(0)) {
      const text = gapBetween(told, segment) + segment;
      told += text;
      yield { text };
    }
  }
  const transcript = await ended;
  if (transcript.text.length > told.length) yield { text: transcript.text.slice(told.length) };
  yield { transcript };
}
