/**
 * Chunks of RIFF, IFF, Wave64 and CAF files, and where the samples of such a file end. A header that was written before the recording
 * ended declares too few bytes: what lies behind the declared end is sound, too, but for chunks.
 */
import type { StoredFile } from '../../contracts/ports/speech/codec.js';
import { bytesAt } from './file-head.js';

export interface ChunkForm {
  /** Bytes before a chunk's content. */
  readonly head: number;
  /** Chunks begin at multiples of so many bytes. */
  readonly multiple: number;
  /** Undefined if no chunk of this form begins there. */
  tagAt(view: DataView, at: number): string | undefined;
  /** Bytes of the content. */
  sizeAt(view: DataView, at: number): number;
  /** The bytes that declare a size, and where they stand in the chunk. */
  sizeField(size: number): { readonly at: number; readonly bytes: Uint8Array };
}

const tagAt = (view: DataView, at: number): string =>
  String.fromCharCode(...[0, 1, 2, 3].map((byte) => view.getUint8(at + byte)));

const bytesBy = (length: number, write: (bytes: Buffer) => void): Uint8Array => {
  const bytes = Buffer.alloc(length);
  write(bytes);
  return bytes;
};

const riff = (littleEndian: boolean): ChunkForm => ({
  head: 8,
  multiple: 2,
  tagAt,
  sizeAt: (view, at) => view.getUint32(at + 4, littleEndian),
  sizeField: (size) => ({
    at: 4,
    bytes: bytesBy(4, (bytes) => (littleEndian ? bytes.writeUInt32LE(size) : bytes.writeUInt32BE(size))),
  }),
});

/** The last twelve bytes of the identifiers of Wave64's chunks. */
const W64_BYTES = 'f3acd3118cd100c04f8edb8a';
const W64_HEAD = 24;

const w64: ChunkForm = {
  head: W64_HEAD,
  multiple: 8,
  tagAt: (view, at) =>
    Buffer.from(view.buffer, view.byteOffset + at + 4, 12).toString('hex') === W64_BYTES
      ? tagAt(view, at)
      : undefined,
  /** The declared one includes the head. */
  sizeAt: (view, at) => Math.max(0, Number(view.getBigUint64(at + 16, true)) - W64_HEAD),
  sizeField: (size) => ({
    at: 16,
    bytes: bytesBy(8, (bytes) => bytes.writeBigUInt64LE(BigInt(size + W64_HEAD))),
  }),
};

const caf: ChunkForm = {
  head: 12,
  multiple: 1,
  tagAt,
  sizeAt: (view, at) => Number(view.getBigInt64(at + 4)),
  sizeField: (size) => ({ at: 4, bytes: bytesBy(8, (bytes) => bytes.writeBigInt64BE(BigInt(size))) }),
};

export const CHUNKS = { riff: riff(true), iff: riff(false), w64, caf } as const;

/** Chunks that writers put behind the samples; one that was cut short is known by its tag. */
const KNOWN_CHUNKS = new Set([
  ...['LIST', 'list', 'id3 ', 'ID3 ', 'bext', 'cue ', 'fact', 'smpl', 'iXML', 'JUNK', 'junk', 'PAD '],
  ...['COMM', 'COMT', 'NAME', 'AUTH', 'ANNO', 'MARK', 'INST', 'APPL'],
  ...['pakt', 'kuki', 'info', 'free', 'levl', 'summ'],
]);
const PRINTABLE = /^[\x20-\x7e]{4}$/u;

/** Enough to see the head of a chunk behind the samples, also behind padding. */
const NEXT_BYTES = W64_HEAD + 7;
/** How far from the end chunks behind the samples are looked for. */
const TAIL_BYTES = 64 * 1024;

/** What stands behind the declared end of the samples. */
export interface TrailingBytes {
  /** The first bytes. */
  readonly next: Uint8Array;
  /** The file's last ones. */
  readonly tail: Uint8Array;
}

const NOTHING: TrailingBytes = { next: new Uint8Array(0), tail: new Uint8Array(0) };

export const behindIn = (file: Uint8Array, declared: number): TrailingBytes => ({
  next: file.subarray(declared, declared + NEXT_BYTES),
  tail: file.subarray(Math.max(declared, file.length - TAIL_BYTES)),
});

export async function behind(file: Uint8Array | StoredFile, declared: number): Promise<TrailingBytes> {
  if (file instanceof Uint8Array) return behindIn(file, declared);
  if (declared >= file.size) return NOTHING;
  return {
    next: await bytesAt(file, declared, NEXT_BYTES),
    tail: await bytesAt(file, Math.max(declared, file.size - TAIL_BYTES), TAIL_BYTES),
  };
}

const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength);

/** Whether a chunk begins here: a known tag, or a printable one whose length fits into what is left of the file. */
function isChunk(view: DataView, at: number, left: number, form: ChunkForm): boolean {
  if (view.byteLength < at + form.head) return false;
  const tag = form.tagAt(view, at);
  if (tag === undefined) return false;
  return KNOWN_CHUNKS.has(tag) || (PRINTABLE.test(tag) && form.sizeAt(view, at) <= left - at - form.head);
}

/** Whether known chunks follow one another from here to the end; the last one's padding may be missing. */
function isChain(view: DataView, start: number, form: ChunkForm): boolean {
  let at = start;
  while (at + form.head <= view.byteLength && KNOWN_CHUNKS.has(form.tagAt(view, at) ?? '')) {
    const end = at + form.head + Math.max(0, form.sizeAt(view, at));
    if (end === view.byteLength) return true;
    at = end + (end % Math.min(2, form.multiple));
  }
  return at === view.byteLength && at > start;
}

/** Bytes of the chunks that the file ends with. */
function chunksAtEnd(tail: Uint8Array, form: ChunkForm): number {
  const [bytes, view] = [Buffer.from(tail.buffer, tail.byteOffset, tail.byteLength), viewOf(tail)];
  let first = tail.length;
  for (const tag of KNOWN_CHUNKS)
    for (
      let at = bytes.indexOf(tag, 0, 'latin1');
      at >= 0 && at < first;
      at = bytes.indexOf(tag, at + 1, 'latin1')
    )
      if (isChain(view, at, form)) first = at;
  return tail.length - first;
}

/** A file's size, and where the header says that its samples end. */
export interface DeclaredEnd {
  readonly to: number;
  readonly size: number;
  readonly form: ChunkForm;
}

/**
 * Where the samples end: at the declared end if a chunk begins there, with or without padding, or too little for its head is left;
 * else at the end of the file, less the chunks there.
 */
export function soundEnd({ to, size, form }: DeclaredEnd, { next, tail }: TrailingBytes): number {
  const [left, view] = [size - to, viewOf(next)];
  const isEnd = (at: number): boolean => isChunk(view, at, left, form);
  const ends = left < form.head || Array.from({ length: form.multiple }, (_, at) => at).some(isEnd);
  return ends ? to : size - chunksAtEnd(tail, form);
}
