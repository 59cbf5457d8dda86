/**
 * Models whose files are made of parts of several packages: what is made and in which order, what is left of the parts, and what is
 * refused. The parts are small, and served by the test.
 */
import fs from 'node:fs';
import path from 'node:path';
import type { Test } from 'tap';
import t from '../../fixtures/tap.js';
import { ModelFolder } from '../../../engines/backends/sherpa/folder.js';
import { describeSherpaTts } from '../../../engines/backends/sherpa/tts-kinds.js';
import { exactly, rejectsExactly } from '../../fixtures/exactly.js';
import { type TarFile, tarGz } from '../../fixtures/models/archives.js';
import {
  add,
  CATALOGUE,
  type Entry,
  entryOf,
  freshModels,
  type Made,
  models,
  placed,
  serve,
} from '../../fixtures/models/catalogue.js';

t.setTimeout(120_000);

/** A model of nothing but its version: field 1, the number 9. */
const WEIGHTS = Buffer.from([8, 9]).toString('latin1');
const LONG = 'x'.repeat(300);

const FILES: Readonly<Record<string, readonly TarFile[]>> = {
  'one.tar.gz': [['pack/part.bin', WEIGHTS[0]!]],
  'two.tar.gz': [['pack/part.bin', WEIGHTS[1]!]],
  'styles.tar.gz': [
    ['pack/if_c.bin', 'c'],
    ['pack/af_b.bin', 'b'],
    ['pack/af_a.bin', 'a'],
  ],
  'words.tar.gz': [['pack/config.json', JSON.stringify({ vocab: { ' ': 16, ə: 83 } })]],
};
const served = Object.fromEntries(Object.entries(FILES).map(([name, files]) => [name, tarGz(files)]));

const MAKES: readonly Made[] = [
  {
    file: 'model.onnx',
    by: 'onnx with properties',
    of: ['weights-*/part.bin'],
    properties: { model_type: 'kokoro', n_speakers: '3', speaker_names: 'af_b,af_a,if_c', note: LONG },
  },
  { file: 'voices.bin', by: 'join', of: ['styles/af_b.bin', 'styles/*.bin'] },
  { file: 'tokens.txt', by: 'tokens of vocab', of: ['words/config.json'] },
];

const PARTS: Readonly<Record<string, string>> = {
  'one.tar.gz': 'weights-1',
  'two.tar.gz': 'weights-2',
  'styles.tar.gz': 'styles',
  'words.tar.gz': 'words',
};

function partedEntry(base: string, makes = MAKES, parts = PARTS): Entry {
  const items = Object.entries(parts).map(([file, part]) => ({
    ...{ url: `${base}/${file}`, unpack: 'tar.gz', root: 'pack', part },
    bytes: served[file]!.length,
  }));
  return entryOf(items, {
    title: 'A model of parts',
    needs: ['model.onnx', 'voices.bin', 'tokens.txt'],
    sources: [{ items, makes }],
  });
}

/** Checks what was made in the folder of the model. */
function checkMade(t: Test, folder: string): void {
  const read = (name: string): string => fs.readFileSync(path.join(folder, name), 'utf8');
  t.equal(read('voices.bin'), 'bac', 'in the order of the patterns, then of the names, each once');
  t.equal(read('tokens.txt'), '  16\nə 83\n');
  t.strictSame(
    [...new ModelFolder(folder).metadata(/\.onnx$/)],
    Object.entries(MAKES[0]!.properties!),
    'the runtime finds the properties',
  );
  t.strictSame([...fs.readFileSync(path.join(folder, 'model.onnx'))].slice(0, 2), [8, 9]);
  t.strictSame(
    fs.readdirSync(folder).sort(),
    ['.model.json', 'model.onnx', 'tokens.txt', 'voices.bin'],
    'nothing is left of the parts',
  );
  const { speakers } = describeSherpaTts(new ModelFolder(folder));
  t.strictSame([...speakers], [['af_b', 0], ['af_a', 1], ['if_c', 2]]); // oxfmt-ignore
}

t.test('files are made of parts of several packages, and are verified like others', async (t) => {
  const folder = freshModels(t);
  const { base } = await serve(t, served);
  await add(partedEntry(base));
  checkMade(t, path.join(folder, 'catalogue/tried'));
});

t.test('the same from a folder with the packages, by the command', async (t) => {
  const folder = freshModels(t);
  const own = path.join(folder, 'own.json');
  fs.writeFileSync(own, JSON.stringify([partedEntry('http://127.0.0.1:9')]));
  process.env['MODELS_CATALOGUE'] = own;
  t.teardown(() => delete process.env['MODELS_CATALOGUE']);
  const brought = path.join(folder, 'brought');
  fs.mkdirSync(brought);
  for (const [name, content] of Object.entries(served)) fs.writeFileSync(path.join(brought, name), content);
  exactly(t, await models(t, 'add', 'tried', '--from', brought), { code: 0 });
  checkMade(t, path.join(folder, 'catalogue/tried'));
  exactly(t, await models(t, 'verify', 'tried'), { code: 0, out: /as it was added/ });
  fs.appendFileSync(path.join(folder, 'catalogue/tried/voices.bin'), '!');
  exactly(t, await models(t, 'verify', 'tried'), { code: 1, out: /voices\.bin has 4 bytes instead of 3/ });
});

t.test('what cannot be made is refused, and nothing is left of it', async (t) => {
  const folder = freshModels(t);
  const { base } = await serve(t, served);
  const [onnx, voices, words] = MAKES as [Made, Made, Made];
  const refused: [entry: Entry, message: RegExp][] = [
    [
      partedEntry(base, [{ ...voices, of: ['styles/*.bin', 'styles/zf_*.bin'] }]),
      /^voices\.bin is made of parts that did not come: styles\/zf_\*\.bin$/,
    ],
    [
      partedEntry(base, [{ ...words, of: ['styles/af_a.bin'] }]),
      /^af_a\.bin is no JSON file with a table vocab$/,
    ],
    [partedEntry(base, [{ ...voices, file: '../evil' }]), /unsafe name "\.\.\/evil"/],
    [partedEntry(base, MAKES, { 'one.tar.gz': '../evil' }), /unsafe name "\.\.\/evil"/],
    [partedEntry(base, [onnx, voices]), /does not hold tokens\.txt/],
  ];
  for (const [entry, message] of refused)
    await rejectsExactly(t, add(entry), { name: 'SetupError', message });
  t.strictSame(placed(folder), []);
});

t.test('a catalogue of one’s own cannot name a maker that there is not', async (t) => {
  const folder = freshModels(t);
  const own = path.join(folder, 'own.json');
  process.env['MODELS_CATALOGUE'] = own;
  t.teardown(() => delete process.env['MODELS_CATALOGUE']);
  for (const by of ['cook', 'toString', undefined]) {
    const makes = [{ ...MAKES[1]!, by }] as Made[];
    fs.writeFileSync(own, JSON.stringify([partedEntry('http://127.0.0.1:9', makes)]));
    exactly(t, await models(t, 'list'), { code: 1, err: /MODELS_CATALOGUE: .*own\.json is no list/ });
  }
});

t.test('entries of the catalogue that are made of parts agree with themselves', async (t) => {
  const parted = CATALOGUE.flatMap(({ sources }) => sources).filter(({ makes }) => makes);
  t.ok(parted.length > 0);
  for (const { items, makes = [] } of parted) {
    t.ok(
      items.every((item) => (item.url ?? item.as) && item.sha256),
      'each package has a digest, and a name for --from',
    );
    const named = new Set(items.map(({ part }) => part).filter(Boolean));
    const used = new Set(makes.flatMap(({ of }) => of).map((glob) => glob.split('/')[0]!));
    for (const glob of used)
      t.ok(
        [...named].some((part) => part!.startsWith(glob.replace(/\*$/, ''))),
        `${glob} is a part`,
      );
    const [{ properties = {} } = {}] = makes.filter((made) => made.properties);
    t.equal(properties['speaker_names']?.split(',').length, Number(properties['n_speakers']));
  }
});
