/**
 * The natural voice that a first start and the console offer: an entry of the model catalogue (ops/models), whose licence and lineage are
 * permissive. It is no part of an installation, since it is larger than all of that.
 */
import { readFileSync } from 'node:fs';
import { commandLine } from '../../contracts/command-line.js';
import { CHECKOUT } from '../../contracts/places.js';

export const NATURAL_VOICE = 'kokoro-en-int8';
const FILE = new URL('ops/models/kokoro.json', CHECKOUT);

interface Entry {
  readonly name: string;
  readonly licence: string;
  readonly sources: readonly { readonly items: readonly { readonly bytes: number }[] }[];
}

/** The command that adds it, and what it is, in a line; undefined where the catalogue is not there. */
export function naturalVoice(file = FILE): string | undefined {
  try {
    const entries = JSON.parse(readFileSync(file, 'utf8')) as readonly Entry[];
    const { name, licence, sources } = entries.find((entry) => entry.name === NATURAL_VOICE)!;
    const bytes = sources[0]!.items.reduce((sum, item) => sum + item.bytes, 0);
    return `${commandLine('models', `add ${name}`)}   English, ${Math.ceil(bytes / 1e6)} MB, ${licence}`;
  } catch {
    return undefined;
  }
}
