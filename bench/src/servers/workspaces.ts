/** Workspaces of a gateway of a checkout, made by its operator's commands. */
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const COMMANDS = path.join('bundle', 'gateway', 'commands', 'main.js');

/** A key of a new workspace. */
export async function makeWorkspace(checkout: string, dataDir: string, name: string): Promise<string> {
  const env = { PATH: process.env['PATH'], DATA_DIR: dataDir };
  const operate = (...args: string[]) =>
    run(process.execPath, [path.join(checkout, COMMANDS), ...args], { env });
  await operate('workspaces', 'create', name);
  const { stdout, stderr } = await operate('keys', 'create', 'bench', '--workspace', name);
  const key = /\bsk_[\w-]{43}/.exec(stdout)?.[0];
  if (key === undefined) throw new Error(`no key was made: ${stdout}${stderr}`);
  return key;
}
