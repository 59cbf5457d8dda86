/**
 * The folder for files that live no longer than a gateway: sockets, pid files, uploads being decoded. It is in DATA_DIR,
 * which belongs to this installation and user. If its path is too long for a Unix socket, or the disk supports none or is full,
 * it is a temporary folder with an unpredictable name, which a file in DATA_DIR records, so that the next start finds what a
 * killed gateway left.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { isPrivateFolder, privateFolder, roomFor, writePrivateFile } from '../../processes/private-folder.js';
import { LONGEST } from '../../processes/channel/socket-path.js';
import { sweepSockets } from '../../processes/supervisor/sweep.js';

export interface RuntimeFolder {
  readonly path: string;
  /** Removes the folder if it is temporary. */
  stop(): Promise<void>;
}

/** No socket of ours has a longer name. */
const LONGEST_NAME = 'signal-4194304.sock';
const PREFIX = 'speech-gateway-';

/** Some disks (network, virtual machines) take no sockets. */
const takesSockets = (folder: string): Promise<boolean> =>
  new Promise((resolve) => {
    const path = join(folder, `probe-${process.pid}.sock`);
    rmSync(path, { force: true });
    const server = createServer().once('error', () => resolve(false));
    server.listen(path, () => server.close(() => resolve(true)));
  });

const recordOf = (dataDir: string): string => join(dataDir, 'run-folder');

/** The temporary folder that an earlier start made, if it is still ours. */
function remembered(dataDir: string): string | undefined {
  try {
    const path = readFileSync(recordOf(dataDir), 'utf8').trim();
    const fits = dirname(path) === tmpdir() && basename(path).startsWith(PREFIX);
    return fits && isPrivateFolder(path) ? path : undefined;
  } catch {
    return undefined;
  }
}

function temporary(dataDir: string): RuntimeFolder {
  const known = remembered(dataDir);
  const path = known ?? mkdtempSync(join(tmpdir(), PREFIX));
  if (known === undefined) roomFor(() => writePrivateFile(recordOf(dataDir), `${path}\n`));
  const stop = async (): Promise<void> => {
    await rm(path, { recursive: true, force: true });
    await rm(recordOf(dataDir), { force: true });
  };
  return { path, stop };
}

async function choose(dataDir: string): Promise<RuntimeFolder> {
  const near = join(dataDir, 'run');
  if (Buffer.byteLength(join(near, LONGEST_NAME)) > LONGEST) return temporary(dataDir);
  const made = roomFor(() => privateFolder(near));
  return made !== undefined && (await takesSockets(near))
    ? { path: near, stop: () => Promise.resolve() }
    : temporary(dataDir);
}

/** DATA_DIR must exist and be writable. Errors: names the folder that belongs to another user. */
export async function openRuntimeFolder(dataDir: string): Promise<RuntimeFolder> {
  const folder = await choose(dataDir);
  await sweepSockets(folder.path, /^(signal|probe)-\d+\.sock$/);
  return folder;
}
