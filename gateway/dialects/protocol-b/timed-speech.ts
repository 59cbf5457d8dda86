/**
 * Audio with its alignment, as one JSON object or as one line per chunk (docs/contract/protocol-b.md 2). Lines are sent while
 * the text is spoken, and a failure in the middle is the last line; an object is held until it is complete, so that a
 * failure is an error with its own status.
 *
 * Invariants: nothing is yielded before the first audio; lines keep no audio, and an object keeps no more than its limit;
 * every line ends in a newline and is well under 128 KiB, which Python's line readers accept.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { ServiceError, toServiceError } from '../../../contracts/errors.js';
import { LIMITS } from '../../../contracts/limits.js';
import { mustCharge, type MemoryShare, UNBOUNDED_SHARE } from '../../../contracts/ports/accounts/memory.js';
import type { TimedAudio } from '../../../contracts/ports/speech/speech.js';
import { seconds } from '../../server/seconds.js';
import type { CharacterTimes } from './alignment.js';
import { MOST_CHARACTERS, portionsOf, type AlignedStretch, TextAlignment } from './text-alignment.js';

/** Most bytes of audio in a line; even, so that no sample is cut. */
const LINE_AUDIO = 32 * 1024;
const NO_AUDIO = new Uint8Array(0);

const base64Of = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');

function* slicesOf(audio: Uint8Array): Generator<Uint8Array> {
  for (let at = 0; at < audio.length; at += LINE_AUDIO) yield audio.subarray(at, at + LINE_AUDIO);
}

function alignmentJson(times: CharacterTimes | undefined): string {
  if (!times) return 'null';
  return JSON.stringify({
    characters: times.chars,
    character_start_times_seconds: times.starts.map(seconds),
    character_end_times_seconds: times.ends.map(seconds),
  });
}

/** Built by a template, since base64 needs no escaping. The text is spoken as it was sent, so both alignments are the same. */
function lineOf(audio: Uint8Array, times: CharacterTimes | undefined): string {
  const alignment = alignmentJson(times);
  return `{"audio_base64":"${base64Of(audio)}","alignment":${alignment},"normalized_alignment":${alignment}}\n`;
}

const joined = (a: CharacterTimes, b: CharacterTimes): CharacterTimes => ({
  chars: [...a.chars, ...b.chars],
  starts: [...a.starts, ...b.starts],
  ends: [...a.ends, ...b.ends],
});

/** Characters that wait for the next line with audio. If they would exceed one line, the earlier ones go in a line without audio. */
class Waiting {
  #times: CharacterTimes | undefined;

  /** Adds characters; returns earlier ones that must be sent first. */
  add(times: CharacterTimes): CharacterTimes | undefined {
    const before = this.#times;
    const fits = before && before.chars.length + times.chars.length <= MOST_CHARACTERS;
    this.#times = fits ? joined(before, times) : times;
    return fits ? undefined : before;
  }

  take(): CharacterTimes | undefined {
    const times = this.#times;
    this.#times = undefined;
    return times;
  }
}

/** One line per chunk of audio, with the characters that have become known so far. */
async function* linesOf(text: string, audio: AsyncIterable<TimedAudio>): AsyncGenerator<string> {
  const alignment = new TextAlignment(text);
  const waiting = new Waiting();
  for await (const chunk of audio) {
    for (const times of portionsOf(alignment.add(chunk.piece))) {
      const first = waiting.add(times);
      if (first) yield lineOf(NO_AUDIO, first);
    }
    for (const slice of slicesOf(chunk.audio)) yield lineOf(slice, waiting.take());
  }
  const rest = waiting.take();
  if (rest) yield lineOf(NO_AUDIO, rest);
}

/**
 * The lines; after the first, a failure becomes the last line, made by `failure`. Errors: those of `audio` before the
 * first line, and that of an abort.
 */
export async function* timedLines(
  text: string,
  audio: AsyncIterable<TimedAudio>,
  failure: (error: ServiceError) => object,
  signal: AbortSignal,
): AsyncGenerator<string> {
  let begun = false;
  try {
    for await (const line of linesOf(text, audio)) {
      yield line;
      begun = true;
    }
  } catch (error) {
    if (!begun || signal.aborted) throw error;
    yield `${JSON.stringify(failure(toServiceError(error)))}\n`;
  }
}

/** Cuts audio at multiples of three bytes, so that its pieces in base64 follow one another as one text. */
class Thirds {
  #rest: Uint8Array = NO_AUDIO;

  /** A copy: chunks may be views of larger memory. */
  next(bytes: Uint8Array): Uint8Array {
    const all = Buffer.concat([this.#rest, bytes]);
    const whole = all.length - (all.length % 3);
    this.#rest = Uint8Array.from(all.subarray(whole));
    return all.subarray(0, whole);
  }

  end(): Uint8Array {
    return this.#rest;
  }
}

/** Characters of so many bytes in base64. */
const encodedLength = (bytes: number): number => Math.ceil(bytes / 3) * 4;

type Member = readonly [name: string, valuesOf: (times: CharacterTimes) => readonly unknown[]];

const MEMBERS: readonly Member[] = [
  ['characters', ({ chars }) => chars],
  ['character_start_times_seconds', ({ starts }) => starts.map(seconds)],
  ['character_end_times_seconds', ({ ends }) => ends.map(seconds)],
];

async function* memberJson(
  [name, valuesOf]: Member,
  stretches: readonly AlignedStretch[],
): AsyncGenerator<string> {
  let separator = `"${name}":[`;
  for (const times of portionsOf(stretches)) {
    yield separator + JSON.stringify(valuesOf(times)).slice(1, -1);
    separator = ',';
    await nextTurn();
  }
  yield separator === ',' ? ']' : `${separator}]`;
}

async function* objectJson(stretches: readonly AlignedStretch[] | undefined): AsyncGenerator<string> {
  if (!stretches) return yield 'null';
  let separator = '{';
  for (const member of MEMBERS) {
    yield separator;
    yield* memberJson(member, stretches);
    separator = ',';
  }
  yield '}';
}

const tooLong = (): ServiceError =>
  new ServiceError('payload_too_large', {
    message: 'The audio is too long for one answer: use stream/with-timestamps',
  });

/** One object with all audio and the whole alignment, once it is complete. Errors: `payload_too_large`, `memory_exhausted`. */
export async function* timedDocument(
  text: string,
  audio: AsyncIterable<TimedAudio>,
  share: MemoryShare = UNBOUNDED_SHARE,
  heldBytes: number = LIMITS.timedSpeech.heldBytes,
): AsyncGenerator<string> {
  const alignment = new TextAlignment(text);
  const stretches: AlignedStretch[] = [];
  const thirds = new Thirds();
  const held: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of audio) {
    stretches.push(...alignment.add(chunk.piece));
    const part = thirds.next(chunk.audio);
    bytes += part.length;
    if (encodedLength(bytes) > heldBytes) throw tooLong();
    if (part.length === 0) continue;
    mustCharge(share, part.length);
    held.push(part);
  }
  yield '{"audio_base64":"';
  for (const part of held.splice(0)) {
    share.release(part.length);
    yield base64Of(part);
  }
  yield `${base64Of(thirds.end())}"`;
  const known = alignment.untimed ? undefined : stretches;
  for (const name of ['alignment', 'normalized_alignment']) {
    yield `,"${name}":`;
    yield* objectJson(known);
  }
  yield '}';
}
