/**
 * The SVOX Pico program with one voice: text in, samples out, in thousands of small steps between which the event loop may
 * turn; about a hundredth of the speech's duration in all. It interprets tags, so engines/backends/spoken-units.ts removes those of the text.
 *
 * Marks between words, which only pass through it, are how the times of words are known: the program takes the same number
 * of steps for each frame of audio, and a few more where a mark is in between.
 */
import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { PicoModule } from '@echogarden/svoxpico-wasm';
import { joinSamples } from '../../../contracts/audio.js';
import { ServiceError } from '../../../contracts/errors.js';
import { isTurnOver, type Steps } from '../../../contracts/time/loop-turn.js';
import { keepMemory } from '../kept-memory.js';

/** A tag that has no sound. */
export const MARK = '<mark name=""/>';

/** A place between two frames where the program did more than usual. */
export interface Break {
  /** In samples. */
  readonly at: number;
  /** The marks that passed; undefined: a sentence begins, whose first marks cannot be told from it. */
  readonly marks: number | undefined;
}

export interface PicoUtterance {
  readonly samples: Int16Array;
  readonly breaks: readonly Break[];
}

const DONE = 0;
const IDLE = 200;
const BUSY = 201;

/** Of this much an engine is made, whatever the voice. */
const AREA_BYTES = 2_500_000;
/** Far more than a run of the longest piece with its marks. */
const TEXT_BYTES = 16_384;
const NAME_BYTES = 200;
/** A frame, 4 ms, is handed out in halves. */
const BUFFER_BYTES = 128;

const STEPS_OF_A_FRAME = 13;
const STEPS_OF_A_MARK = 6;
/** A sentence takes hundreds. */
const MOST_STEPS_OF_MARKS = 60;
/** Two minutes of speech. */
const MOST_STEPS = 500_000;

const failure = (what: string, code: number): ServiceError =>
  new ServiceError('engine_failed', { message: `The voice could not ${what} (${code})` });

function succeed(what: string, code: number): void {
  if (code !== DONE) throw failure(what, code);
}

/** The marks that passed in so many steps without audio. */
function marksIn(steps: number): number | undefined {
  const more = steps - STEPS_OF_A_FRAME;
  return more > MOST_STEPS_OF_MARKS ? undefined : Math.round(more / STEPS_OF_A_MARK);
}

/** The program's memory, in which everything is allotted once. */
class Memory {
  constructor(private readonly module: PicoModule) {}

  allot = (bytes: number): number => this.module._malloc(bytes);

  put(bytes: Uint8Array, at = this.allot(bytes.length)): number {
    this.module.HEAPU8.set(bytes, at);
    return at;
  }

  text = (text: string): number => this.put(Buffer.from(`${text}\0`));

  bytes = (at: number, length: number): Uint8Array => this.module.HEAPU8.slice(at, at + length);

  /** An address. */
  long = (at: number): number => new DataView(this.module.HEAPU8.buffer).getUint32(at, true);

  /** A count. It is read after each step, so it is read quickly. */
  short = (at: number): number => this.module.HEAPU8[at]! + this.module.HEAPU8[at + 1]! * 256;
}

/** Loads one file of lingware, and returns where its name lies. */
function loadResource(module: PicoModule, memory: Memory, system: number, path: string): number {
  const [resource, name] = [memory.allot(4), memory.allot(NAME_BYTES)];
  succeed('be loaded', module._pico_loadResource(system, memory.text(path), resource));
  succeed('be loaded', module._pico_getResourceName(system, memory.long(resource), name));
  return name;
}

function openEngine(module: PicoModule, memory: Memory, paths: readonly string[]): number {
  const [systemAt, engineAt, voice] = [memory.allot(4), memory.allot(4), memory.text('voice')];
  succeed('begin', module._pico_initialize(memory.allot(AREA_BYTES), AREA_BYTES, systemAt));
  const system = memory.long(systemAt);
  const names = paths.map((path) => loadResource(module, memory, system, path));
  succeed('be made', module._pico_createVoiceDefinition(system, voice));
  for (const name of names)
    succeed('be made', module._pico_addResourceToVoiceDefinition(system, voice, name));
  succeed('be made', module._pico_newEngine(system, voice, engineAt));
  return memory.long(engineAt);
}

/** Collects frames, and sees where marks were. */
class Recording {
  readonly #parts: Int16Array[] = [];
  readonly #breaks: Break[] = [];
  #length = 0;
  #silentSteps = 0;

  /** A step that gave no audio. */
  pass(): void {
    this.#silentSteps += 1;
  }

  add(bytes: Uint8Array): void {
    if (this.#length > 0 && this.#silentSteps > STEPS_OF_A_FRAME)
      this.#breaks.push({ at: this.#length, marks: marksIn(this.#silentSteps) });
    this.#silentSteps = 0;
    this.#parts.push(new Int16Array(bytes.buffer, bytes.byteOffset, bytes.length / 2));
    this.#length += bytes.length / 2;
  }

  get utterance(): PicoUtterance {
    return { samples: joinSamples(this.#parts), breaks: this.#breaks };
  }
}

export interface PicoProgram {
  /** Speaks a text. Steps, one text at a time. Errors: `engine_failed`, after which it is not to be used. */
  speak(text: string): Steps<PicoUtterance>;
}

/** Loads the program with a voice of these files. Throws if one is missing. */
export async function loadPico(files: readonly string[]): Promise<PicoProgram> {
  const { default: load } = await import('@echogarden/svoxpico-wasm');
  const contents = await Promise.all(files.map((file) => readFile(file)));
  const module = await load();
  const memory = new Memory(module);
  const paths = files.map((file) => `/${basename(file)}`);
  paths.forEach((path, at) => module.FS.writeFile(path, contents[at]!));
  const engine = openEngine(module, memory, paths);
  for (const path of paths) module.FS.unlink(path);
  const [text, buffer] = [memory.allot(TEXT_BYTES), memory.allot(BUFFER_BYTES)];
  const [count, type] = [memory.allot(2), memory.allot(2)];
  const restore = keepMemory(module);

  /** Gives the program as much of the text as it takes; returns how much that was. */
  function give(at: number, end: number): number {
    succeed('read this text', module._pico_putTextUtf8(engine, text + at, end - at, count));
    return memory.short(count);
  }

  /** One step. Returns whether there is more to do for the text that it has. */
  function step(recording: Recording): boolean {
    const status = module._pico_getData(engine, buffer, BUFFER_BYTES, count, type);
    if (status !== BUSY && status !== IDLE) throw failure('speak this text', status);
    const length = memory.short(count);
    if (length === 0) recording.pass();
    else recording.add(memory.bytes(buffer, length));
    return status === BUSY;
  }

  function* speak(said: string): Steps<PicoUtterance> {
    const bytes = Buffer.from(`${said}\0`);
    if (bytes.length > TEXT_BYTES) throw failure('speak a text of this length', bytes.length);
    restore();
    memory.put(bytes, text);
    const recording = new Recording();
    let steps = 0;
    for (let at = 0; at < bytes.length;) {
      at += give(at, bytes.length);
      while (step(recording)) {
        if ((steps += 1) > MOST_STEPS) throw failure('end this text', steps);
        if (isTurnOver()) yield undefined;
      }
    }
    return recording.utterance;
  }
  return { speak };
}
