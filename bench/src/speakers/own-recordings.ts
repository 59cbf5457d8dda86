/** Recordings of the user's own: a folder for each caller, in it one for each kind, and in that WAV files, each beside its words. */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { samplesOfWav, type Source, type Speaker, TEXT_KINDS, type Texts } from './speaker.js';

interface Recording {
  readonly text: string;
  readonly wav: Buffer;
}

const foldersIn = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();

/** Throws Error where a file's words are missing, so that no recording is left out without a word. */
function recordingAt(file: string): Recording {
  const words = file.replace(/\.wav$/iu, '.txt');
  if (!existsSync(words)) throw new Error(`${file}: there is no ${path.basename(words)} with its words`);
  return { text: readFileSync(words, 'utf8').trim(), wav: readFileSync(file) };
}

function recordingsIn(folder: string): Partial<Record<keyof Texts, Recording[]>> {
  const kinds = foldersIn(folder);
  const unknown = kinds.find((kind) => !(TEXT_KINDS as readonly string[]).includes(kind));
  if (unknown !== undefined)
    throw new Error(`${path.join(folder, unknown)}: the kinds are ${TEXT_KINDS.join(', ')}`);
  const wavsOf = (kind: string): string[] =>
    readdirSync(path.join(folder, kind))
      .filter((name) => /\.wav$/iu.test(name))
      .sort();
  return Object.fromEntries(
    kinds.map((kind) => [kind, wavsOf(kind).map((name) => recordingAt(path.join(folder, kind, name)))]),
  );
}

function speakerOf(folder: string, name: string): Speaker {
  const recordings = recordingsIn(path.join(folder, name));
  const all = Object.values(recordings).flat();
  const version = createHash('sha256');
  for (const { wav } of all) version.update(wav);
  return {
    name,
    source: `own recording, ${name}`,
    origin: 'recorded',
    version: version.digest('hex'),
    pitch: 0,
    saysAll: true,
    texts: Object.fromEntries(
      Object.entries(recordings).map(([kind, of]) => [kind, of.map(({ text }) => text)]),
    ),
    async say(text) {
      const found = all.find((recording) => recording.text === text);
      if (found === undefined) throw new Error(`${name} has not recorded "${text}"`);
      return samplesOfWav(found.wav);
    },
  };
}

/** Throws Error where the folder, or what it holds, is not as the bench's README says. */
export function ownSource(folder: string): Source {
  const speakers = foldersIn(folder).map((name) => speakerOf(folder, name));
  return {
    name: 'Own recordings',
    speakers,
    ...(speakers.length === 0 && { missing: `no folder in ${folder}` }),
  };
}
