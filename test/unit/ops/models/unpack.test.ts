/** The readers of bzip2 and zip: their output, and that damaged input is refused and never passes as complete. */
import fs from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import { CHECKOUT } from '../../../../contracts/places.js';
import t from '../../../fixtures/tap.js';
import { goodBz2, goodZip } from '../../../fixtures/models/archives.js';
import { rejectsExactly } from '../../../fixtures/exactly.js';
import { shortOrLong } from '../../../fixtures/long.js';

const load = async <T>(name: string): Promise<T> =>
  (await import(new URL(`ops/models/${name}`, CHECKOUT).href)) as T;
type Chunks = AsyncIterable<Uint8Array>;
const { bunzip2, Bzip2Error } = await load<{
  bunzip2(chunks: Chunks): Chunks;
  Bzip2Error: new () => Error;
}>('bunzip2.mjs');
const { readZip, ZipError } = await load<{
  ZipError: new () => Error;
  readZip(file: string, limits: { entries: number }): AsyncIterable<{ name: string; data: Chunks }>;
}>('zip.mjs');

async function textOf(chunks: Chunks): Promise<string> {
  const parts: Uint8Array[] = [];
  for await (const part of chunks) parts.push(part);
  return Buffer.concat(parts).toString('latin1');
}

async function* unpacked(chunks: readonly Uint8Array[]): Chunks {
  yield* bunzip2(Readable.from(chunks));
}

/** `abcdefgh` twenty thousand times, in blocks of 100 000 bytes. */
const twoBlocks = Buffer.from(
  'QlpoMTFBWSZTWbjbFCIAGGiBAD/AIABwQwIClQB6EoLmUSgtIlBbRKC4iUFuEoLsJQXoSgvmKCskymsiJggaIAkoYCAH+AQADghg' +
    'QJqoA9CkjEKSMwpI1CkjcKSN8hSR0KSPBSR8XckU4UJBghmiUA==',
  'base64',
);

/** Damaged copies: in each, one of every second byte is changed; in the short form, of every fifth. */
const APART = shortOrLong(5, 2);
function* damages(bytes: Buffer): Generator<Buffer> {
  for (let at = 0; at < bytes.length; at += APART) {
    const damaged = Buffer.from(bytes);
    damaged[at]! ^= 0x15;
    yield damaged;
  }
}

t.test('bzip2: blocks and streams follow one another, in whatever chunks they come', async (t) => {
  const whole = 'abcdefgh'.repeat(20_000);
  t.equal(await textOf(unpacked([twoBlocks])), whole);
  const bytewise = [...Buffer.concat([twoBlocks, twoBlocks])].map((byte) => Buffer.from([byte]));
  t.equal(await textOf(unpacked(bytewise)), whole + whole);
  t.match(await textOf(unpacked([goodBz2])), /weights/);
});

t.test('bzip2: what is damaged or ends early is refused', async (t) => {
  const fault = { constructor: Bzip2Error, message: /^/ };
  const whole = await textOf(unpacked([goodBz2]));
  let refused = 0;
  for (const damaged of damages(goodBz2)) {
    const given = await textOf(unpacked([damaged])).catch((error: unknown) => {
      refused += 1;
      if (!(error instanceof Bzip2Error)) throw error;
    });
    t.ok(given === undefined || given === whole);
  }
  t.ok(refused > (0.9 * goodBz2.length) / APART, 'few bytes say nothing');
  for (const length of [0, 3, 4, 30, goodBz2.length - 1])
    await rejectsExactly(t, textOf(unpacked([goodBz2.subarray(0, length)])), fault);
  await rejectsExactly(t, textOf(unpacked([goodBz2, Buffer.from('more')])), fault);
});

t.test('no damage to a ZIP archive gives another content', async (t) => {
  const file = path.join(t.testdir(), 'archive.zip');
  fs.writeFileSync(file, goodZip);
  async function read(bytes: Buffer): Promise<string[]> {
    // In place: to empty a file and write it anew costs the file system several times as much.
    fs.writeFileSync(file, bytes, { flag: 'r+' });
    fs.truncateSync(file, bytes.length);
    const contents: string[] = [];
    for await (const { data } of readZip(file, { entries: 10 })) contents.push(await textOf(data));
    return contents;
  }
  const whole = await read(goodZip);
  t.strictSame(whole, ['weights', 'a 0\n', 'deep', 'RIFF', 'mac']);
  let refused = 0;
  for (const damaged of damages(goodZip)) {
    const contents = await read(damaged).catch((error: Error & { code?: string }) => {
      refused += 1;
      if (!error.code?.startsWith('Z_') && !(error instanceof ZipError)) throw error;
      return [];
    });
    t.ok(contents.every((content) => whole.includes(content)));
  }
  t.ok(refused > (0.25 * goodZip.length) / APART, 'most fields count');
  for (const length of [0, 10, goodZip.length - 1])
    await rejectsExactly(t, read(goodZip.subarray(0, length)), { constructor: ZipError, message: /^/ });
});

t.test('a ZIP archive that names a place beyond its end is refused, however far', async (t) => {
  const locator = Buffer.alloc(20);
  locator.writeUInt32LE(0x07064b50);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50);
  const file = path.join(t.testdir(), 'archive.zip');
  for (const place of [500n, 2n ** 40n, 2n ** 64n - 1n]) {
    locator.writeBigUInt64LE(place, 8);
    fs.writeFileSync(file, Buffer.concat([locator, end]));
    await rejectsExactly(t, readZip(file, { entries: 10 })[Symbol.asyncIterator]().next(), {
      constructor: ZipError,
      message: 'it ends early',
    });
  }
});
