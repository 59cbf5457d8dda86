/**
 * eSpeak NG's variants: its voices of English, each with another larynx, which the gateway does not offer. The program is the
 * checkout's optional package.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { joined, RATE } from '../audio/level.js';
import { resampled } from '../audio/resample.js';
import type { Source, Speaker } from './speaker.js';

const PACKAGE = '@echogarden/espeak-ng-emscripten';
const PROGRAM_RATE = 22_050;

/** As the program takes it: a voice and a variant; words a minute, as people differ; the pitch of its hums. */
interface Variant {
  readonly name: string;
  readonly voice: string;
  readonly pace: number;
  readonly pitch: number;
}

const VARIANTS: readonly Variant[] = [
  { name: 'espeak-annie', voice: 'en-us+Annie', pace: 155, pitch: 190 },
  { name: 'espeak-scot', voice: 'en-gb-scotland+m7', pace: 150, pitch: 105 },
  { name: 'espeak-rp', voice: 'en-gb-x-rp+f2', pace: 165, pitch: 180 },
  { name: 'espeak-nyc', voice: 'en-us-nyc+m3', pace: 160, pitch: 95 },
  { name: 'espeak-linda', voice: 'en-us+Linda', pace: 155, pitch: 170 },
];

interface Program {
  /** 0 where it knows the voice. */
  set_voice(name: string): number;
  set_rate(wordsAMinute: number): void;
  synthesize(text: string, heard: (samples: Int16Array | null) => void): void;
}

interface Loaded {
  readonly default: () => Promise<{ readonly eSpeakNGWorker: new () => Program }>;
}

function spoken(program: Program, { voice, pace }: Variant, text: string): Int16Array {
  if (program.set_voice(voice) !== 0) throw new Error(`eSpeak has no voice ${voice}`);
  program.set_rate(pace);
  const parts: Int16Array[] = [];
  // Copied: they lie in the program's memory, which is used again.
  program.synthesize(text, (samples) => void (samples?.length && parts.push(samples.slice())));
  return resampled(joined(...parts), PROGRAM_RATE, RATE);
}

/** The variants, by the package of that checkout. */
export async function espeakSource(checkout: string): Promise<Source> {
  const name = 'eSpeak NG';
  try {
    const found = createRequire(path.join(checkout, 'package.json')).resolve(PACKAGE);
    const about = JSON.parse(await readFile(path.join(path.dirname(found), 'package.json'), 'utf8')) as {
      readonly version: string;
    };
    const { default: load } = (await import(pathToFileURL(found).href)) as Loaded;
    const program = new (await load()).eSpeakNGWorker();
    const speakerOf = (variant: Variant): Speaker => ({
      name: variant.name,
      source: `eSpeak NG, ${variant.voice}`,
      origin: 'synthetic',
      version: `${about.version} ${variant.voice} ${variant.pace}`,
      pitch: variant.pitch,
      say: async (text) => spoken(program, variant, text),
    });
    return { name, speakers: VARIANTS.map(speakerOf) };
  } catch (error) {
    const missing = `${PACKAGE} cannot be loaded from the checkout: ${(error as Error).message.split('\n')[0]}`;
    return { name, speakers: [], missing };
  }
}
