/** The reader of tarballs: entries that it reads, and archives that it refuses. */
import type { Test } from 'tap';
import { CHECKOUT } from '../../../../contracts/places.js';
import t from '../../../fixtures/tap.js';
import { rejectsExactly } from '../../../fixtures/exactly.js';

interface TarEntry {
  readonly name: string;
  readonly size: number;
  readonly data: AsyncIterable<Uint8Array>;
}
interface TarLimits {
  readonly entries: number;
  readonly totalBytes: number;
}

const { readTar, TarError } = (await import(new URL('ops/setup/tar.mjs', CHECKOUT).href)) as {
  readTar(stream: AsyncIterable<Uint8Array>, limits?: TarLimits): AsyncIterable<TarEntry>;
  TarError: new () => Error;
};

const BLOCK = 512;

function tarHeader(name: string, size: number | string, type = '0', prefix = ''): Buffer {
  const block = Buffer.alloc(BLOCK);
  block.write(name, 0, 100);
  block.write('0000644\0', 100);
  block.write(typeof size === 'string' ? size : `${size.toString(8).padStart(11, '0')}\0`, 124);
  block.write('        ', 148);
  block.write(type, 156);
  block.write('ustar\0', 257);
  block.write(prefix, 345);
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

const padded = (text: string): Buffer => {
  const data = Buffer.from(text);
  return Buffer.concat([data, Buffer.alloc((BLOCK - (data.length % BLOCK)) % BLOCK)]);
};
const tarFile = (name: string, text: string, type?: string, prefix?: string): Buffer =>
  Buffer.concat([tarHeader(name, Buffer.byteLength(text), type, prefix), padded(text)]);
const END = Buffer.alloc(2 * BLOCK);

/** The bytes in chunks of an odd length, as from a network. */
async function* chunked(bytes: Buffer): AsyncIterable<Buffer> {
  for (let at = 0; at < bytes.length; at += 337) yield bytes.subarray(at, at + 337);
}

async function filesOf(bytes: Buffer, limits?: TarLimits): Promise<[string, string][]> {
  const files: [string, string][] = [];
  for await (const { name, data } of readTar(chunked(bytes), limits)) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of data) chunks.push(chunk);
    files.push([name, Buffer.concat(chunks).toString()]);
  }
  return files;
}

const refuses = (t: Test, bytes: Buffer, message: RegExp, limits?: TarLimits): Promise<unknown> =>
  rejectsExactly(t, filesOf(bytes, limits), { message, constructor: TarError });

t.test('regular files of a tar come out whole, however their names are stored', async (t) => {
  const long = `package/${'deep/'.repeat(40)}file.txt`;
  const record = ` path=${long}\n`;
  const pax = `${record.length + 3}${record}`;
  const archive = Buffer.concat([
    tarFile('package/a.txt', 'first'),
    tarFile('package/empty', ''),
    tarFile('package/folder/', '', '5'),
    tarFile('package/link', '', '2'),
    tarFile('tail.txt', 'x'.repeat(1500), '0', 'package/prefix'),
    tarFile('PaxHeader', pax, 'x'),
    tarFile('short', 'by pax'),
    tarFile('././@LongLink', `${long}\0`, 'L'),
    tarFile('short', 'by GNU'),
    tarFile('package/last', 'last'),
    END,
  ]);
  t.equal(pax.length, Number(pax.split(' ')[0]), 'the record is well formed');
  t.same(await filesOf(archive), [
    ['package/a.txt', 'first'],
    ['package/empty', ''],
    ['package/prefix/tail.txt', 'x'.repeat(1500)],
    [long, 'by pax'],
    [long, 'by GNU'],
    ['package/last', 'last'],
  ]);
});

t.test('a file of a tar that is not read, or read in part, is skipped', async (t) => {
  const archive = Buffer.concat([
    tarFile('a', 'x'.repeat(2000)),
    tarFile('b', 'y'.repeat(2000)),
    tarFile('c', 'z'),
    END,
  ]);
  const names: string[] = [];
  for await (const { name, data } of readTar(chunked(archive))) {
    names.push(name);
    if (name === 'b') for await (const _ of data) break;
  }
  t.same(names, ['a', 'b', 'c']);
});

t.test('a tar that is truncated, damaged or wrong about sizes is refused', async (t) => {
  const whole = Buffer.concat([tarFile('a', 'x'.repeat(2000)), END]);
  for (const length of [0, 100, 512, 1000, 2100, whole.length - END.length])
    await refuses(t, whole.subarray(0, length), /ends early/);
  const damaged = Buffer.from(whole);
  damaged[3] = 65;
  await refuses(t, damaged, /damaged/);
  for (const size of ['-0000000001\0', '99999999999\0', 'zzzzzzzzzzz\0', '\x80\0\0\0\0\0\0\0\0\0\0\x01'])
    await refuses(t, Buffer.concat([tarHeader('a', size), END]), /size|checksum|damaged/);
  await refuses(t, Buffer.concat([tarHeader('a', 5000), padded('short'), END]), /ends early/);
});

t.test('a tar with names that leave the folder is refused', async (t) => {
  for (const name of ['/etc/passwd', '../up', 'package/../../up', 'package\\..\\up', ''])
    await refuses(t, Buffer.concat([tarFile(name, 'x'), END]), /unsafe name/);
  const sneaky = ' path=../up\n';
  await refuses(
    t,
    Buffer.concat([tarFile('pax', `${sneaky.length + 2}${sneaky}`, 'x'), tarFile('fine', 'x'), END]),
    /unsafe name/,
  );
});

t.test('entries, bytes and long names of a tar are bounded, and so is what follows its end', async (t) => {
  const limits = { entries: 3, totalBytes: 4000 };
  const small = tarFile('a', 'x');
  await refuses(t, Buffer.concat([small, small, small, small, END]), /too many files/, limits);
  await refuses(t, Buffer.concat([tarFile('a', 'x'.repeat(5000)), END]), /unpacks to too much/, limits);
  await refuses(t, Buffer.concat([small, END, Buffer.alloc(8000)]), /too much follows/, limits);
  await refuses(t, Buffer.concat([tarFile('pax', 'x'.repeat(70_000), 'x'), small, END]), /too long/);
  for (const record of ['no length', '999999 path=a\n', '3 a\n', '-5 path=a\n'])
    await refuses(t, Buffer.concat([tarFile('pax', record, 'x'), small, END]), /bad pax header/);
});
