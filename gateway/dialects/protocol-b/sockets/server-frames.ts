/**
 * Frames that the speech sockets send (docs/contract/protocol-b.md 3). Audio frames are written by template: the
 * audio needs no escapes. What is spoken is what was sent, so both alignments of a frame are one.
 */
import type { SocketFault } from '../../../../actors/stream-input.js';
import { LIMITS } from '../../../../contracts/limits.js';

/** Milliseconds. */
export interface Character {
  readonly char: string;
  readonly start: number;
  readonly end: number;
}

/** Bytes of audio in a frame: whole samples and, in base64, whole groups. */
export const FRAME_AUDIO_BYTES = (LIMITS.streamInput.audioFrameBytes / 4) * 3;

function alignmentJson(characters: readonly Character[] | undefined, origin: number): string {
  if (!characters) return 'null';
  return JSON.stringify({
    chars: characters.map(({ char }) => char),
    charStartTimesMs: characters.map(({ start }) => start - origin),
    charDurationsMs: characters.map(({ start, end }) => end - start),
  });
}

const base64Of = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');

/** The frames of one context, which say whose they are where the socket has several. */
export class ContextFrames {
  readonly #tail: string;
  readonly #contextId: { readonly contextId?: string };

  constructor(contextId: string | undefined) {
    this.#contextId = contextId === undefined ? {} : { contextId };
    this.#tail = contextId === undefined ? '}' : `,"contextId":${JSON.stringify(contextId)}}`;
  }

  /** Times count from `origin`, in milliseconds; no `characters` where the frame has no alignment. */
  audio(audio: Uint8Array, characters?: readonly Character[], origin = 0): string {
    const alignment = alignmentJson(characters, origin);
    return (
      `{"audio":"${base64Of(audio)}","isFinal":null,` +
      `"alignment":${alignment},"normalizedAlignment":${alignment}${this.#tail}`
    );
  }

  final(): string {
    return `{"audio":null,"isFinal":true,"alignment":null,"normalizedAlignment":null${this.#tail}`;
  }

  fault({ message, error, code, param }: SocketFault): string {
    return JSON.stringify({ message, error, code, param, ...this.#contextId });
  }
}
