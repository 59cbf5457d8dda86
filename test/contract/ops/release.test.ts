/**
 * Releases (ops/release, docs/releases.md): the workflow and the rehearsal have the same steps, what is looked at before, and who may
 * publish. The long form makes all files of a release, as `npm run release -- --dry-run` does.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import t from '../../fixtures/tap.js';
import { CHECKOUT } from '../../../contracts/places.js';
import { exactly } from '../../fixtures/exactly.js';
import { externalTool } from '../../fixtures/external.js';
import { folderOf } from '../../fixtures/folders.js';
import { run } from '../../fixtures/ops/installed-package.js';
import { shortOrLong } from '../../fixtures/long.js';

t.setTimeout(600_000);

const ROOT = fileURLToPath(CHECKOUT);
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const ours = async <T>(file: string): Promise<T> => (await import(new URL(file, CHECKOUT).href)) as T;

interface Finding {
  readonly text: string;
  readonly open: boolean;
}
const { STEPS } = await ours<{ STEPS: Readonly<Record<string, object>> }>('ops/release/steps.mjs');
const { findings } = await ours<{ findings(facts: object): Finding[] }>('ops/release/checks.mjs');
const { sectionOf } = await ours<{ sectionOf(text: string, version: string): object | undefined }>(
  'ops/release/changelog.mjs',
);
const { VERSIONED, withVersion, productVersion } = await ours<{
  VERSIONED: readonly { readonly file: string }[];
  withVersion(row: object, text: string, version: string): string;
  productVersion(): string;
}>('ops/setup/versions.mjs');

const VERSION = productVersion();
const release = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
  run(t, process.execPath, [join(ROOT, 'ops/release/command.mjs'), ...args], {
    env: { ...process.env, GITHUB_WORKFLOW_REF: '', ...env },
  });

t.test('the workflow runs the steps of the table, each once, in their order', async (t) => {
  const workflow = read('.github/workflows/release.yml');
  const called = [...workflow.matchAll(/npm run release -- (.*?) --to/g)].flatMap(([, names = '']) =>
    names.split(' '),
  );
  t.strictSame(called, Object.keys(STEPS));
  t.notMatch(workflow, /npm publish|docker buildx build|gh release create/, 'it does nothing beside them');
});

t.test('only the workflow of a tag releases', async (t) => {
  const refused = { code: 1, out: '', err: /only the workflow releases/ };
  exactly(t, await release([]), refused);
  const GITHUB_WORKFLOW_REF = 'you/speech-gateway/.github/workflows/release.yml@refs/heads/main';
  exactly(t, await release(['notes'], { GITHUB_WORKFLOW_REF }), refused);
  exactly(t, await release(['note', '--dry-run']), { code: 1, err: /There is no step note/ });
});

const READY = {
  version: '1.2.0',
  outdated: [],
  changes: '# Changelog\n\n## 1.2.0 — 2026-12-01\n\n- More.\n\n## 1.1.0 — 2026-11-01\n\n- Less.\n',
  changed: [],
  tags: ['v1.2.0'],
  previous: 'b1',
  isAncestor: true,
  earlier: { tag: 'v1.1.0', commit: 'b1' },
  repositories: [{ file: 'package.json', wanted: 'https://git.example.com/you/gateway', is: true }],
};

t.test('what is looked at before a release', async (t) => {
  t.strictSame(findings(READY), []);
  t.strictSame(findings({ ...READY, earlier: undefined }), [], 'the first release has a commit before it');
  const cases: readonly (readonly [facts: object, text: RegExp, open: boolean])[] = [
    [{ outdated: ['Dockerfile'] }, /Dockerfile has another version/, false],
    [{ changes: '# Changelog\n' }, /no section ## 1\.2\.0/, false],
    [{ changes: '## 1.2.0 — unreleased\n' }, /unreleased/, true],
    [{ changed: ['a.ts'] }, /not committed: a\.ts/, true],
    [{ tags: [] }, /no tag v1\.2\.0/, true],
    [{ tags: ['v1.1.9'] }, /has the tag v1\.1\.9/, false],
    [{ isAncestor: false }, /names b1, which is no commit/, false],
    [{ earlier: { tag: 'v1.1.1', commit: 'c2' } }, /is v1\.1\.1, c2/, false],
    [
      { repositories: [{ file: 'package.json', wanted: 'x', is: false }] },
      /package\.json has no "repository"/,
      true,
    ],
  ];
  for (const [facts, text, open] of cases) {
    const found = findings({ ...READY, ...facts });
    t.equal(found.length, 1, String(text));
    exactly(t, found[0], { text, open });
  }
});

t.test('the notes are the section of the version', async (t) => {
  t.strictSame(sectionOf(READY.changes, '1.2.0'), { date: '2026-12-01', text: '- More.' });
  t.equal(sectionOf(READY.changes, '1.2'), undefined);
  t.ok(sectionOf(read('CHANGELOG.md'), VERSION), 'this version has one');
});

t.test('a new version gets to every place that repeats it', async (t) => {
  for (const row of VERSIONED) {
    const text = read(row.file);
    const moved = withVersion(row, text, '98.7.6-rc.5');
    t.not(moved, text, row.file);
    t.equal(withVersion(row, moved, VERSION), text, `${row.file} and back`);
  }
  t.throws(() => withVersion({ file: 'a', places: [/(b)c/] }, 'd', '1.0.0'), /no place of the version/);
});

const SHORT = ['notes', 'sbom', 'digests', 'publish-image', 'publish-packages', 'publish-release'];

t.test('a rehearsal makes the files, and publishes nothing', async (t) => {
  const folder = folderOf(t);
  const { code, out, err } = await release([...shortOrLong(SHORT, []), '--dry-run', '--to', folder]);
  t.equal(code, 0, err);
  const commands = [...out.matchAll(/would run.*?: (.*)/g)].map(([, words = '']) => words);
  for (const begin of [
    'docker buildx build --platform linux/amd64,linux/arm64',
    'npm publish',
    'gh release create',
  ])
    t.ok(
      commands.some((words) => words.startsWith(begin)),
      begin,
    );
  t.ok(
    commands
      .filter((words) => words.startsWith('npm publish'))
      .every((words) => words.includes('--provenance')),
  );
  const sums = readFileSync(join(folder, 'SHA256SUMS'), 'utf8').trim().split('\n');
  const summed = sums.map((line) => line.split('  ') as [string, string]);
  for (const [sum, file] of summed)
    t.equal(
      createHash('sha256')
        .update(readFileSync(join(folder, file)))
        .digest('hex'),
      sum,
      file,
    );
  const made = summed.map(([, file]) => file);
  const tarballs = shortOrLong([], [`speech-gateway-${VERSION}.tgz`, `speech-gateway-client-${VERSION}.tgz`]);
  for (const name of ['notes.md', 'sbom.cdx.json', ...tarballs]) t.ok(made.includes(name), name);
  const hasChart = externalTool('helm') !== undefined && shortOrLong(false, true);
  t.equal(existsSync(join(folder, 'chart')), hasChart);
  const { components } = JSON.parse(readFileSync(join(folder, 'sbom.cdx.json'), 'utf8')) as {
    components: readonly { readonly name: string }[];
  };
  const names = components.map(({ name }) => name);
  t.ok(names.includes('undici') && !names.includes('tap'), 'what runs, and no tools');
  t.ok(
    readdirSync(folder).every((name) => !name.includes('image')),
    'no image',
  );
});
