/**
 * Turns spoken audio into frames with alignment (docs/contract/decisions.md "Protocol B"; ops/adr/0007).
 *
 * For alignment, a generation is one piece that the engine speaks in one go. Its first frame has all of its
 * characters, with times from the end of the previous alignment; the other frames have none. For that, the audio of
 * a piece is held until its characters are known, at most HELD_BYTES and only while more keeps coming; characters
 * known later go with the next frame. With `sync` each frame has the characters that begin in it, in the time of
 * the whole context; a chunk is held until the next one shows whether it was the last of its piece.
 *
 * Invariants: audio is sent in order, in frames of at most FRAME_AUDIO_BYTES; each character is sent once; the times
 * of all generations, laid end to end, are the times in the context, however late they became known.
 */
import type { SpokenPiece, TimedAudio } from '../../../../contracts/ports/speech/speech.js';
import { type Character, type ContextFrames, FRAME_AUDIO_BYTES } from './server-frames.js';
import { isNamed, SpokenText } from './spoken-text.js';

const HELD_BYTES = 1024 * 1024;
/** Longest wait for more audio before the held audio is sent: if the piece's words are all known, and if not. */
const PATIENCE_MS = { named: 30, unnamed: 250 };
/** A character that begins at most this long after a frame still goes with it, since codecs shift audio by that much. */
const SLACK_MS = 30;
const NO_AUDIO = new Uint8Array(0);

/** A part of the audio, with its times in seconds. */
interface Span {
  readonly audio: Uint8Array;
  readonly begin: number;
  readonly end: number;
}

/** Slices of a span that each fit into one frame. */
function* framesOf({ audio, begin, end }: Span): Generator<Span> {
  const secondAt = (at: number): number => begin + ((end - begin) * at) / audio.length;
  for (let at = 0; at < audio.length; at += FRAME_AUDIO_BYTES) {
    const part = audio.subarray(at, at + FRAME_AUDIO_BYTES);
    yield { audio: part, begin: secondAt(at), end: secondAt(at + part.length) };
  }
}

export class AudioFrames {
  readonly #text = new SpokenText();
  #held: Span[] = [];
  #heldBytes = 0;
  /** The piece of the latest audio. */
  #piece: SpokenPiece | undefined;
  /** Index of the last piece whose audio was released. */
  #free = -1;
  /** End of the last chunk, in seconds. */
  #end = 0;
  /** End of the last character that was sent, in milliseconds. */
  #told = 0;

  constructor(
    private readonly frames: ContextFrames,
    private readonly sync: boolean,
  ) {}

  /** Adds text that will be spoken. */
  add(text: string): void {
    this.#text.add(text);
  }

  /** Milliseconds to wait for the next chunk before `release` is due; undefined: without limit. */
  get patienceMs(): number | undefined {
    if (this.#held.length === 0 || !this.#piece) return undefined;
    return isNamed(this.#piece) ? PATIENCE_MS.named : PATIENCE_MS.unnamed;
  }

  *push({ audio, piece, end }: TimedAudio): Generator<string> {
    if (piece.index !== this.#piece?.index && !this.sync) yield* this.release();
    const whole = this.#text.learn(piece);
    this.#piece = piece;
    if (this.sync && audio.length > 0) yield* this.#letGo();
    this.#hold({ audio, begin: this.#end, end });
    this.#end = end;
    const isFree = !this.sync && this.#free === piece.index;
    if (whole || isFree || this.#heldBytes > HELD_BYTES) yield* this.#letGo();
  }

  /** Releases the held audio, since nothing more of its piece can be expected now. */
  *release(): Generator<string> {
    if (this.#held.length === 0 || !this.#piece) return;
    this.#text.learn(this.#piece, true);
    yield* this.#letGo();
  }

  /** Releases everything that is left. */
  *finish(): Generator<string> {
    yield* this.release();
    const rest = this.#text.take();
    if (rest.length > 0) yield this.frames.audio(NO_AUDIO, rest, this.sync ? 0 : this.#told);
  }

  #hold(span: Span): void {
    if (span.audio.length === 0) return;
    this.#held.push(span);
    this.#heldBytes += span.audio.length;
  }

  *#letGo(): Generator<string> {
    const held = this.#held;
    this.#held = [];
    this.#heldBytes = 0;
    if (held.length > 0) this.#free = this.#piece?.index ?? -1;
    for (const span of held) {
      for (const frame of framesOf(span)) yield this.sync ? this.#inSync(frame) : this.#generation(frame);
    }
  }

  #generation({ audio }: Span): string {
    const characters = this.#text.take();
    const last = characters.at(-1);
    if (!last) return this.frames.audio(audio);
    const origin = this.#told;
    this.#told = last.end;
    return this.frames.audio(audio, characters, origin);
  }

  #inSync({ audio, end }: Span): string {
    const characters: Character[] = this.#text.take(end * 1000 + SLACK_MS);
    return this.frames.audio(audio, this.#text.timed ? characters : undefined);
  }
}
