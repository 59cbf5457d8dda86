/** The copy of the native binding for an older glibc: what is changed in it, of which binaries, and where it is kept. */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import { CHECKOUT } from '../../../../../contracts/places.js';
import t from '../../../../fixtures/tap.js';
import { ADAPTED, adaptedCopy } from '../../../../../gateway/server/adapters/adapted-copy.js';
import { forOlderGlibc } from '../../../../../gateway/server/adapters/older-glibc.js';
import { smallLibrary } from '../../../../fixtures/edge/elf.js';
import { folderOf } from '../../../../fixtures/folders.js';

const NEEDS = ['GLIBC_2.38', 'GLIBC_2.36', 'GLIBC_2.2.5'];
const SYMBOLS = {
  getenv: 'GLIBC_2.2.5',
  __isoc23_strtol: 'GLIBC_2.38',
  arc4random: 'GLIBC_2.36',
  __isoc23_sscanf: 'GLIBC_2.38',
};
const NEW = smallLibrary({ needs: NEEDS, symbols: SYMBOLS });
const BINDING = fileURLToPath(new URL('node_modules/uWebSockets.js', CHECKOUT));

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex');

/** How many bytes differ. */
function differing(one: Uint8Array, other: Uint8Array): number {
  let count = Math.abs(one.length - other.length);
  for (let at = 0; at < one.length; at++) if (one[at] !== other[at]) count++;
  return count;
}

/** Symbols and their versions, as far as they are in the library, read by position: the fixture's layout is known. */
function symbolsOf(bytes: Buffer): Record<string, string> {
  const strings = 64;
  const text = (at: number): string => bytes.toString('latin1', strings + at, bytes.indexOf(0, strings + at));
  const headers = Number(bytes.readBigUInt64LE(0x28));
  const place = (section: number): number => Number(bytes.readBigUInt64LE(headers + section * 64 + 0x18));
  const entries = Object.keys(SYMBOLS).map((_, index) => {
    const name = text(bytes.readUInt32LE(place(2) + (index + 1) * 24));
    return [name, NEEDS[bytes.readUInt16LE(place(3) + (index + 1) * 2) - 2] ?? 'none'];
  });
  return Object.fromEntries(entries) as Record<string, string>;
}

t.test('symbols of glibc 2.38 become their namesakes of the first version, and others stay', async (t) => {
  t.same(symbolsOf(NEW), SYMBOLS, 'the library is as the test means it');
  const copy = forOlderGlibc(NEW);
  t.same(symbolsOf(copy), {
    getenv: 'GLIBC_2.2.5',
    strtol: 'GLIBC_2.2.5',
    arc4random: 'GLIBC_2.36',
    sscanf: 'GLIBC_2.2.5',
  });
  t.equal(copy.length, NEW.length);
  // Of each symbol one byte of its name's place and one of its version; the flag of the need.
  t.equal(differing(NEW, copy), 2 * 2 + 1);
  t.same(forOlderGlibc(copy), copy, 'a copy of the copy is equal');
});

t.test('the binary itself is left as it is', async (t) => {
  const before = Buffer.from(NEW);
  forOlderGlibc(NEW);
  t.same(NEW, before);
});

t.test('what does not need glibc 2.38 is not changed', async (t) => {
  const older = smallLibrary({ needs: ['GLIBC_2.36'], symbols: { arc4random: 'GLIBC_2.36' } });
  t.same(forOlderGlibc(older), older);
});

t.test('a binary that needs glibc 2.38 for anything else is refused', async (t) => {
  const other = smallLibrary({ needs: NEEDS, symbols: { ...SYMBOLS, strlcpy: 'GLIBC_2.38' } });
  t.throws(() => forOlderGlibc(other), /^its symbol strlcpy has no older namesake$/);
  const alone = smallLibrary({ needs: ['GLIBC_2.38'], symbols: { __isoc23_strtol: 'GLIBC_2.38' } });
  t.throws(() => forOlderGlibc(alone), /^it needs no version that its symbols could have$/);
  for (const none of [Buffer.from('MZ'), Buffer.alloc(0), Buffer.alloc(64)])
    t.throws(() => forOlderGlibc(none), /^it is no ELF/);
});

/** A binary in a folder, and its digests. */
function known(t: Pick<Test, 'teardown'>, bytes: Uint8Array = NEW) {
  const root = folderOf(t);
  const file = join(root, 'binding.node');
  writeFileSync(file, bytes);
  const digests = { original: sha256(NEW), copy: sha256(forOlderGlibc(NEW)) };
  return { file, folder: join(root, 'cache'), table: { 'binding.node': digests } };
}

t.test('a copy is made once, for its owner alone, and the binary stays', async (t) => {
  const { file, folder, table } = known(t);
  const copy = adaptedCopy(file, folder, table);
  t.same(readFileSync(copy), forOlderGlibc(NEW));
  t.same(readFileSync(file), NEW);
  t.equal(statSync(folder).mode & 0o777, 0o700);
  t.equal(statSync(copy).mode & 0o777, 0o600);
  const { ino } = statSync(copy);
  t.equal(adaptedCopy(file, folder, table), copy);
  t.equal(statSync(copy).ino, ino, 'it is not written again');
  t.equal(readdirSync(folder).length, 1, 'nothing else is left');
});

t.test('a copy that somebody changed or that is cut off is made anew', async (t) => {
  const { file, folder, table } = known(t);
  const copy = adaptedCopy(file, folder, table);
  for (const content of [NEW, Buffer.alloc(0), forOlderGlibc(NEW).subarray(0, 100)]) {
    writeFileSync(copy, content);
    t.equal(adaptedCopy(file, folder, table), copy);
    t.same(readFileSync(copy), forOlderGlibc(NEW));
  }
});

t.test('another build is not adapted, nor one of an unknown name', async (t) => {
  const changed = Buffer.from(NEW);
  changed[NEW.length - 1] = 1;
  const other = known(t, changed);
  t.throws(
    () => adaptedCopy(other.file, other.folder, other.table),
    /^it is another build than the one that is known$/,
  );
  t.notOk(existsSync(other.folder));
  const { file, folder, table } = known(t);
  adaptedCopy(file, folder, table);
  t.throws(
    () => adaptedCopy(other.file, folder, other.table),
    /^it is another build/,
    'a copy of the known one does not stand in for it',
  );
  t.throws(() => adaptedCopy(file, folder, {}), /^it is none of those that are known$/);
  const wrong = { 'binding.node': { ...table['binding.node'], copy: sha256(NEW) } };
  t.throws(() => adaptedCopy(file, folder, wrong), /^its copy is not the one that is known$/);
});

t.test('a folder that others may write to, or a link, holds no copy', async (t) => {
  const { file, folder, table } = known(t);
  mkdirSync(folder);
  chmodSync(folder, 0o777);
  t.throws(() => adaptedCopy(file, folder, table), /cannot be used, others may write into it/);
  symlinkSync(folder, `${folder}-link`);
  t.throws(() => adaptedCopy(file, `${folder}-link`, table), /cannot be used, it is a symbolic link/);
  t.same(readdirSync(folder), []);
});

t.test('the binaries that are installed are those whose digests are known', async (t) => {
  const { version } = JSON.parse(readFileSync(join(BINDING, 'package.json'), 'utf8')) as { version: string };
  t.equal(version, '20.56.0', 'a new version has new digests');
  const names = Object.keys(ADAPTED).filter((name) => existsSync(join(BINDING, name)));
  const folder = join(folderOf(t), 'cache');
  for (const name of names) {
    const copy = adaptedCopy(join(BINDING, name), folder);
    t.ok(differing(readFileSync(join(BINDING, name)), readFileSync(copy)) <= 3 * 6 + 2, name);
  }
  t.equal(
    names.length,
    Object.keys(ADAPTED).filter((name) => name.includes(`_${process.platform}_${process.arch}_`)).length,
  );
});
