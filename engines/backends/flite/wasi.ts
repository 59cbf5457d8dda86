/**
 * The part of WASI that a program needs to take arguments, print and write one file, all in memory.
 * `node:wasi` crashes if a module is instantiated again and again.
 *
 * Invariants: the program sees no file, clock resolution or environment of this machine; its output
 * is bounded in bytes.
 */
import type { WasmProgram } from './wasm-program.js';

const OK = 0;
const BAD_DESCRIPTOR = 8;
const NO_ENTRY = 44;
const NO_SPACE = 51;

const STANDARD_STREAMS = 3;
const DIRECTORY = 3;
const OPEN_CREATE = 1;
const OPEN_TRUNCATE = 8;
const FILE_TYPES = { characterDevice: 2, directory: 3, regular: 4 };
const ALL_RIGHTS = 0xffff_ffff_ffff_ffffn;

const MiB = 1024 * 1024;
const FILE_BYTES = 64 * MiB;
const PRINTED_BYTES = 4 * MiB;

/** The folder that the program may write in. */
export const OUTPUT_FOLDER = '/out';

/** A file in memory, which grows with each write. */
class MemoryFile {
  #bytes = new Uint8Array(64 * 1024);
  #length = 0;

  constructor(readonly limit: number) {}

  get length(): number {
    return this.#length;
  }

  get contents(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  truncate(): void {
    this.#length = 0;
  }

  /** False if the file would exceed its limit. */
  write(position: number, bytes: Uint8Array): boolean {
    const end = position + bytes.length;
    if (end > this.limit) return false;
    if (end > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(this.#bytes.length * 2, end));
      grown.set(this.contents);
      this.#bytes = grown;
    }
    this.#bytes.set(bytes, position);
    this.#length = Math.max(this.#length, end);
    return true;
  }
}

interface OpenFile {
  readonly file: MemoryFile;
  position: number;
}

class Exit extends Error {
  constructor(readonly code: number) {
    super(`exit ${code}`);
  }
}

export interface ProgramRun {
  readonly exitCode: number;
  /** Its standard output. */
  readonly printed: string;
  /** The last file it created; empty if there is none. */
  readonly output: Uint8Array;
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

class Process {
  readonly #arguments: readonly Uint8Array[];
  readonly #files = new Map<string, MemoryFile>();
  readonly #open = new Map<number, OpenFile>();
  readonly #standard = [0, 1, 2].map(() => new MemoryFile(PRINTED_BYTES));
  #nextDescriptor = DIRECTORY + 1;
  #memory!: WebAssembly.Memory;

  constructor(args: readonly string[]) {
    this.#arguments = args.map((argument) => encoder.encode(`${argument.replaceAll('\0', ' ')}\0`));
  }

  run(program: WasmProgram): ProgramRun {
    const exitCode = program.run({ wasi_snapshot_preview1: this.#calls() }, ({ exports }) => {
      this.#memory = exports.memory as WebAssembly.Memory;
      return this.#start(exports._start as () => void);
    });
    return {
      exitCode,
      printed: decoder.decode(this.#standard[1]?.contents),
      output: [...this.#files.values()].at(-1)?.contents ?? new Uint8Array(),
    };
  }

  #start(start: () => void): number {
    try {
      start();
      return 0;
    } catch (error) {
      if (error instanceof Exit) return error.code;
      throw error;
    }
  }

  get #view(): DataView {
    return new DataView(this.#memory.buffer);
  }

  #bytes(at: number, length: number): Uint8Array {
    return new Uint8Array(this.#memory.buffer, at, length);
  }

  /** The buffers of an array of (pointer, length). */
  #vectors(at: number, count: number): Uint8Array[] {
    const view = this.#view;
    return Array.from({ length: count }, (_, index) =>
      this.#bytes(view.getUint32(at + index * 8, true), view.getUint32(at + index * 8 + 4, true)),
    );
  }

  #calls(): WebAssembly.ModuleImports {
    return {
      args_sizes_get: (count: number, size: number) => this.#argumentSizes(count, size),
      args_get: (pointers: number, text: number) => this.#copyArguments(pointers, text),
      clock_time_get: (_id: number, _precision: bigint, at: number) => this.#time(at),
      fd_close: (descriptor: number) => (this.#open.delete(descriptor) ? OK : BAD_DESCRIPTOR),
      fd_fdstat_get: (descriptor: number, at: number) => this.#status(descriptor, at),
      fd_fdstat_set_flags: () => OK,
      fd_prestat_get: (descriptor: number, at: number) => this.#folder(descriptor, at),
      fd_prestat_dir_name: (_descriptor: number, at: number) => this.#folderName(at),
      fd_read: (descriptor: number, at: number, count: number, done: number) =>
        this.#read(descriptor, this.#vectors(at, count), done),
      fd_seek: (descriptor: number, offset: bigint, whence: number, at: number) =>
        this.#seek(descriptor, Number(offset), whence, at),
      fd_write: (descriptor: number, at: number, count: number, done: number) =>
        this.#write(descriptor, this.#vectors(at, count), done),
      path_open: (...call: [number, number, number, number, number, bigint, bigint, number, number]) =>
        this.#openPath(call[2], call[3], call[4], call[8]),
      proc_exit: (code: number) => {
        throw new Exit(code);
      },
    };
  }

  #argumentSizes(count: number, size: number): number {
    this.#view.setUint32(count, this.#arguments.length, true);
    const total = this.#arguments.reduce((sum, { length }) => sum + length, 0);
    this.#view.setUint32(size, total, true);
    return OK;
  }

  #copyArguments(pointers: number, text: number): number {
    let at = text;
    this.#arguments.forEach((argument, index) => {
      this.#view.setUint32(pointers + index * 4, at, true);
      this.#bytes(at, argument.length).set(argument);
      at += argument.length;
    });
    return OK;
  }

  /** Time stands still: a synthesiser needs none, and the same text gives the same audio. */
  #time(at: number): number {
    this.#view.setBigUint64(at, 0n, true);
    return OK;
  }

  #status(descriptor: number, at: number): number {
    const known = descriptor <= DIRECTORY || this.#open.has(descriptor);
    if (!known) return BAD_DESCRIPTOR;
    const { characterDevice, directory, regular } = FILE_TYPES;
    const type =
      descriptor < STANDARD_STREAMS ? characterDevice : descriptor === DIRECTORY ? directory : regular;
    this.#bytes(at, 24).fill(0);
    this.#view.setUint8(at, type);
    this.#view.setBigUint64(at + 8, ALL_RIGHTS, true);
    this.#view.setBigUint64(at + 16, ALL_RIGHTS, true);
    return OK;
  }

  #folder(descriptor: number, at: number): number {
    if (descriptor !== DIRECTORY) return BAD_DESCRIPTOR;
    this.#view.setUint8(at, 0);
    this.#view.setUint32(at + 4, OUTPUT_FOLDER.length, true);
    return OK;
  }

  #folderName(at: number): number {
    this.#bytes(at, OUTPUT_FOLDER.length).set(encoder.encode(OUTPUT_FOLDER));
    return OK;
  }

  #read(descriptor: number, buffers: Uint8Array[], done: number): number {
    const open = this.#open.get(descriptor);
    if (!open && descriptor >= STANDARD_STREAMS) return BAD_DESCRIPTOR;
    let total = 0;
    for (const buffer of open ? buffers : []) {
      const { file, position } = open as OpenFile;
      const bytes = file.contents.subarray(position, position + buffer.length);
      buffer.set(bytes);
      (open as OpenFile).position += bytes.length;
      total += bytes.length;
    }
    this.#view.setUint32(done, total, true);
    return OK;
  }

  #seek(descriptor: number, offset: number, whence: number, at: number): number {
    const open = this.#open.get(descriptor);
    if (!open) return BAD_DESCRIPTOR;
    const from = [0, open.position, open.file.length][whence] ?? 0;
    open.position = Math.max(0, from + offset);
    this.#view.setBigUint64(at, BigInt(open.position), true);
    return OK;
  }

  #write(descriptor: number, buffers: Uint8Array[], done: number): number {
    const open = this.#open.get(descriptor);
    const file = open?.file ?? this.#standard[descriptor];
    if (!file) return BAD_DESCRIPTOR;
    let total = 0;
    for (const bytes of buffers) {
      if (!file.write(open?.position ?? file.length, bytes)) return NO_SPACE;
      if (open) open.position += bytes.length;
      total += bytes.length;
    }
    this.#view.setUint32(done, total, true);
    return OK;
  }

  #openPath(name: number, length: number, flags: number, at: number): number {
    const path = decoder.decode(this.#bytes(name, length).slice());
    const file = this.#files.get(path) ?? (flags & OPEN_CREATE ? new MemoryFile(FILE_BYTES) : undefined);
    if (!file) return NO_ENTRY;
    if (flags & OPEN_TRUNCATE) file.truncate();
    this.#files.set(path, file);
    this.#open.set(this.#nextDescriptor, { file, position: 0 });
    this.#view.setUint32(at, this.#nextDescriptor++, true);
    return OK;
  }
}

/** Runs a program to its end, synchronously. A trap of the program is thrown as it is. */
export const runProgram = (program: WasmProgram, args: readonly string[]): ProgramRun =>
  new Process(args).run(program);
