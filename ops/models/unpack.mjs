/**
 * An archive into a folder of ours. It is not trusted: names stay inside, links are passed over, files and bytes are
 * bounded, nothing is written twice. What is written is hashed on its way.
 */
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { diskFault, SetupError } from '../setup/failure.mjs';
import { writeFrom } from '../setup/written-file.mjs';
import { filesOf } from './archives.mjs';

/** `*` stands for any part of one name, `**` for any names. */
const globOf = (glob) =>
  new RegExp(
    `^${glob
      .split(/(\*\*|\*)/)
      .map((part) => ({ '*': '[^/]*', '**': '.*' })[part] ?? part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
      .join('')}$`,
  );

export const matches = (name, globs) => globs.some((glob) => globOf(glob).test(name));

/** Beside each file, archives made on macOS may hold one of these with its attributes. */
const APPLE_DOUBLE = /(^|\/)\._/;

/** The name below `root`; undefined for what is not wanted. Throws SetupError where it leads out. */
export function placeOf(name, { root = '', only = ['**'] }) {
  const parts = name.split('/').filter((part) => part !== '.' && part !== '');
  if (name.startsWith('/') || parts.includes('..') || /[\\\0]/.test(name))
    throw new SetupError(`the archive holds the unsafe name ${JSON.stringify(name.slice(0, 100))}`);
  const within = parts.join('/');
  const below = root === '' ? within : within.startsWith(`${root}/`) && within.slice(root.length + 1);
  if (!below || APPLE_DOUBLE.test(below) || !matches(below, only)) return undefined;
  return below;
}

/** Writes `data` to a file that must not be there yet, and returns `{ path, bytes, sha256 }`. */
export async function writeHashed(data, folder, name, most = Infinity) {
  const file = path.join(folder, ...name.split('/'));
  fs.mkdirSync(path.dirname(file), { recursive: true });
  const hash = createHash('sha256');
  let bytes = 0;
  const hashed = async function* (chunks) {
    for await (const chunk of chunks) {
      bytes += chunk.length;
      if (bytes > most) throw new SetupError('the archive unpacks to too much');
      hash.update(chunk);
      yield chunk;
    }
  };
  await writeFrom([data, hashed], file, { flags: 'wx' });
  return { path: name, bytes, sha256: hash.digest('hex') };
}

async function writeAll(files, folder, item, limits, note) {
  const written = [];
  let left = limits.bytes;
  for await (const { name, data } of files) {
    const place = placeOf(name, item);
    if (place === undefined) continue;
    if (written.length >= limits.files) throw new SetupError('the archive holds too many files');
    const file = await writeHashed(data, folder, place, left);
    left -= file.bytes;
    written.push(file);
    note(`${written.length} files`);
  }
  return written;
}

/** The reason of a failure, for the user: our own message, the disk's, or the archive's. */
function explained(error) {
  if (error instanceof SetupError || error.name === 'AbortError') return error;
  if (error.code === 'EEXIST') return new SetupError('the archive holds a file twice', { cause: error });
  if (diskFault(error) || error.syscall) return error;
  return new SetupError(`the archive was refused: ${error.message}`, { cause: error });
}

/**
 * Unpacks an archive of the item's kind into `folder`, without its `root`, what `only` names of it. Returns the files as
 * `{ path, bytes, sha256 }`. `limits` are `{ files, bytes, read }`: what may be written, and what may have to be read for
 * it. Throws SetupError, or an error of the disk.
 */
export async function unpack(file, folder, item, limits, note = () => {}) {
  try {
    return await writeAll(filesOf(file, item.unpack, limits), folder, item, limits, note);
  } catch (error) {
    throw explained(error);
  }
}
