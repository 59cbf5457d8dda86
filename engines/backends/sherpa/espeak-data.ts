/**
 * espeak's data as a folder, for voices published without it. The optional package of the engine `espeak` has the files
 * joined into one, and its program has their offsets. They are unpacked once, 25 MB, and are under the GPL like the package.
 */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ESPEAK_DATA_PACKAGE } from '../espeak/description.js';

const IN_PACKAGE = /\{filename:"\/usr\/share\/(espeak-ng-data\/[^"]+)",start:(\d+),end:(\d+)\}/g;

interface Piece {
  readonly name: string;
  readonly from: number;
  readonly to: number;
}

function programFile(): string {
  try {
    return fileURLToPath(import.meta.resolve(ESPEAK_DATA_PACKAGE));
  } catch (error) {
    throw new Error(
      `This voice needs espeak's data: put a folder espeak-ng-data beside it, or npm install ${ESPEAK_DATA_PACKAGE}`,
      { cause: error },
    );
  }
}

async function piecesOf(program: string): Promise<readonly Piece[]> {
  const text = await readFile(program, 'utf8');
  const pieces = [...text.matchAll(IN_PACKAGE)].map(([, name = '', from, to]) => ({
    name,
    from: Number(from),
    to: Number(to),
  }));
  if (pieces.some(({ name }) => name === 'espeak-ng-data/phontab')) return pieces;
  throw new Error(`${ESPEAK_DATA_PACKAGE} is laid out in a way that is not known`);
}

async function layOut(into: string): Promise<void> {
  const program = programFile();
  const pieces = await piecesOf(program);
  const data = await open(join(dirname(program), 'espeak-ng.data'));
  try {
    for (const { name, from, to } of pieces) {
      const place = join(into, name);
      await mkdir(dirname(place), { recursive: true });
      const bytes = Buffer.alloc(to - from);
      await data.read(bytes, 0, bytes.length, from);
      await writeFile(place, bytes);
    }
  } finally {
    await data.close();
  }
}

/**
 * Makes a folder in one step: `fill` fills a temporary one beside it. If another process was quicker, its folder stays.
 */
export async function makeFolder(folder: string, fill: (into: string) => Promise<void>): Promise<void> {
  await mkdir(dirname(folder), { recursive: true });
  const partial = await mkdtemp(`${folder}.partial-`);
  try {
    await fill(partial);
    await rename(partial, folder).catch((error: unknown) => {
      if (!existsSync(folder)) throw error;
    });
  } finally {
    await rm(partial, { recursive: true, force: true });
  }
}

/** The place of the data of `prepareEspeakData` below a folder. */
export const espeakDataIn = (folder: string): string => join(folder, 'espeak-ng', 'espeak-ng-data');

/** Unpacks espeak's data below `folder`, unless they are there already. Throws errors written for the operator. */
export async function prepareEspeakData(folder: string): Promise<void> {
  const place = dirname(espeakDataIn(folder));
  if (!existsSync(place)) await makeFolder(place, layOut);
}
