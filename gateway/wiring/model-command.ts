/** The command `models` (ops/models), run for the console: one rule of what is fetched, checked and put in place, for people and gateways. */
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { CHECKOUT } from '../../contracts/places.js';

const COMMAND = fileURLToPath(new URL('ops/commands/run.mjs', CHECKOUT));
/** Most of what it says that is kept: the end of its complaints, and a whole catalogue. */
const MOST_ERROR = 4000;
const MOST_OUTPUT = 2_000_000;

export interface RunCommand {
  readonly child: ChildProcess;
  /** Resolves when it has ended. Never rejects. */
  readonly ended: Promise<{ readonly code: number; readonly output: string; readonly complaint: string }>;
}

/** Starts `models` with these words. */
export function runModels(modelsDir: string, words: readonly string[]): RunCommand {
  const env = { ...process.env, MODELS_DIR: modelsDir };
  const child = spawn(process.execPath, [COMMAND, 'models', ...words], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let complaint = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output = (output + text).slice(0, MOST_OUTPUT);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaint = (complaint + text).slice(-MOST_ERROR);
  });
  const ended = new Promise<{ code: number; output: string; complaint: string }>((resolve) => {
    child.on('error', (error) => resolve({ code: 1, output, complaint: error.message }));
    child.on('close', (code) => resolve({ code: code ?? 1, output, complaint }));
  });
  return { child, ended };
}

/** What a command that failed complained of: its last paragraph, without the lines of progress. */
export const complaintIn = (text: string): string =>
  text.slice(text.lastIndexOf('setup: ') + 1 > 0 ? text.lastIndexOf('setup: ') + 'setup: '.length : 0).trim();
