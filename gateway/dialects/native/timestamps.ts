/**
 * `POST /v1/tts/stream/with-timestamp` (docs/contract/native.md 2): audio and the times of its words as
 * server-sent events. All five keys are always present; an alignment has the words of its chunk that are known
 * so far and replaces the one before. A failure in the middle is an `error` event and a destroyed connection.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ServiceError, toServiceError } from '../../../contracts/errors.js';
import type { SpokenPiece, TimedAudio } from '../../../contracts/ports/speech/speech.js';
import type { TimedWord } from '../../../contracts/ports/speech/tts.js';
import { nativeMessage } from '../../server/native-error.js';
import { seconds } from '../../server/seconds.js';
import { formatEvent } from '../../server/sse.js';

const PUNCTUATION = /^[^\p{L}\p{M}\p{N}]+|[^\p{L}\p{M}\p{N}]+$/gu;
/** Scripts that are timed by character. */
const BY_CHARACTER = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u;
const SOUNDING = /[\p{L}\p{M}\p{N}]/u;

/** A word's characters, each with an equal share of its time. */
function charactersOf({ text, start, end }: TimedWord): TimedWord[] {
  const characters = [...text].filter((character) => SOUNDING.test(character));
  const share = (end - start) / characters.length;
  return characters.map((character, index) => ({
    text: character,
    start: start + index * share,
    end: start + (index + 1) * share,
  }));
}

/** Words, or single characters in Chinese and Japanese; without punctuation. */
export function segmentsOf(words: readonly TimedWord[]): TimedWord[] {
  return words
    .map((word) => ({ ...word, text: word.text.replace(PUNCTUATION, '') }))
    .filter(({ text }) => text !== '')
    .flatMap((word) => (BY_CHARACTER.test(word.text) ? charactersOf(word) : [word]))
    .map(({ text, start, end }) => ({ text, start: seconds(start), end: seconds(end) }));
}

/** Segments of a piece that are known so far; words whose audio is not complete yet are held back. */
function alignmentOf({ words, duration, complete }: SpokenPiece): object | null {
  if (!words) return null;
  const reached = complete ? words : words.filter(({ end }) => end <= duration);
  return { segments: segmentsOf(reached), audio_duration: seconds(duration) };
}

/** What an event says of its chunk of the text, beside the audio. */
export const timesOf = (piece: SpokenPiece): object => ({
  content: piece.text,
  alignment: alignmentOf(piece),
  chunk_seq: piece.index,
  chunk_audio_offset_sec: seconds(piece.offset),
});

/** Built by a template, since base64 needs no escaping. */
function eventOf({ audio, piece }: TimedAudio): string {
  const base64 = Buffer.from(audio.buffer, audio.byteOffset, audio.byteLength).toString('base64');
  const rest = JSON.stringify(timesOf(piece));
  return `data: {"audio_base64":"${base64}",${rest.slice(1)}\n\n`;
}

/** The last event of a synthesis that fails. */
export const failureEvent = (failure: ServiceError): string =>
  formatEvent({ event: 'error', data: { status: failure.status, message: nativeMessage(failure) } });

/** The events of a synthesis. A failure before the first event is thrown; a later one is sent as an event, then thrown. */
export async function* timedEvents(audio: AsyncIterable<TimedAudio>): AsyncGenerator<string> {
  let begun = false;
  try {
    for await (const chunk of audio) {
      yield eventOf(chunk);
      begun = true;
    }
  } catch (error) {
    const failure = toServiceError(error);
    if (begun) {
      yield failureEvent(failure);
      // Lets the event reach the kernel before the connection is destroyed.
      await nextTurn();
    }
    throw error;
  }
}
