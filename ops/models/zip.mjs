/**
 * The regular files of a zip archive, wheels among them, in the order of its directory, as yauzl reads them. The archive
 * is not trusted: entries are bounded, yauzl compares sizes, and this module the checksums, which yauzl leaves alone.
 * What is no plain file of its kind is passed over (links) or refused (encryption, other compressions). Nothing is
 * written here.
 */
import fs from 'node:fs';
import { open } from 'node:fs/promises';

const KIND_OF_FILE = 0o170000;
const REGULAR = new Set([0, 0o100000]);

export class ZipError extends Error {}

/** zlib has one from Node 20.15 on. */
const CRC = Int32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte;
  for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  return sum;
});

function crcOf(bytes, before) {
  let sum = before;
  for (const byte of bytes) sum = (sum >>> 8) ^ CRC[(sum ^ byte) & 0xff];
  return sum;
}

/** Errors of the system stay as they are; all others are about the archive. */
const explained = (error) =>
  error.syscall || error instanceof ZipError ? error : new ZipError(error.message, { cause: error });

/** The entry's content. Throws at its end where it is another than the directory says. */
async function* contentOf(archive, entry) {
  let found = -1;
  try {
    for await (const chunk of await archive.openReadStreamPromise(entry)) {
      found = crcOf(chunk, found);
      yield chunk;
    }
  } catch (error) {
    throw explained(error);
  }
  if (~found >>> 0 !== entry.crc32) throw new ZipError('a file is damaged');
}

const isRegular = (name, { externalFileAttributes }) =>
  !name.endsWith('/') && REGULAR.has((externalFileAttributes >>> 16) & KIND_OF_FILE);

/**
 * An archive, opened. It reads from files by this, since yauzl asks the system for any place that an archive names: for one beyond
 * what a number can say, that is an error which nobody could catch.
 */
async function opened(path, file) {
  // Set-up is loaded before its packages are there.
  const { default: yauzl } = await import('yauzl');
  const { size } = await file.stat();
  const reader = Object.assign(new yauzl.RandomAccessReader(), {
    read: (bytes, at, length, place, done) =>
      place + length > size
        ? setImmediate(() => done(new ZipError('it ends early')))
        : fs.read(file.fd, bytes, at, length, place, done),
    _readStreamForRange: (start, end) => fs.createReadStream(path, { start, end: end - 1 }),
  });
  // Names stay bytes: yauzl would read them as MS-DOS wrote them.
  return yauzl.fromRandomAccessReaderPromise(reader, size, { autoClose: false, decodeStrings: false });
}

/** Yields `{ name, size, data }` for each regular file, `data` an async iterable of its bytes. Throws ZipError. */
export async function* readZip(path, limits) {
  const file = await open(path);
  try {
    const archive = await opened(path, file);
    if (archive.entryCount > limits.entries) throw new ZipError('the archive holds too many files');
    for await (const entry of archive.eachEntry()) {
      const name = entry.fileName.toString();
      if (isRegular(name, entry))
        yield { name, size: entry.uncompressedSize, data: contentOf(archive, entry) };
    }
  } catch (error) {
    throw explained(error);
  } finally {
    await file.close();
  }
}
