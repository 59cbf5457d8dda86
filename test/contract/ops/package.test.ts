/**
 * The npm package: what is in it, and that it runs. The short form looks at the tarball and asks the program in it for its version; the
 * long form installs it as an ordinary user with an empty cache, on each version of Node, and has it speak, hear and hold a call, also on
 * the data of a checkout.
 */
import { isBuiltin } from 'node:module';
import { createReadStream, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createGunzip } from 'node:zlib';
import { build } from 'esbuild';
import t from '../../fixtures/tap.js';
import { CHECKOUT } from '../../../contracts/places.js';
import { exactly } from '../../fixtures/exactly.js';
import { folderOf } from '../../fixtures/folders.js';
import { packed, run } from '../../fixtures/ops/installed-package.js';

const ROOT = fileURLToPath(CHECKOUT);
const MOST_BYTES = 30_000_000;

interface TarFile {
  readonly name: string;
  readonly data: AsyncIterable<Uint8Array>;
}
const { readTar } = (await import(new URL('ops/setup/tar.mjs', CHECKOUT).href)) as {
  readTar(chunks: AsyncIterable<Uint8Array>): AsyncIterable<TarFile>;
};

async function namesIn(tarball: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name } of readTar(createReadStream(tarball).pipe(createGunzip())))
    names.push(name.replace(/^package\//, ''));
  return names.sort();
}

const tarball = await packed(t);
const unpacked = folderOf(t);
const { code, err } = await run(t, 'tar', ['-xzf', tarball, '-C', unpacked]);
if (code !== 0) throw new Error(err);
const inPackage = (name: string): string => readFileSync(join(unpacked, 'package', name), 'utf8');
const manifest = JSON.parse(inPackage('package.json')) as Readonly<Record<string, unknown>> & {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional: boolean }>>;
  readonly bin: Readonly<Record<string, string>>;
};
const names = await namesIn(tarball);

t.test('it holds what runs, and nothing that tests or builds', async (t) => {
  t.ok(statSync(tarball).size < MOST_BYTES, `${statSync(tarball).size} bytes`);
  const migrations = readdirSync(join(ROOT, 'storage/migrations'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.sql'))
    .map((name) => `storage/migrations/${name}`);
  const wanted = [
    'LICENSE',
    'THIRD-PARTY.md',
    'bundle/gateway/main.js',
    'bundle/gateway/commands/main.js',
    'bundle/gateway/doctor/main.js',
    'bundle/swagger-ui/swagger-ui-bundle.js',
    'bundle/widget/widget.js',
    'client/console/dist/index.html',
    'codecs/decode/limited.sh',
    'ops/commands/speech-gateway',
    'ops/models/kokoro.json',
    'ops/setup/models.json',
    ...migrations,
  ];
  t.strictSame(
    wanted.filter((name) => !names.includes(name)),
    [],
  );
  const strange = names.filter((name) =>
    /\.ts$|(^|\/)(test|bench|dist\/test|\.state|node_modules)\/|\.env/.test(name),
  );
  t.strictSame(strange, []);
});

t.test('its manifest depends on no lock, no override and no script of its own', async (t) => {
  for (const field of ['overrides', 'scripts', 'devDependencies', 'private', 'files'])
    t.notOk(field in manifest, field);
  const versions = Object.entries({ ...manifest.dependencies, ...manifest.optionalDependencies });
  for (const [name, version] of versions) t.match(version, /^(npm:@?[\w./-]+@)?\d+\.\d+\.\d+[\w.-]*$/, name);
  t.strictSame(Object.keys(manifest.peerDependenciesMeta), Object.keys(manifest.peerDependencies));
  t.ok(Object.values(manifest.peerDependenciesMeta).every(({ optional }) => optional));
});

/** Packages that the JavaScript of the package imports, as esbuild finds them. */
async function imported(): Promise<string[]> {
  const { metafile } = await build({
    absWorkingDir: join(unpacked, 'package'),
    entryPoints: names.filter(
      (name) => /^(bundle|ops)\/.*\.m?js$/.test(name) && !name.includes('/swagger-ui/'),
    ),
    ...{ bundle: true, write: false, metafile: true, outdir: 'unused' },
    ...{ platform: 'node', format: 'esm', packages: 'external', logLevel: 'error' },
  });
  const paths = Object.values(metafile.outputs).flatMap(({ imports }) =>
    imports.filter(({ external }) => external).map(({ path }) => path),
  );
  return [...new Set(paths.map((path) => path.split('/', path.startsWith('@') ? 2 : 1).join('/')))];
}

t.test('every package that it loads is one that npm brings, or an extra', async (t) => {
  const brought = {
    ...manifest.dependencies,
    ...manifest.optionalDependencies,
    ...manifest.peerDependencies,
  };
  // ws asks for it, and does without.
  const known = new Set([...Object.keys(brought), 'utf-8-validate']);
  const packages = (await imported()).filter((name) => !isBuiltin(name));
  for (const name of ['node-datachannel', '@evan/opus', 'undici']) t.ok(packages.includes(name), name);
  t.strictSame(
    packages.filter((name) => !known.has(name)),
    [],
  );
});

t.test('the repairs of packages are in the bundle', async (t) => {
  const patch = readFileSync(join(ROOT, 'ops/patches/postgres@3.4.9.patch'), 'utf8');
  const added = patch.split('\n').filter((line) => /^\+[^+].{40}/.test(line));
  const shared = readdirSync(join(unpacked, 'package', 'bundle/shared')).filter((name) =>
    name.endsWith('.js'),
  );
  const code = shared.map((name) => inPackage(`bundle/shared/${name}`)).join('\n');
  const [, field = ''] = /(answer_timeout)/.exec(added.join('\n')) ?? [];
  t.match(field, /./);
  t.match(code, field);
});

t.test('its program runs from a link, as npm makes one, without anything installed', async (t) => {
  const program = join(t.testdir(), 'speech-gateway');
  symlinkSync(join(unpacked, 'package', manifest.bin['speech-gateway'] ?? ''), program);
  const version = await run(t, program, ['--version']);
  exactly(t, version, { code: 0, out: `${String(manifest['version'])}\n`, err: /^$/ });
  const help = await run(t, program, ['--help']);
  t.equal(help.code, 0, help.err);
  for (const name of ['models', 'keys', 'doctor', 'agents', 'agent-test']) t.match(help.out, `\n  ${name} `);
  const settings = await run(t, program, ['start', '--help']);
  exactly(t, settings, { code: 0, out: /DATA_DIR/ });
  exactly(t, await run(t, program, ['kays']), { code: 2, err: /did you mean keys\?/ });
});
