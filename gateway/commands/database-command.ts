/**
 * Runs the operator's commands (`keys`, `workspaces`, `sessions`, `secrets`, `numbers`). They use DATABASE_URL, else the embedded
 * Postgres of DATA_DIR: the running one if a gateway has started it, else one that runs only for the command.
 */
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { openDatabase, type Database } from '../../storage/postgres/database.js';
import type { Sql } from '../../storage/postgres/sql.js';
import { runningEmbeddedPostgres, startEmbeddedPostgres } from '../../storage/embedded.js';
import { isUnderNohup } from '../../processes/supervisor/hang-up.js';
import { StorageFailure } from '../../storage/failure.js';
import { migrate } from '../../storage/postgres/migrate.js';
import { BUCKET } from '../../storage/recordings.js';

type Env = Readonly<Record<string, string | undefined>>;

/** Output in lines; each call gets one line without its line end. */
export interface Io {
  out(line: string): void;
  err(line: string): void;
}

/** The exit codes of all commands. */
export const EXIT = { done: 0, failed: 1, usage: 2 };

/** A command cannot do what was asked; the message is one line for the user. */
export class CommandRefusal extends Error {}

export interface Invocation {
  readonly sql: Sql;
  readonly dataDir: string;
  readonly env: Env;
  /** The first word after the command's name; empty if there is none. */
  readonly word: string;
  readonly options: Readonly<Record<string, string | boolean | undefined>>;
  readonly io: Io;
}

export interface DatabaseCommand {
  /** Name → whether it takes a value. */
  readonly options?: Readonly<Record<string, 'string' | 'boolean'>>;
  /** Whether these words and options are valid. */
  fits(words: readonly string[], options: Invocation['options']): boolean;
  /** Errors: `CommandRefusal`, `StorageFailure`. */
  run(invocation: Invocation): Promise<void>;
}

/** A group of commands, such as `keys`. */
export interface Program {
  readonly usage: string;
  /** Name → command. */
  readonly commands: Readonly<Record<string, DatabaseCommand>>;
}

/** A name of a key or workspace: some text without control characters. */
export const isName = (name: string): boolean => name.length <= 120 && /^[^\p{C}]+$/u.test(name);

/** Formats rows of cells as lines with aligned columns. */
export function table(rows: readonly string[][]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** The machine or bucket that removes the files of deleted recordings. */
export const removerOf = (place: string): string =>
  place.startsWith(BUCKET) ? `A gateway that uses ${place}` : `The gateway on ${place}`;

async function withDatabase<T>(
  url: string,
  work: (database: Database) => Promise<T>,
  patienceMs = 0,
): Promise<T> {
  const database = await openDatabase({ url, connections: 1, patienceMs, slow: true });
  try {
    await migrate(database.sql);
    return await work(database);
  } finally {
    await database.close();
  }
}

/** Signals that end a command, and with it the Postgres that it runs. */
const ENDS = ['SIGINT', 'SIGTERM', 'SIGQUIT', 'SIGHUP'] as const;

/** Runs embedded Postgres for the duration of `work`; signals stop it too. */
async function withOwnPostgres<T>(dataDir: string, work: (database: Database) => Promise<T>): Promise<T> {
  const stopping = new AbortController();
  const starting = startEmbeddedPostgres({ dataDir, signal: stopping.signal, brief: true });
  const stopped = async (): Promise<void> => {
    stopping.abort();
    await (await starting.catch(() => undefined))?.stop();
  };
  const stop = (signal: NodeJS.Signals): void => {
    if (signal !== 'SIGHUP' || !isUnderNohup()) void stopped().then(() => process.exit(EXIT.failed));
  };
  for (const signal of ENDS) process.once(signal, stop);
  try {
    return await withDatabase((await starting).url, work);
  } finally {
    for (const signal of ENDS) process.off(signal, stop);
    await stopped();
  }
}

/** How long a gateway's Postgres may take to start: it creates its database, or recovers. */
const STARTING_MS = 30_000;

async function onDatabase<T>(
  env: Env,
  dataDir: string,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const url = env['DATABASE_DIRECT_URL'] || env['DATABASE_URL'];
  if (url) return withDatabase(url, work);
  const running = await runningEmbeddedPostgres(dataDir);
  return running ? withDatabase(running, work, STARTING_MS) : withOwnPostgres(dataDir, work);
}

interface Understood {
  readonly command: DatabaseCommand;
  readonly word: string;
  readonly options: Invocation['options'];
}

/** Node's message about a wrong option, without the advice that follows. */
const firstSentence = (error: unknown): string => String((error as Error).message).split('. ', 1)[0] ?? '';

/** Parses the words into a command, or returns a line that says what is wrong with them. */
function understand(commands: Program['commands'], name: string, args: string[]): Understood | string {
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (!command) return name === '' ? 'A command is missing' : `Unknown command '${name}'`;
  const declared = Object.entries(command.options ?? {}).map(([option, type]) => [option, { type }] as const);
  try {
    const { positionals, values } = parseArgs({
      args,
      options: Object.fromEntries(declared),
      allowPositionals: true,
      strict: true,
    });
    const options = values as Invocation['options'];
    if (command.fits(positionals, options)) return { command, word: positionals[0] ?? '', options };
    return `Wrong arguments: ${[name, ...args].join(' ')}`;
  } catch (error) {
    return firstSentence(error);
  }
}

const HELP = /^(-h|--help)$/;

/**
 * Runs one command. `argv` are the words after the program's name. Returns the exit code: 0 done, 1 failed,
 * 2 wrong usage.
 */
export async function runCommand(
  program: Program,
  argv: readonly string[],
  env: Env,
  io: Io,
): Promise<number> {
  const [name = '', ...args] = argv;
  if (name === 'help' || argv.some((word) => HELP.test(word))) {
    io.out(program.usage);
    return EXIT.done;
  }
  const understood = understand(program.commands, name, args);
  if (typeof understood === 'string') {
    io.err(`${understood}\n\n${program.usage}`);
    return EXIT.usage;
  }
  const { command, word, options } = understood;
  const dataDir = resolve(env['DATA_DIR'] || './data');
  try {
    await onDatabase(env, dataDir, ({ sql }) => command.run({ sql, dataDir, env, word, options, io }));
    return EXIT.done;
  } catch (error) {
    if (!(error instanceof StorageFailure || error instanceof CommandRefusal)) throw error;
    io.err(error.message);
    return EXIT.failed;
  }
}
