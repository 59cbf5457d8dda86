/**
 * `npm run keys`: makes, lists and revokes API keys (decisions.md "Keys"). It works on DATABASE_URL, else on
 * the embedded Postgres of DATA_DIR: the running one where a gateway has it, else one started for the moment.
 * A key is printed when it is made and never again.
 */
import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { randomIds } from '../contracts/ids.js';
import { openDatabase, type Database, type Sql } from '../storage/database.js';
import { runningEmbedded, startEmbedded } from '../storage/embedded.js';
import { StorageFailure } from '../storage/failure.js';
import { createKey, listKeys, revokeKey, type KeyRow } from '../storage/keys.js';
import { migrate } from '../storage/migrate.js';
import { ensureDefaultWorkspace } from '../storage/workspaces.js';

type Env = Readonly<Record<string, string | undefined>>;

/** Where lines go; each call is one line without its end. */
export interface Io {
  out(line: string): void;
  err(line: string): void;
}

const USAGE = `Usage: npm run keys -- <command>
  create [name]            makes a key with full access and prints it once
  list                     shows all keys, without their secrets
  revoke <id or prefix>    ends a key at once, in every running process
It works on DATABASE_URL, else on the embedded database in DATA_DIR (./data).`;

const EXIT = { done: 0, failed: 1, usage: 2 };
const NAME_LENGTH = 120;

type Command = (sql: Sql, argument: string | undefined, io: Io) => Promise<number>;

const create: Command = async (sql, name = 'key', io) => {
  const workspaceId = await ensureDefaultWorkspace(sql, randomIds);
  const { id, key } = await createKey(sql, randomIds, { workspaceId, name });
  io.out(`Made ${id} (${name}). This is the only time that the key is shown:`);
  io.out(key);
  return EXIT.done;
};

const columns = (row: KeyRow): string[] => [
  row.id,
  row.tail === '' ? '' : `…${row.tail}`,
  row.createdAt.toISOString().slice(0, 19) + 'Z',
  row.revokedAt ? `revoked ${row.revokedAt.toISOString().slice(0, 10)}` : 'valid',
  row.name,
];

function table(rows: readonly string[][]): string[] {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

const list: Command = async (sql, _argument, io) => {
  const rows = await listKeys(sql);
  if (rows.length === 0) io.err('There are no keys yet.');
  else
    for (const line of table([['ID', 'ENDS', 'CREATED', 'STATE', 'NAME'], ...rows.map(columns)]))
      io.out(line);
  return EXIT.done;
};

const revoke: Command = async (sql, id = '', io) => {
  const result = await revokeKey(sql, id);
  switch (result.outcome) {
    case 'revoked':
      io.out(`Revoked ${result.id}.`);
      return EXIT.done;
    case 'already':
      io.out(`${result.id} was revoked before.`);
      return EXIT.done;
    case 'ambiguous':
      io.err(`Several keys begin with ${id}: ${result.ids.join(', ')}`);
      return EXIT.failed;
    case 'unknown':
      io.err(`No key begins with ${id}: see npm run keys -- list`);
      return EXIT.failed;
  }
};

const COMMANDS: Readonly<
  Record<string, { readonly run: Command; readonly fits: (words: readonly string[]) => boolean }>
> = {
  create: {
    run: create,
    fits: ([name = 'key', more]) =>
      more === undefined && /^[^\p{C}]+$/u.test(name) && name.length <= NAME_LENGTH,
  },
  list: { run: list, fits: (words) => words.length === 0 },
  revoke: { run: revoke, fits: ([id = '', more]) => more === undefined && /^\w+$/.test(id) },
};

async function withDatabase<T>(url: string, work: (database: Database) => Promise<T>): Promise<T> {
  const database = await openDatabase({ url, connections: 1, patienceMs: 0 });
  try {
    await migrate(database.sql);
    return await work(database);
  } finally {
    await database.close();
  }
}

/** Starts embedded Postgres for the moment, and stops it on every way out. */
async function withOwnPostgres<T>(dataDir: string, work: (database: Database) => Promise<T>): Promise<T> {
  const embedded = await startEmbedded({ dataDir });
  const stop = (): void => void embedded.stop().then(() => process.exit(EXIT.failed));
  process.once('SIGINT', stop).once('SIGTERM', stop);
  try {
    return await withDatabase(embedded.url, work);
  } finally {
    process.off('SIGINT', stop).off('SIGTERM', stop);
    await embedded.stop();
  }
}

function onDatabase<T>(env: Env, work: (database: Database) => Promise<T>): Promise<T> {
  const dataDir = resolve(env['DATA_DIR'] || './data');
  const url = env['DATABASE_URL'] || runningEmbedded(dataDir);
  return url ? withDatabase(url, work) : withOwnPostgres(dataDir, work);
}

/**
 * Runs one command. `argv` are the words after the program's name. Returns the exit code: 0 done, 1 failed,
 * 2 not understood.
 */
export async function run(argv: readonly string[], env: Env, io: Io): Promise<number> {
  const [name = '', ...words] = argv;
  if (/^(help|-h|--help)$/.test(name)) {
    io.out(USAGE);
    return EXIT.done;
  }
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!command?.fits(words)) {
    io.err(USAGE);
    return EXIT.usage;
  }
  try {
    return await onDatabase(env, ({ sql }) => command.run(sql, words[0], io));
  } catch (error) {
    if (!(error instanceof StorageFailure)) throw error;
    io.err(error.message);
    return EXIT.failed;
  }
}

/** The program: the words of this process, its environment, its output. */
export async function main(): Promise<void> {
  process.exitCode = await run(process.argv.slice(2), process.env, {
    out: (line) => void process.stdout.write(`${line}\n`),
    err: (line) => void process.stderr.write(`${line}\n`),
  });
}

if (process.argv[1] && realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) await main();
