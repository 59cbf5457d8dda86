/**
 * The files of an archive as they stream by, whatever its kind: `{ name, size, data }`, regular files only. Links,
 * folders and devices are passed over. Nothing is written here.
 */
import fs from 'node:fs';
import { createGunzip } from 'node:zlib';
import { readTar } from '../setup/tar.mjs';
import { bunzip2 } from './bunzip2.mjs';
import { readZip } from './zip.mjs';

async function* gunzip(chunks) {
  const plain = createGunzip();
  chunks.on('error', (error) => plain.destroy(error));
  try {
    yield* chunks.pipe(plain);
  } finally {
    plain.destroy();
  }
}

/** A tar, unpacked by `plainly`. */
const tar = (plainly) =>
  async function* (file, limits) {
    const source = fs.createReadStream(file);
    try {
      yield* readTar(plainly(source), limits);
    } finally {
      source.destroy();
    }
  };

const KINDS = { 'tar.bz2': tar(bunzip2), 'tar.gz': tar(gunzip), zip: readZip };

/** The files of `file`. `limits` are `{ files, read }`: how many are wanted, how many bytes may be read. Throws what its reader throws. */
export const filesOf = (file, kind, { files, read }) =>
  KINDS[kind](file, { entries: files * 2, totalBytes: read });
