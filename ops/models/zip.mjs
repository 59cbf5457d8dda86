/**
 * A reader for zip archives, wheels among them: regular files in the order of the archive's directory, as they are read.
 * The archive is not trusted: counts are bounded, sizes and checksums compared, and what is no plain file of its kind
 * (links, encryption, other compressions, more than 4 GB) is passed over or refused. Nothing is written here.
 */
import fs from 'node:fs';
import { open } from 'node:fs/promises';
import { createInflateRaw } from 'node:zlib';

const END = { magic: 0x06054b50, bytes: 22, mostComment: 0xffff };
const ENTRY = { magic: 0x02014b50, bytes: 46 };
const HEADER = { magic: 0x04034b50, bytes: 30 };
const MOST_DIRECTORY_BYTES = 16 * 1024 * 1024;
/** Placeholders for numbers that did not fit (zip64). */
const BEYOND = 0xffffffff;
const ENCRYPTED = 1;
const METHODS = { 0: (stream) => stream, 8: (stream) => stream.pipe(createInflateRaw()) };
const KIND_OF_FILE = 0o170000;
const REGULAR = new Set([0, 0o100000]);

export class ZipError extends Error {}

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

async function bytesAt(file, from, length) {
  const bytes = Buffer.alloc(length);
  const { bytesRead } = await file.read(bytes, 0, length, from);
  if (bytesRead < length) throw new ZipError('it ends early');
  return bytes;
}

/** Offset of the directory, from the record at the archive's end. */
async function findDirectory(file) {
  const { size } = await file.stat();
  const from = Math.max(0, size - END.bytes - END.mostComment);
  const tail = await bytesAt(file, from, size - from);
  for (let at = tail.length - END.bytes; at >= 0; at--) {
    if (tail.readUInt32LE(at) !== END.magic || tail.readUInt16LE(at + 20) !== tail.length - at - END.bytes)
      continue;
    const [entries, bytes, start] = [
      tail.readUInt16LE(at + 10),
      tail.readUInt32LE(at + 12),
      tail.readUInt32LE(at + 16),
    ];
    if (start + bytes > from + at || bytes > MOST_DIRECTORY_BYTES)
      throw new ZipError('its directory is damaged');
    return { entries, bytes, start };
  }
  throw new ZipError('it has no directory');
}

function entryAt(directory, at) {
  if (at + ENTRY.bytes > directory.length || directory.readUInt32LE(at) !== ENTRY.magic)
    throw new ZipError('its directory is damaged');
  const lengths = [28, 30, 32].map((field) => directory.readUInt16LE(at + field));
  const name = directory.toString('utf8', at + ENTRY.bytes, at + ENTRY.bytes + lengths[0]);
  return {
    name,
    isRegular: !name.endsWith('/') && REGULAR.has((directory.readUInt32LE(at + 38) >>> 16) & KIND_OF_FILE),
    flags: directory.readUInt16LE(at + 8),
    method: directory.readUInt16LE(at + 10),
    sum: directory.readUInt32LE(at + 16),
    packed: directory.readUInt32LE(at + 20),
    size: directory.readUInt32LE(at + 24),
    header: directory.readUInt32LE(at + 42),
    next: at + ENTRY.bytes + lengths[0] + lengths[1] + lengths[2],
  };
}

function checkReadable({ name, flags, method, packed, size, header }) {
  const refuse = (what) => new ZipError(`${JSON.stringify(name.slice(0, 100))} is ${what}`);
  if (flags & ENCRYPTED) throw refuse('encrypted');
  if (!METHODS[method]) throw refuse('packed in a way that is not known');
  if ([packed, size, header].includes(BEYOND)) throw refuse('larger than 4 GB');
}

/** The entry's content. Throws at its end where it is another than the directory says. */
async function* contentOf(file, path, { header, packed, method, size, sum }) {
  const head = await bytesAt(file, header, HEADER.bytes);
  if (head.readUInt32LE(0) !== HEADER.magic) throw new ZipError('a header is damaged');
  const start = header + HEADER.bytes + head.readUInt16LE(26) + head.readUInt16LE(28);
  let [left, found] = [size, -1];
  const source = fs.createReadStream(path, { start, end: Math.max(start, start + packed - 1) });
  const plain = METHODS[method](source);
  source.on('error', (error) => plain.destroy(error));
  try {
    for await (const chunk of packed > 0 ? plain : []) {
      left -= chunk.length;
      if (left < 0) throw new ZipError('a file is larger than it says');
      found = crcOf(chunk, found);
      yield chunk;
    }
  } finally {
    source.destroy();
    plain.destroy();
  }
  if (left > 0 || ~found >>> 0 !== sum) throw new ZipError('a file is damaged');
}

/** Yields `{ name, size, data }` for each regular file, `data` an async iterable of its bytes. Throws ZipError. */
export async function* readZip(path, limits) {
  const file = await open(path);
  try {
    const { entries, bytes, start } = await findDirectory(file);
    if (entries > limits.entries) throw new ZipError('the archive holds too many files');
    const directory = await bytesAt(file, start, bytes);
    for (let at = 0, count = 0; count < entries; count++) {
      const entry = entryAt(directory, at);
      at = entry.next;
      if (!entry.isRegular) continue;
      checkReadable(entry);
      yield { name: entry.name, size: entry.size, data: contentOf(file, path, entry) };
    }
  } finally {
    await file.close();
  }
}
