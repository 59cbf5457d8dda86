/**
 * Frames that the speech sockets send (docs/contract/protocol-b.md 3). Audio frames are written by template, since
 * base64 needs no escaping. The text is spoken as it was sent, so both alignments of a frame are the same.
 */
import type { SocketFault } from '../../../../actors/stream-input.js';
import { LIMITS } from '../../../../contracts/limits.js';

/** A character with its times in milliseconds. */
export interface Character {
  readonly char: string;
  readonly start: number;
  readonly end: number;
}

/** Most bytes of audio in a frame: a number of whole samples and of whole base64 groups. */
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

/** Frames of one context; they name it if the socket has several contexts. */
export class ContextFrames {
  readonly #tail: string;
  readonly #contextId: { readonly contextId?: string };

  constructor(contextId: string | undefined) {
    this.#contextId = contextId === undefined ? {} : { contextId };
    this.#tail = contextId === undefined ? '}' : `,"contextId":${JSON.stringify(contextId)}}`;
  }

  /** Times count from `origin`, in milliseconds; `characters` is absent if the frame has no alignment. */
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
