/** What callers say, made before the measurement: cut, paused, mixed with what is around them, and equally loud. */
import { bytesOf, gain, joined, mixed, scaled, silence, trimmed } from '../../audio/level.js';
import { babbled, hummed, normalised, telephoned, televised } from '../../audio/surroundings.js';
import type { Clip } from '../../programs/trials.js';
import { randomFrom } from '../../random.js';
import { digestOf, kept } from '../../speakers/clip-cache.js';
import type { Speaker } from '../../speakers/speaker.js';

/** Clips of each speaker by their text: made once in a run, and each one object, so that it is encoded once. */
const made = new WeakMap<Speaker, Map<string, Promise<Int16Array>>>();

async function make(speaker: Speaker, text: string): Promise<Int16Array> {
  const say = async (): Promise<Int16Array> => normalised(trimmed(await speaker.say(text)));
  const { name, version } = speaker;
  return version === undefined ? say() : kept(digestOf('spoken', name, version, text), say);
}

/** Without silence around it, and as loud as everything. */
export function spokenBy(speaker: Speaker, text: string): Promise<Int16Array> {
  const clips = made.get(speaker) ?? new Map<string, Promise<Int16Array>>();
  made.set(speaker, clips);
  const clip = clips.get(text) ?? make(speaker, text);
  clips.set(text, clip);
  return clip;
}

/** Silence behind every clip, as a microphone sends it. */
const REST_MS = 40;

export const clipOf = (samples: Int16Array): Clip => ({ pcm: bytesOf(joined(samples, silence(REST_MS))) });

const seedOf = (text: string): number =>
  [...text].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7);

/** Shortest and longest pause between two groups of digits, in ms. */
const GROUP_MS = { least: 500, most: 800 } as const;

/** Groups that are parted by commas, with pauses of people between them; own recordings have their own. */
export async function grouped(speaker: Speaker, text: string): Promise<Int16Array> {
  if (speaker.saysAll) return spokenBy(speaker, text);
  const random = randomFrom(seedOf(text));
  const parts: Int16Array[] = [];
  for (const group of text.split(',')) {
    const pause = GROUP_MS.least + random() * (GROUP_MS.most - GROUP_MS.least);
    if (parts.length > 0) parts.push(silence(pause));
    parts.push(await spokenBy(speaker, group.trim()));
  }
  return joined(...parts);
}

/** Both halves, which `|` parts, with so many ms between them; own recordings have their own pause. */
export async function paused(speaker: Speaker, text: string, ms: number): Promise<Int16Array> {
  if (speaker.saysAll) return spokenBy(speaker, text);
  const halves: Int16Array[] = [];
  for (const half of text.split('|')) halves.push(await spokenBy(speaker, half.trim()));
  return joined(halves[0]!, silence(ms), ...halves.slice(1));
}

export const byTelephone = (samples: Int16Array): Int16Array => telephoned(samples);

/** Somebody else, so many dB (a negative number) quieter than the caller. */
export const quieter = (samples: Int16Array, db: number): Int16Array => scaled(samples, gain(db));

export const television = (voices: readonly Int16Array[]): Int16Array => televised(voices);

export const hum = (speaker: Speaker): Int16Array => hummed(speaker.pitch);

/** How long a crowd lasts until it begins anew. */
const CROWD_SECONDS = 8;

/** Others who talk at once. */
export const crowdOf = (voices: readonly Int16Array[]): Int16Array => babbled(voices, CROWD_SECONDS);

/** A caller in a room that sounds like that, which is so many dB quieter (a negative number). */
export function inCrowd(samples: Int16Array, room: Int16Array, db: number): { clip: Clip; room: Uint8Array } {
  const around = quieter(room, db);
  const clip = { pcm: bytesOf(mixed(samples, around)), isWhole: true };
  return { clip, room: bytesOf(around) };
}
