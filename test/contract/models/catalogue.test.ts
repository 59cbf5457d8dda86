/** The catalogue's entries, and `npm run models`. */
import fs from 'node:fs';
import path from 'node:path';
import t from '../../fixtures/tap.js';
import { LANGUAGE_CODES } from '../../../contracts/speech/languages.js';
import { modelFolders, notAdded } from '../../../gateway/config/model-folders.js';
import { exactly } from '../../fixtures/exactly.js';
import { NATURAL_VOICE } from '../../../gateway/wiring/natural-voice.js';
import { CATALOGUE, type Entry, freshModels, models, placed } from '../../fixtures/models/catalogue.js';

t.setTimeout(120_000);

const TASKS = ['pico', 'tts', 'stt', 'turns', 'denoise'];
const KINDS = [undefined, 'tar.bz2', 'tar.gz', 'zip'];

function checkEntry(entry: Entry): void {
  const { name, task, languages, licence, title, bytes, needs, sources } = entry;
  t.match(name, /^[a-z0-9][a-z0-9-]*$/);
  t.ok(TASKS.includes(task), `${name} does what a gateway can use`);
  t.ok(
    languages === 'any' || languages.every((code) => LANGUAGE_CODES.includes(code)),
    `${name}: ${languages}`,
  );
  t.ok([title, licence].every(Boolean) && needs.length > 0 && sources.length > 0, `${name} tells all`);
  for (const { url, pypi, npm, version, unpack, bytes: fetched, sha256 } of sources.flatMap(
    ({ items }) => items,
  )) {
    t.ok(url === undefined ? (pypi ?? npm) && version : url.startsWith('https://'), `${name} says where`);
    t.ok(KINDS.includes(unpack), `${name}: ${unpack}`);
    t.ok(fetched > 0 && bytes > 0, `${name} has a size`);
    t.match(sha256 ?? '0'.repeat(64), /^[0-9a-f]{64}$/, `${name}: the digest`);
  }
}

t.test('each entry describes the model and its source', async () => {
  t.equal(new Set(CATALOGUE.map(({ name }) => name)).size, CATALOGUE.length, 'no name twice');
  CATALOGUE.forEach(checkEntry);
});

t.test('the list has every model with its licence, for people and for programs', async (t) => {
  freshModels(t);
  const [text, json] = await Promise.all([models(t), models(t, 'list', '--json')]);
  for (const { name, licence } of CATALOGUE) {
    t.ok(text.out.includes(`  ${name} `), name);
    t.ok(text.out.includes(licence));
  }
  t.strictSame(
    (JSON.parse(json.out) as { name: string; inPlace: boolean }[]).map(({ name, inPlace }) => [
      name,
      inPlace,
    ]),
    CATALOGUE.map(({ name }) => [name, false]),
  );
});

t.test(
  'the voice that is offered to everybody has a permissive licence, and it is told what it was made of',
  async (t) => {
    const offered = CATALOGUE.find(({ name }) => name === NATURAL_VOICE);
    t.match(offered?.licence, /^(Apache-2\.0|MIT|BSD-[23]-Clause|CC0-1\.0)$/);
    t.ok(offered?.lineage, 'its lineage');
  },
);

t.test(
  'entries of one’s own go before ours, and a list that is none is refused by its setting',
  async (t) => {
    const folder = freshModels(t);
    const file = path.join(folder, 'own.json');
    process.env['MODELS_CATALOGUE'] = file;
    t.teardown(() => delete process.env['MODELS_CATALOGUE']);
    const own = { ...CATALOGUE[0]!, title: 'One of ours' };
    fs.writeFileSync(file, JSON.stringify([own, { ...own, name: 'lamp-shop' }]));
    const listed = JSON.parse((await models(t, 'list', '--json')).out) as { name: string; title: string }[];
    t.equal(listed.length, CATALOGUE.length + 1);
    t.strictSame(
      listed.filter(({ name }) => name === own.name || name === 'lamp-shop').map(({ title }) => title),
      ['One of ours', 'One of ours'],
    );
    for (const content of ['no JSON', '{}', JSON.stringify([{ ...own, name: '../evil' }])]) {
      fs.writeFileSync(file, content);
      exactly(t, await models(t, 'list'), { code: 1, err: /^setup: MODELS_CATALOGUE: .*own\.json / });
    }
  },
);

t.test('verify says so if no model was added', async (t) => {
  freshModels(t);
  exactly(t, await models(t, 'verify'), { code: 0, out: /^No model was added/ });
});

t.test('--help shows every command, wherever it stands', async (t) => {
  freshModels(t);
  for (const words of [['--help'], ['-h'], ['help'], ['add', '--help']]) {
    const { code, out, err } = await models(t, ...words);
    exactly(t, { code, err }, { code: 0, err: '' }, words.join(' '));
    for (const command of ['list', 'add', 'verify', 'remove', '--from', '--unchecked']) t.match(out, command);
  }
});

t.test('a mistyped command or name gets a line that helps', async (t) => {
  freshModels(t);
  const lines: [args: string[], line: RegExp][] = [
    [['add', 'piper-de-torsten'], /no model piper-de-torsten; did you mean piper-de-thorsten\?/],
    [['add', 'xyzzy-no-such'], /no model xyzzy-no-such; npm run models lists them/],
    [['ad', 'kokoro-en'], /no command ad; did you mean add\?/],
    [['remove'], /name a model/],
    [['add', 'kokoro-en', 'kitten-en'], /one model at a time/],
    [['add', 'kokoro-en', '--from', '/nowhere/at.tar.bz2'], /there is no \/nowhere/],
    [['add', 'piper-de-thorsten', '--from', import.meta.dirname], /does not hold .*thorsten-medium\.onnx/],
    [['verify', 'kokoro-en'], /kokoro-en is not in place/],
    [['list', '--jsom'], /--jsom/],
  ];
  const ended = await Promise.all(lines.map(([args]) => models(t, ...args)));
  for (const [at, { code, err }] of ended.entries()) {
    t.match(err, lines[at]![1]);
    t.equal(code, 1);
    t.notMatch(err, /\n {4}at /, 'no stack');
  }
});

t.test('a model from a folder: added, found by its name, verified, removed', async (t) => {
  const folder = freshModels(t);
  const name = 'piper-de-thorsten';
  const voice = path.join(folder, 'brought');
  fs.mkdirSync(voice);
  for (const file of ['de_DE-thorsten-medium.onnx', 'de_DE-thorsten-medium.onnx.json', 'MODEL_CARD'])
    fs.writeFileSync(path.join(voice, file), file);
  t.strictSame(
    modelFolders('tts', [name], folder).map((place) => notAdded(place, folder)),
    [name],
    'not yet',
  );
  const added = await models(t, 'add', name, '--from', voice);
  exactly(t, added, {
    code: 0,
    out: /takes it up within seconds\./,
    err: /is under data CC0[^]*pinned now/,
  });
  const place = path.join(folder, 'catalogue', name);
  t.strictSame(modelFolders('tts', [name], folder), [place]);
  t.equal(notAdded(place, folder), undefined);
  exactly(t, await models(t, 'verify'), { code: 0, out: /as it was added/ });
  fs.appendFileSync(path.join(place, 'MODEL_CARD'), '!');
  exactly(t, await models(t, 'verify', name), {
    code: 1,
    out: /damaged\n.*MODEL_CARD has 11 bytes instead of 10/,
  });
  exactly(t, await models(t, 'remove', name), { code: 0, out: /is removed/ });
  t.strictSame(placed(folder), []);
  exactly(t, await models(t, 'remove', name), { code: 0, out: /is not in place/ });
});
