/**
 * A data folder on a disk without a free byte: the gateway starts again and again, reads and speaks; health says what is
 * wrong, and what needs room is 503. Needs a file system of its own, so it runs where one may be mounted.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import t from '../../fixtures/tap.js';
import { LIMITS } from '../../../contracts/limits.js';
import { client, makeAgent } from '../../fixtures/platform/agents.js';
import { exactly } from '../../fixtures/exactly.js';
import { folderOf } from '../../fixtures/folders.js';
import { EMBEDDED_POSTGRES, spawnGateway, TONE } from '../../fixtures/gateway.js';
import { until } from '../../fixtures/until.js';

const MIB = 1024 * 1024;
const disk = folderOf(t);
const dataDir = join(disk, 'data');
const reserve = join(dataDir, 'reserve');
const filling = join(disk, 'filling');
const KEY = 'sk_full_disk';
const settings = { ...TONE, ...EMBEDDED_POSTGRES, DATA_DIR: dataDir, API_KEY: KEY };
const mounting = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=160m,mode=0711', 'tmpfs', disk]);
const skip = mounting.status === 0 ? false : 'no file system can be mounted here';
if (!skip) t.teardown(() => void execFileSync('umount', ['-l', disk]));

/** Uses the last byte. */
function fillDisk(): void {
  const file = openSync(filling, 'a');
  try {
    for (;;) writeSync(file, Buffer.alloc(MIB, 1));
  } catch (error) {
    exactly(t, error, { code: 'ENOSPC' });
  } finally {
    closeSync(file);
  }
}

async function start() {
  const { child, stdout, stderr } = spawnGateway(settings);
  const exited = once(child, 'exit');
  const base = await until('the gateway is ready', () => {
    if (child.exitCode !== null) throw new Error(`gateway ended with ${child.exitCode}: ${stderr()}`);
    return stdout().includes('is ready') && /https?:\/\/[^\s/]+/.exec(stdout())?.[0];
  });
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal);
    await exited;
  };
  const speak = async (): Promise<number> => {
    const response = await fetch(`${base}/v1/tts`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ text: 'a', format: 'mp3' }),
    });
    const { byteLength } = await response.arrayBuffer();
    return byteLength > 0 ? response.status : 0;
  };
  const health = async (): Promise<unknown> => (await fetch(`${base}/health`)).json();
  return { ask: client(base, KEY), speak, health, end, stderr };
}

t.test('a full disk', { skip }, async (t) => {
  mkdirSync(dataDir);
  const first = await start();
  const agent = await makeAgent(first.ask);
  await until(
    'room is kept',
    () => existsSync(reserve) && statSync(reserve).size === LIMITS.storage.reserveBytes,
  );
  await first.end('SIGTERM');

  await t.test('start, speech, reading and health, also after a kill', async (t) => {
    for (const signal of ['SIGTERM', 'SIGKILL', 'SIGTERM'] as const) {
      fillDisk();
      const gateway = await start();
      t.equal(await gateway.speak(), 200);
      t.equal((await gateway.ask(`agents/${agent}`)).status, 200);
      exactly(t, await gateway.health(), { status: 'degraded', ready: false, checks: { storage: false } });
      t.match(gateway.stderr(), /the disk is full/);
      await until('the log says so', () => /no room left on the disk/.test(gateway.stderr()));
      await gateway.end(signal);
    }
  });

  await t.test('what needs room is 503, until there is some', async (t) => {
    fillDisk();
    const { ask, speak, health, end } = await start();
    fillDisk();
    const make = () => {
      const system_prompt = randomBytes(1500).toString('hex');
      return ask('agents', { body: { name: 'large', config: { prompt: { system_prompt } } } });
    };
    const refused = await until('the tables are full', async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, make));
      return answers.find(({ status }) => status >= 400);
    });
    exactly(t, refused, {
      status: 503,
      body: { message: 'The server has no space left to store this, try again later' },
    });
    t.equal(await speak(), 200);
    rmSync(filling);
    await until('it is well again', async () => ((await health()) as { status: string }).status === 'ok');
    t.equal((await make()).status, 201);
    await end('SIGTERM');
  });
});
