/**
 * From spoken audio to frames with their alignment (docs/contract/decisions.md "Protocol B"; ops/adr/0007).
 *
 * A generation, as far as alignment goes, is one piece that the engine speaks in one go. Its first frame tells all
 * of its characters, with times from the end of what was told before, and the others none. For that the audio of a
 * piece is held until its characters are known, HELD_BYTES at most and no longer than it keeps coming; what is
 * known later goes with the next frame. With `sync` each frame tells the characters that begin in it, in the time
 * of the whole context; a chunk is held until the next one shows whether it was the last of its piece.
 *
 * Invariants: audio leaves in order, in frames of at most FRAME_AUDIO_BYTES; each character is told once; the times
 * of all generations laid end to end are the times in the context, however late they were known.
 */
import type { SpokenPiece, TimedAudio } from '../../../../contracts/ports/speech.js';
import { type Character, type ContextFrames, FRAME_AUDIO_BYTES } from './server-frames.js';
import { isNamed, SpokenText } from './spoken-text.js';

const HELD_BYTES = 1024 * 1024;
/** How long audio may fail to come before what is held goes: where the piece's words are known, and where not. */
const PATIENCE_MS = { named: 30, unnamed: 250 };
/** A character that begins this little behind a frame is told with it: codecs shift that much. */
const SLACK_MS = 30;
const NO_AUDIO = new Uint8Array(0);

/** A part of the audio, in seconds. */
interface Span {
  readonly audio: Uint8Array;
  readonly begin: number;
  readonly end: number;
}

/** Slices that fit in a frame each. */
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
  /** The piece whose audio came last. */
  #piece: SpokenPiece | undefined;
  /** The last piece whose audio was let go. */
  #free = -1;
  /** Where the last chunk ended, in seconds. */
  #end = 0;
  /** Until when characters have been told, in milliseconds. */
  #told = 0;

  constructor(
    private readonly frames: ContextFrames,
    private readonly sync: boolean,
  ) {}

  /** Text that will be spoken. */
  add(text: string): void {
    this.#text.add(text);
  }

  /** How long the next chunk may take until `release` is due, in milliseconds; undefined: for ever. */
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

  /** Lets go what is held: nothing more of its piece can be expected now. */
  *release(): Generator<string> {
    if (this.#held.length === 0 || !this.#piece) return;
    this.#text.learn(this.#piece, true);
    yield* this.#letGo();
  }

  /** All that is left. */
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
