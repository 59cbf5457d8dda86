/**
 * Protection against other users of the machine: sockets, pid files and the processes in them, uploads, our secrets.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Test } from 'tap';
import { BUILT } from '../../../contracts/places.js';
import t from '../../fixtures/tap.js';
import { silentLog } from '../../../contracts/log.js';
import { readConfig } from '../../../gateway/config.js';
import { SECTIONS } from '../../../gateway/config/settings.js';
import { environmentOf, type RoleRow, ROLES } from '../../../gateway/wiring/roles.js';
import { openRuntimeFolder } from '../../../gateway/wiring/runtime-folder.js';
import { startOf } from '../../../processes/process-table.js';
import { privateFolder, writePrivateFile } from '../../../processes/private-folder.js';
import { superviseRole } from '../../../processes/supervisor/supervise.js';
import { sweep } from '../../../processes/supervisor/sweep.js';
import { filledFolderOf } from '../../fixtures/database/clusters.js';
import { commandOf, familyOf, isAlive } from '../../fixtures/processes/family.js';
import { spawnGateway, startGateway, TONE, wordsOf } from '../../fixtures/gateway.js';
import { recordingLog } from '../../fixtures/processes/tools.js';
import { until } from '../../fixtures/until.js';
import { folderOf } from '../../fixtures/folders.js';

const NOBODY = 65_534;
const isRoot = process.geteuid?.() === 0;

/** An unrelated process with `words` on its command line. */
function bystander(t: Test, ...words: readonly string[]): ChildProcess & { readonly pid: number } {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)', ...words], {
    stdio: 'ignore',
  });
  t.teardown(() => child.kill('SIGKILL'));
  return child as ChildProcess & { readonly pid: number };
}

/** Obstacles that another user may have planted in place of a folder. */
const PLANTED: Readonly<Record<string, { plant(path: string): void; says: RegExp; skip?: boolean }>> = {
  'a link to a folder': {
    plant(path) {
      mkdirSync(`${path}-else`, { mode: 0o700 });
      symlinkSync(`${path}-else`, path);
    },
    says: /symbolic link/,
  },
  'a folder that all may write': {
    plant(path) {
      mkdirSync(path);
      chmodSync(path, 0o777);
    },
    says: /others may write/,
  },
  'a file': { plant: (path) => writeFileSync(path, ''), says: /not a folder/ },
  'a folder of another user': {
    plant(path) {
      mkdirSync(path, { mode: 0o755 });
      chownSync(path, NOBODY, NOBODY);
    },
    says: /another user/,
    skip: !isRoot,
  },
};

for (const [name, { plant, says, skip }] of Object.entries(PLANTED)) {
  t.test(`${name} is not taken for ours`, { skip: skip ? 'needs root' : false }, async (t) => {
    const folder = folderOf(t);
    const path = join(folder, 'run');
    plant(path);
    t.throws(() => privateFolder(path), says);
    await t.rejects(openRuntimeFolder(folder), says);
    const options = { role: 'test', entry: '/nowhere', count: 1, socketFolder: path, log: silentLog };
    await t.rejects(superviseRole(options), says);
  });
}

t.test('a folder of ours that others may read is closed to them', async (t) => {
  const path = join(folderOf(t), 'run');
  mkdirSync(path, { mode: 0o755 });
  t.equal(statSync(privateFolder(path)).mode & 0o777, 0o700);
});

t.test('a link in the place of a pid file is replaced, and what it points to stays as it is', async (t) => {
  const folder = folderOf(t);
  const target = join(folder, 'target');
  const path = join(folder, 'encode-0.pid');
  writeFileSync(target, 'precious');
  symlinkSync(target, path);
  writePrivateFile(path, 'ours');
  t.equal(readFileSync(target, 'utf8'), 'precious');
  t.ok(lstatSync(path).isFile());
  t.equal(lstatSync(path).mode & 0o777, 0o600);
});

t.test(
  'where the path of DATA_DIR is too long for sockets, a folder that nobody foresees is remembered',
  async (t) => {
    const dataDir = join(folderOf(t), 'x'.repeat(100));
    mkdirSync(dataDir);
    const first = await openRuntimeFolder(dataDir);
    t.notOk(first.path.startsWith(dataDir));
    t.equal(statSync(first.path).mode & 0o777, 0o700);
    t.equal((await openRuntimeFolder(dataDir)).path, first.path, 'the next start finds what was left');
    chmodSync(first.path, 0o777);
    const second = await openRuntimeFolder(dataDir);
    t.not(second.path, first.path, 'one that is not ours alone is left');
    await second.stop();
    t.notOk(existsSync(second.path));
    rmSync(first.path, { recursive: true });
  },
);

t.test('a child is not believed to be another process', async (t) => {
  const victim = bystander(t);
  const entry = new URL('test/fixtures/processes/liar.js', BUILT);
  const log = recordingLog();
  const workers = await superviseRole({
    ...{ role: 'liar', entry, count: 1, socketFolder: join(folderOf(t), 's'), log },
    args: [String(victim.pid)],
    health: { everyMs: 20, silenceMs: 60, announcedMs: 60 },
    stopMs: 200,
  });
  await until('it was found out', () => log.lines.some(({ message }) => /not spawned here/.test(message)));
  await new Promise((resolve) => setTimeout(resolve, 500));
  t.ok(isAlive(victim.pid));
  await workers.stop();
});

t.test('a pid file kills only what it was written for', async (t) => {
  const folder = folderOf(t);
  const socket = join(folder, 'test-0.sock');
  const pidFile = join(folder, 'test-0.pid');
  const swept = async (text: string): Promise<void> => {
    writeFileSync(pidFile, text);
    await sweep(folder, 'test');
    t.notOk(existsSync(pidFile));
  };
  const other = bystander(t);
  await swept(JSON.stringify({ child: other.pid, started: startOf(other.pid), supervisor: 1 }));
  const later = bystander(t, socket);
  await swept(JSON.stringify({ child: later.pid, started: 'another boot/12', supervisor: 1 }));
  for (const text of ['', 'null', `${later.pid} 1\n`, '{"child":-1}']) await swept(text);
  t.ok(isAlive(other.pid) && isAlive(later.pid));
  const exited = once(later, 'exit');
  await swept(JSON.stringify({ child: later.pid, started: startOf(later.pid), supervisor: 1 }));
  await exited;
});

t.test('no child gets a secret', (t) => {
  const env = Object.fromEntries(SECTIONS.flatMap(({ settings }) => settings.map(({ env }) => [env, 'set'])));
  const operator = {
    ...env,
    PATH: '/bin',
    OMP_NUM_THREADS: '2',
    AWS_SECRET_ACCESS_KEY: 's',
    LLM_API_KEY: 's',
  };
  const config = readConfig({ LIVEKIT_URL: '', MODELS_DIR: '/models', SHERPA_TTS: '/voice' });
  const allowed =
    /^(PATH|OMP_NUM_THREADS|MALLOC_ARENA_MAX|MALLOC_MMAP_THRESHOLD_|DATA_DIR|MODELS_DIR|TURN_MODEL|DENOISER|PICO_LINGWARE|MEDIA|ROOMS|SHERPA_(MEMORY_MB|(TTS|STT)(_LANGUAGES)?))$/;
  for (const [role, row] of Object.entries(ROLES)) {
    const names = Object.keys(environmentOf(row as RoleRow, config, operator));
    t.strictSame(
      names.filter((name) => !allowed.test(name)),
      [],
      role,
    );
    t.equal(environmentOf(row as RoleRow, config, operator)['OMP_NUM_THREADS'], '2');
  }
  t.equal(environmentOf(ROLES.media, config, {})['MALLOC_ARENA_MAX'], '1');
  t.equal(environmentOf(ROLES.media, config, { MALLOC_ARENA_MAX: '4' })['MALLOC_ARENA_MAX'], '4');
  t.end();
});

/** Makes a socket file on which nobody listens any more. */
async function deadSocket(path: string): Promise<void> {
  const script = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
  await once(spawn(process.execPath, ['-e', script]), 'exit');
}

t.test(
  'a running gateway: its children know no secret, dead sockets are gone, uploads are ours',
  async (t) => {
    const dataDir = filledFolderOf(t);
    const run = privateFolder(join(dataDir, 'run'));
    await deadSocket(join(run, 'signal-999999.sock'));
    const living = createServer().listen(join(run, 'signal-999998.sock'));
    t.teardown(() => living.close());
    await once(living, 'listening');
    t.ok(existsSync(join(run, 'signal-999999.sock')));
    const gateway = await startGateway({
      ...{
        DATA_DIR: dataDir,
        TTS_ENGINES: 'tone,flite,espeak',
        LLM_API_KEY: 'hidden-1',
        SECRETS_KEY: 'hidden-2'.repeat(4),
      },
      ...{ LLM_BASE_URL: 'http://127.0.0.1:9', AWS_SECRET_ACCESS_KEY: 'hidden-3' },
    });
    t.teardown(() => gateway.stop());
    const children = familyOf(gateway.pid).filter((pid) => pid !== gateway.pid);
    t.ok(children.length >= 5, 'encoder, engines, media, database');
    for (const pid of children)
      t.notMatch(
        readFileSync(`/proc/${pid}/environ`, 'utf8'),
        /hidden|API_KEY|SECRET/,
        commandOf(pid).slice(0, 120),
      );
    t.strictSame(
      readdirSync(run)
        .filter((name) => name.startsWith('signal-'))
        .sort(),
      [`signal-${gateway.pid}.sock`, 'signal-999998.sock'].sort(),
    );
    t.equal(statSync(join(run, 'uploads')).mode & 0o777, 0o700);
  },
);

t.test('a start that finds the folder of somebody else says so in one line', async (t) => {
  const dataDir = folderOf(t);
  symlinkSync('/tmp', join(dataDir, 'run'));
  const { child, stdout, stderr } = spawnGateway({ DATA_DIR: dataDir, ...TONE });
  t.strictSame(await once(child, 'exit'), [1, null]);
  t.match(
    wordsOf(stdout() + stderr()),
    /^speech gateway: .*run cannot be used, it is a symbolic link: remove it\n$/,
  );
});
