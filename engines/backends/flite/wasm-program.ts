/**
 * A WebAssembly program that is run again and again in one memory. As it is delivered, each instance makes a memory of
 * its own and copies all data into it, of Flite 17 MB of voices: that takes longer than to say a word. Here the program
 * imports its memory, in which the constants stay from run to run.
 *
 * Invariants: a run finds its memory as it is after the start of a new program, provided that programs do not write
 * their constants; a memory whose run has thrown, or that has grown large, is not used again.
 */

/** Sections of the binary format (https://webassembly.github.io/spec/core/binary/modules.html). */
const SECTIONS = { custom: 0, imports: 2, memories: 5, data: 11 };
const HEADER_BYTES = 8;
/** The kind of an import that is a memory. */
const MEMORY_KIND = 2;
/** Around the address of a segment of data. */
const OPCODES = { constant: 0x41, end: 0x0b };

/** Where the program imports its memory from. */
const MODULE = 'env';
const FIELD = 'memory';

/** The most of a memory that is used again. */
const KEPT_BYTES = 48 * 1024 * 1024;

class Reader {
  #at = 0;

  constructor(private readonly bytes: Uint8Array) {}

  get ended(): boolean {
    return this.#at >= this.bytes.length;
  }

  byte(): number {
    return this.bytes[this.#at++]!;
  }

  number(): number {
    const byte = this.byte();
    return byte < 128 ? byte : byte - 128 + 128 * this.number();
  }

  take(length = this.bytes.length - this.#at): Uint8Array {
    return this.bytes.subarray(this.#at, (this.#at += length));
  }
}

const numberBytes = (value: number): number[] =>
  value < 128 ? [value] : [(value % 128) + 128, ...numberBytes(Math.floor(value / 128))];

const nameBytes = (name: string): number[] => [name.length, ...Buffer.from(name)];

interface Segment {
  readonly at: number;
  readonly bytes: Uint8Array;
}

function readSegment(data: Reader): Segment {
  const [memory, opcode, at, end] = [data.number(), data.byte(), data.number(), data.byte()];
  if (memory !== 0 || opcode !== OPCODES.constant || end !== OPCODES.end)
    throw new Error('A segment of data of another kind');
  return { at, bytes: data.take(data.number()) };
}

interface Parts {
  /** The program without data, whose memory is imported. */
  readonly code: Uint8Array;
  /** Of its memory. */
  readonly pages: number;
  readonly segments: readonly Segment[];
}

function takeApart(program: Uint8Array): Parts {
  const reader = new Reader(program);
  const header = reader.take(HEADER_BYTES);
  const sections = new Map<number, Uint8Array>();
  while (!reader.ended) sections.set(reader.byte(), reader.take(reader.number()));
  const taken = (section: number): Reader => {
    const contents = sections.get(section) ?? Uint8Array.of(0);
    sections.delete(section);
    return new Reader(contents);
  };
  taken(SECTIONS.custom);
  const [imports, memories, data] = [taken(SECTIONS.imports), taken(SECTIONS.memories), taken(SECTIONS.data)];
  const count = imports.number() + memories.number();
  const limits = memories.take();
  const memory = [...nameBytes(MODULE), ...nameBytes(FIELD), MEMORY_KIND, ...limits];
  sections.set(SECTIONS.imports, Buffer.from([...numberBytes(count), ...imports.take(), ...memory]));
  const inOrder = [...sections].sort(([one], [other]) => one - other);
  const code = inOrder.flatMap(([section, contents]) => [
    Uint8Array.of(section, ...numberBytes(contents.length)),
    contents,
  ]);
  return {
    code: Buffer.concat([header, ...code]),
    pages: new Reader(limits.subarray(1)).number(),
    segments: Array.from({ length: data.number() }, () => readSegment(data)),
  };
}

export class WasmProgram {
  readonly #module: WebAssembly.Module;
  readonly #pages: number;
  /** The first segment, as linkers order them. */
  readonly #constants: Segment;
  readonly #variables: readonly Segment[];
  /** Of the run before. */
  #memory: WebAssembly.Memory | undefined;

  private constructor(module: WebAssembly.Module, { pages, segments }: Parts) {
    const [constants = { at: 0, bytes: new Uint8Array() }, ...variables] = segments;
    this.#module = module;
    this.#pages = pages;
    this.#constants = constants;
    this.#variables = variables;
  }

  static async load(program: Uint8Array): Promise<WasmProgram> {
    const parts = takeApart(program);
    return new WasmProgram(await WebAssembly.compile(parts.code), parts);
  }

  /** Runs `use` with an instance as new. */
  run<Result>(imports: WebAssembly.Imports, use: (instance: WebAssembly.Instance) => Result): Result {
    const memory = this.#takeMemory();
    const instance = new WebAssembly.Instance(this.#module, { ...imports, [MODULE]: { [FIELD]: memory } });
    const result = use(instance);
    if (memory.buffer.byteLength <= KEPT_BYTES) this.#memory = memory;
    return result;
  }

  #takeMemory(): WebAssembly.Memory {
    const used = this.#memory;
    this.#memory = undefined;
    const memory = used ?? new WebAssembly.Memory({ initial: this.#pages });
    const bytes = new Uint8Array(memory.buffer);
    const { at, bytes: constants } = this.#constants;
    if (used) bytes.fill(0, 0, at).fill(0, at + constants.length);
    else bytes.set(constants, at);
    for (const variables of this.#variables) bytes.set(variables.bytes, variables.at);
    return memory;
  }
}
