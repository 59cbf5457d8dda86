/**
 * Short pieces of an agent's speech that it says again and again ("Sure.", "One moment."): the second time that a piece is spoken its sound
 * is kept, and from the third on no engine is asked for it.
 *
 * Invariant: the key holds all that decides how a piece sounds: the engine itself, its voice and its settings, the text as it is
 * spoken. So another engine, voice, reference audio or pronunciation is another sound.
 */
import { joinSamples } from '../contracts/audio.js';
import { LIMITS } from '../contracts/limits.js';
import type { KeptSound, KeptSpeech } from '../contracts/ports/speech/kept-speech.js';
import type { TimedWord, TtsEngine, TtsEvent, TtsRequest } from '../contracts/ports/speech/tts.js';

/** The first sound of a piece, and the following ones, in seconds: as speech children send them. */
const FIRST_SECONDS = 0.1;
const NEXT_SECONDS = 0.4;

/** Numbers for objects, by which keys tell them apart: engines, and the reference audio of a cloned voice. */
const numbers = new WeakMap<object, number>();
let lastNumber = 0;
function numberOf(object: object): number {
  const number = numbers.get(object) ?? ++lastNumber;
  numbers.set(object, number);
  return number;
}

/** A piece of text for an engine. `rate`: Hz of its sound. */
export interface PieceWish {
  readonly engine: TtsEngine;
  readonly request: TtsRequest;
  readonly rate: number;
}

const keyOf = ({ engine, request, rate }: PieceWish): string => {
  const { references = [], whom: _whom, traceContext: _trace, ...rest } = request;
  const voice = references.length > 0 ? numberOf(references) : 0;
  return JSON.stringify([numberOf(engine), voice, rate, Object.entries(rest).toSorted()]);
};

/** Audio of several speakers has no short name, and long texts are hardly said twice. */
const isShort = ({ request: { text, speakers } }: PieceWish): boolean =>
  speakers === undefined && text.length <= LIMITS.keptSpeech.pieceLength;

async function* replayed({ samples, words }: KeptSound, rate: number): AsyncGenerator<TtsEvent> {
  for (const word of words) yield { kind: 'word', word };
  const next = Math.floor(rate * NEXT_SECONDS);
  for (let at = 0, end = Math.floor(rate * FIRST_SECONDS); at < samples.length; at = end, end += next) {
    yield { kind: 'audio', samples: samples.subarray(at, end) };
  }
}

/** Passes the events on, and gives `keep` what they were once all have come. */
async function* noted(
  events: AsyncIterable<TtsEvent>,
  keep: (sound: KeptSound) => void,
): AsyncGenerator<TtsEvent> {
  const parts: Int16Array[] = [];
  const words: TimedWord[] = [];
  let bytes = 0;
  for await (const event of events) {
    if (event.kind === 'word') words.push(event.word);
    else if ((bytes += event.samples.byteLength) <= LIMITS.keptSpeech.soundBytes)
      parts.push(event.samples.slice());
    yield event;
  }
  if (bytes > 0 && bytes <= LIMITS.keptSpeech.soundBytes) keep({ samples: joinSamples(parts), words });
}

/** A piece that may be kept. */
export interface RepeatedPiece {
  /** Its sound as the engine's events, if it is kept. */
  readonly kept: AsyncIterable<TtsEvent> | undefined;
  /** The engine's events, kept for the next time if it was said before. */
  spoken(events: AsyncIterable<TtsEvent>, signal: AbortSignal): AsyncIterable<TtsEvent>;
}

/** Looks for a piece; undefined if such ones are never kept. */
export function repeatedPiece(
  speech: KeptSpeech,
  workspaceId: string,
  wish: PieceWish,
): RepeatedPiece | undefined {
  if (!isShort(wish)) return undefined;
  const key = keyOf(wish);
  const sound = speech.find(workspaceId, key);
  return {
    kept: sound && replayed(sound, wish.rate),
    spoken(events, signal) {
      if (!speech.isRepeated(workspaceId, key)) return events;
      return noted(events, (made) => {
        if (!signal.aborted) speech.keep(workspaceId, key, made);
      });
    },
  };
}
