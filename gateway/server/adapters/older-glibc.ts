/**
 * A binding's library (ELF, 64 bits, little endian) as the linker of an older glibc takes it. The Linux binaries were compiled with glibc
 * 2.38, whose headers turn sscanf, strtol and strtoul into `__isoc23_…`, which differ only in that they also read "0b101"; nothing else
 * wants 2.38. So these symbols become their namesakes of the oldest version, and the need of 2.38 becomes a weak one,
 * which the linker does not insist on.
 */

/** Types of sections. */
const SECTIONS = { symbols: 11, versions: 0x6fff_ffff, needs: 0x6fff_fffe } as const;
const SYMBOL_BYTES = 24;
const VERSION_BYTES = 2;

const UNWANTED = 'GLIBC_2.38';
/** The first version of x64, and that of arm64. */
const OLDEST = ['GLIBC_2.2.5', 'GLIBC_2.17'];
/** Names are tails of a table of strings, so the namesake's name begins as many bytes later. */
const PREFIX = '__isoc23_';
const WEAK = 2;

interface Section {
  readonly offset: number;
  readonly size: number;
  /** The place of the section that holds its strings. */
  readonly strings: number;
}

/** A version of a library that is needed. */
interface Need {
  readonly library: string;
  readonly name: string;
  /** The number by which symbols refer to it. */
  readonly index: number;
  /** The place of its entry. */
  readonly at: number;
}

class Library {
  constructor(readonly bytes: Buffer) {
    if (bytes.toString('latin1', 0, 6) !== '\x7fELF\x02\x01')
      throw new Error('it is no ELF of 64 bits, little endian');
  }

  u16 = (at: number): number => this.bytes.readUInt16LE(at);
  u32 = (at: number): number => this.bytes.readUInt32LE(at);
  u64 = (at: number): number => Number(this.bytes.readBigUInt64LE(at));

  /** Where the header of a section is. */
  #header = (index: number): number => this.u64(0x28) + index * this.u16(0x3a);

  /** The first section of this type. Throws an Error if there is none. */
  section(type: number): Section {
    const headers = Array.from({ length: this.u16(0x3c) }, (_, index) => this.#header(index));
    const header = headers.find((at) => this.u32(at + 4) === type);
    if (header === undefined) throw new Error(`it has no section of type ${type}`);
    const strings = this.u64(this.#header(this.u32(header + 0x28)) + 0x18);
    return { offset: this.u64(header + 0x18), size: this.u64(header + 0x20), strings };
  }

  text(at: number): string {
    return this.bytes.toString('latin1', at, this.bytes.indexOf(0, at));
  }

  *needs(): Generator<Need> {
    const { offset, strings } = this.section(SECTIONS.needs);
    for (const file of this.#linked(offset, 12)) {
      const library = this.text(strings + this.u32(file + 4));
      for (const at of this.#linked(file + this.u32(file + 8), 12))
        yield { library, name: this.text(strings + this.u32(at + 8)), index: this.u16(at + 6), at };
    }
  }

  /** The places of a list's entries, each of which says at `next` how far away the next one is. */
  *#linked(first: number, next: number): Generator<number> {
    for (let at = first, step = 1; step > 0; at += step) {
      yield at;
      step = this.u32(at + next);
    }
  }
}

/** Makes one symbol that has the unwanted version its namesake of the version `oldest`. */
function rename(library: Library, symbol: number, strings: number, version: number, oldest: Need): void {
  const { bytes } = library;
  const name = library.text(strings + library.u32(symbol));
  if (!name.startsWith(PREFIX)) throw new Error(`its symbol ${name} has no older namesake`);
  bytes.writeUInt32LE(library.u32(symbol) + PREFIX.length, symbol);
  bytes.writeUInt16LE(oldest.index, version);
}

/**
 * Returns a copy of the binary that needs no glibc 2.38; of one that does not need it, or of such a copy, an equal one. Throws an
 * Error, whose message begins with "it" or "its", if it is no such binary, or needs 2.38 for anything else.
 */
export function forOlderGlibc(binary: Uint8Array): Buffer {
  const library = new Library(Buffer.from(binary));
  const needs = [...library.needs()].filter(({ library: file }) => file.startsWith('libc.so'));
  const unwanted = needs.find(({ name }) => name === UNWANTED);
  if (unwanted === undefined) return library.bytes;
  const oldest = OLDEST.map((known) => needs.find(({ name }) => name === known)).find(Boolean);
  if (oldest === undefined) throw new Error('it needs no version that its symbols could have');
  const symbols = library.section(SECTIONS.symbols);
  const versions = library.section(SECTIONS.versions);
  for (let index = 0; index < symbols.size / SYMBOL_BYTES; index++) {
    const version = versions.offset + index * VERSION_BYTES;
    if (library.u16(version) === unwanted.index)
      rename(library, symbols.offset + index * SYMBOL_BYTES, symbols.strings, version, oldest);
  }
  library.bytes.writeUInt16LE(WEAK, unwanted.at + 4);
  return library.bytes;
}
