/**
 * Lengths that headers declare for their samples, and what has to be written into a header that declares too few: decoders believe
 * it. Covers the containers of FILES; the decoders of others use no such length.
 */
import type { StoredFile } from '../../contracts/ports/speech/codec.js';
import { behind, type ChunkForm, CHUNKS, soundEnd } from './chunks.js';
import type { FileHead } from './file-head.js';
import type { InputContainer } from './sniff.js';

/** Bytes to write into a copy of the file. */
export interface Edit {
  readonly at: number;
  readonly bytes: Uint8Array;
}

/** A chunk: where it begins, and the bytes of its content. */
interface Chunk {
  readonly at: number;
  readonly size: number;
}

interface ChunkedFile {
  readonly form: ChunkForm;
  /** Where the first chunk begins. */
  readonly first: number;
  /** The chunk of the samples. */
  readonly tag: string;
  /** Edits beside the chunk's own length, for samples that end at `to`. */
  besides?(view: DataView, to: number): readonly Edit[];
}

const MOST_CHUNKS = 32;
const ALL_ONES = 0xffff_ffff;

const text = (view: DataView, at: number): string =>
  Buffer.from(view.buffer, view.byteOffset + at, 4).toString('latin1');

const RIFF: ChunkedFile = { form: CHUNKS.riff, first: 12, tag: 'data' };

/** By the file's first four bytes, and the container. RF64 and BW64 have a length of 64 bits elsewhere, and become a RIFF. */
const FILES: Readonly<Partial<Record<InputContainer, Readonly<Record<string, ChunkedFile>>>>> = {
  wav: {
    RIFF,
    RF64: { ...RIFF, besides: () => [{ at: 0, bytes: Buffer.from('RIFF') }] },
    BW64: { ...RIFF, besides: () => [{ at: 0, bytes: Buffer.from('RIFF') }] },
  },
  /** Decoders look no further than the length of the whole, which is 0 in a file from a pipe. */
  aiff: {
    FORM: {
      form: CHUNKS.iff,
      first: 12,
      tag: 'SSND',
      besides: (_view, to) => [{ at: 4, bytes: CHUNKS.iff.sizeField(to - 8).bytes }],
    },
  },
  w64: { riff: { form: CHUNKS.w64, first: 40, tag: 'data' } },
  caf: { caff: { form: CHUNKS.caf, first: 8, tag: 'data' } },
};

/** The chunk of the samples, whose length may stand in a `ds64` before it; undefined if it does not begin in `view`. */
function samplesIn(view: DataView, { form, first, tag }: ChunkedFile): Chunk | undefined {
  let long = ALL_ONES;
  let at = first;
  for (let count = 0; count < MOST_CHUNKS && at + form.head <= view.byteLength; count += 1) {
    const [name, size] = [form.tagAt(view, at), form.sizeAt(view, at)];
    if (name === tag) return { at, size: size === ALL_ONES ? long : size };
    const from = at + form.head;
    if (name === 'ds64' && from + 16 <= view.byteLength) long = Number(view.getBigUint64(from + 8, true));
    const end = from + Math.max(0, size);
    at = end + ((form.multiple - (end % form.multiple)) % form.multiple);
  }
  return undefined;
}

/** The edits without which a decoder would leave out sound at the end of the file; none for most files. */
export async function lengthEdits(
  file: Uint8Array | StoredFile,
  { bytes }: FileHead,
  container: InputContainer,
): Promise<readonly Edit[]> {
  if (bytes.length < 4) return [];
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const chunked = FILES[container]?.[text(view, 0)];
  const chunk = chunked && samplesIn(view, chunked);
  if (!chunk || chunk.size < 0) return [];
  const { form } = chunked;
  const [from, size] = [chunk.at + form.head, file instanceof Uint8Array ? file.length : file.size];
  const to = soundEnd({ to: from + chunk.size, size, form }, await behind(file, from + chunk.size));
  if (to <= from + chunk.size || to - from > ALL_ONES) return [];
  const length = form.sizeField(to - from);
  return [{ at: chunk.at + length.at, bytes: length.bytes }, ...(chunked.besides?.(view, to) ?? [])];
}
