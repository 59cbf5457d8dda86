/** Recorded human speech, as callers say it: found where its package is, checked, cut, and made as loud as all other speech. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { levelled, RATE } from '../../audio/level.js';
import { resampled } from '../../audio/resample.js';
import { wavHeader } from '../../audio/shape.js';
import { installed } from '../../packages.js';
import type { Recorded } from '../../programs/calls.js';
import { fromAfar, type Recordings } from '../call-load.js';
import type { Clip, Collection, Place } from './recorded-clips.js';

/** Frames this many decibels quieter than the loudest are the room's noise, not the voice. */
const ROOM_DB = 30;

interface Samples {
  readonly samples: Int16Array;
  readonly rate: number;
}

async function folderOf(place: Place, given: string | undefined): Promise<string> {
  return 'npm' in place ? installed(place.npm) : (given ?? place.system);
}

async function samplesOf(file: string, sha256: string): Promise<Samples> {
  const bytes = await readFile(file);
  if (createHash('sha256').update(bytes).digest('hex') !== sha256)
    throw new Error(`${path.basename(file)} is another recording than the one that was cut`);
  const { from, rate } = wavHeader(bytes);
  // Copies the bytes, since 16-bit samples can only be read from an even offset.
  return { samples: new Int16Array(Uint8Array.from(bytes.subarray(from)).buffer), rate };
}

/** `folder`: the one with the collection's files. Throws Error if a file is missing, or is not the one that was cut. */
export async function clipsOf(
  { files, sentences, background, package: source }: Omit<Collection, 'place'>,
  folder: string,
): Promise<Recordings> {
  const recordings = new Map<string, Samples>();
  for (const [file, sha256] of Object.entries(files))
    recordings.set(file, await samplesOf(path.join(folder, file), sha256));
  const cut = ({ file, from, to, text }: Clip): Recorded => {
    const { samples, rate } = recordings.get(file)!;
    const pcm = levelled(resampled(samples.subarray(from, to), rate, RATE), ROOM_DB);
    return { pcm, text, origin: 'recorded', source };
  };
  return { sentence: sentences.map(cut), others: background.map(cut).map(fromAfar) };
}

/** The clips of a collection, from `given` or else the folder of its package. A package from npm is installed, and needs no folder. */
export async function recordedSpeech(collection: Collection, given?: string): Promise<Recordings> {
  return clipsOf(collection, await folderOf(collection.place, given));
}
