/**
 * The operator's commands as a program: its first word is a group of commands (`keys`, `workspaces`, `sessions`, `secrets`, `numbers`), the
 * second a command of it.
 */
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { outliveReaders } from '../output.js';
import { EXIT, type Io, type Program, runCommand } from './database-command.js';
import { keys } from './keys.js';
import { numbers } from './numbers.js';
import { secrets } from './secrets.js';
import { sessions } from './sessions.js';
import { workspaces } from './workspaces.js';

export const PROGRAMS = { keys, workspaces, sessions, secrets, numbers } satisfies Readonly<
  Record<string, Program>
>;

const output: Io = {
  out: (line) => void process.stdout.write(`${line}\n`),
  err: (line) => void process.stderr.write(`${line}\n`),
};

/** Runs the command that the process's arguments name, and sets the exit code. */
export async function main(): Promise<void> {
  outliveReaders();
  const [name = '', ...argv] = process.argv.slice(2);
  const program = Object.hasOwn(PROGRAMS, name) ? PROGRAMS[name as keyof typeof PROGRAMS] : undefined;
  if (program) {
    process.exitCode = await runCommand(program, argv, process.env, output);
    return;
  }
  output.err(`Groups of commands: ${Object.keys(PROGRAMS).join(', ')}`);
  process.exitCode = EXIT.usage;
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) await main();
