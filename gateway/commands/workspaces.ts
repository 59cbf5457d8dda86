/** The command `workspaces`: creates, lists, limits and removes workspaces (docs/keys-and-workspaces.md). */
import { commandLine } from '../../contracts/command-line.js';
import { randomIds } from '../../contracts/ids.js';
import {
  createWorkspace,
  ensureDefaultWorkspace,
  limitWorkspace,
  listWorkspaces,
  removeWorkspace,
  type WorkspaceLimits,
  type WorkspaceRow,
} from '../../storage/workspaces.js';
import { type DatabaseCommand, isName, type Program, removerOf, table } from './database-command.js';
import { removeDeletedRecordings } from '../agents/recordings/recording-retention.js';

const USAGE = `Usage: ${commandLine('workspaces', '<command>')}
  create <name>                 creates a workspace; ${commandLine('keys', 'create --workspace <name>')} creates a key for it
  list                          shows all workspaces
  limits <name or id> [options] shows its limits, and sets those that are named; "default" goes back to the settings
      --concurrency <n>             speech jobs at once, calls apart (CONCURRENCY)
      --calls <n>                   calls at once (CALLS_PER_WORKSPACE)
      --characters <n>              characters spoken per month (QUOTA_SYNTHESIS_CHARACTERS)
      --transcription-seconds <n>   seconds transcribed per month (QUOTA_TRANSCRIPTION_SECONDS)
      --conversation-seconds <n>    seconds of calls per month (QUOTA_CONVERSATION_SECONDS)
      --outbound on|off             whether its agents may place calls
  remove <name or id> [--force] deletes a workspace and everything in it: keys, agents, tools, knowledge, voices,
                                sessions, recordings, usage. With live sessions it refuses; --force ends them.
Uses DATABASE_URL, else the embedded database in DATA_DIR.`;

const isOneName = ([name = '', more]: readonly string[]): boolean => more === undefined && isName(name);

const create: DatabaseCommand = {
  fits: isOneName,
  async run({ sql, word, io }) {
    await ensureDefaultWorkspace(sql, randomIds);
    const { id, name } = await createWorkspace(sql, randomIds, word);
    io.out(`Made workspace ${name} (${id}).`);
  },
};

/** Heading → cell. */
const COLUMNS: Readonly<Record<string, (row: WorkspaceRow) => string>> = {
  ID: ({ id }) => id,
  KEYS: ({ keys }) => String(keys),
  AGENTS: ({ agents }) => String(agents),
  SESSIONS: ({ sessions }) => String(sessions),
  LIVE: ({ liveSessions }) => String(liveSessions),
  CREATED: ({ createdAt }) => `${createdAt.toISOString().slice(0, 16)}Z`,
  NAME: ({ name, isDefault }) => (isDefault ? `${name} (default)` : name),
};

const list: DatabaseCommand = {
  fits: (words) => words.length === 0,
  async run({ sql, io }) {
    await ensureDefaultWorkspace(sql, randomIds);
    const rows = await listWorkspaces(sql);
    const cells = rows.map((row) => Object.values(COLUMNS).map((cell) => cell(row)));
    for (const line of table([Object.keys(COLUMNS), ...cells])) io.out(line);
  },
};

type Value = WorkspaceLimits[keyof WorkspaceLimits];

interface Limit {
  readonly option: string;
  readonly words: string;
  /** The limit that a text gives, null for "default"; undefined if it gives none. */
  read(text: string): Value | undefined;
  shown(value: Value): string;
}

/** `each`: units of the stored limit per unit of the option, such as 1000 ms per second. */
const counted = (option: string, words: string, each = 1): Limit => ({
  option,
  words,
  read: (text) => (text === 'default' ? null : /^\d{1,9}$/.test(text) ? Number(text) * each : undefined),
  shown: (value) => (typeof value === 'number' ? String(value / each) : 'default'),
});

/** Word → whether calls are refused. */
const OUTBOUND: ReadonlyMap<string, boolean> = new Map([
  ['on', false],
  ['default', false],
  ['off', true],
]);

const LIMITED: Readonly<Record<keyof WorkspaceLimits, Limit>> = {
  concurrency: counted('concurrency', 'speech jobs at once'),
  calls: counted('calls', 'calls at once'),
  synthesisCharacters: counted('characters', 'characters spoken a month'),
  transcriptionMs: counted('transcription-seconds', 'seconds transcribed a month', 1000),
  conversationMs: counted('conversation-seconds', 'seconds of calls a month', 1000),
  outboundDisabled: {
    option: 'outbound',
    words: 'placing calls',
    read: (text) => OUTBOUND.get(text),
    shown: (value) => (value === true ? 'off' : 'on'),
  },
};
const LIMIT_ROWS = Object.entries(LIMITED) as [keyof WorkspaceLimits, Limit][];

const limits: DatabaseCommand = {
  options: Object.fromEntries(LIMIT_ROWS.map(([, { option }]) => [option, 'string'] as const)),
  fits: (words, options) =>
    isOneName(words) &&
    LIMIT_ROWS.every(
      ([, { option, read }]) => options[option] === undefined || read(String(options[option])) !== undefined,
    ),
  async run({ sql, word, options, io }) {
    const given = LIMIT_ROWS.filter(([, { option }]) => options[option] !== undefined);
    const wanted = given.map(([name, { option, read }]) => [name, read(String(options[option]))]);
    const now = await limitWorkspace(sql, word, Object.fromEntries(wanted) as Partial<WorkspaceLimits>);
    io.out(`Limits of ${now.name} (${now.id}):`);
    for (const [name, { words, shown }] of LIMIT_ROWS) io.out(`  ${words}: ${shown(now[name])}`);
  },
};

const remove: DatabaseCommand = {
  options: { force: 'boolean' },
  fits: isOneName,
  async run({ sql, dataDir, word, options, io }) {
    const { id, name } = await removeWorkspace(sql, word, options['force'] === true);
    const elsewhere = await removeDeletedRecordings({ sql, dataDir });
    io.out(`Removed workspace ${name} (${id}) and everything in it.`);
    for (const host of elsewhere) io.out(`${removerOf(host)} removes the recordings that it holds.`);
  },
};

export const workspaces: Program = { usage: USAGE, commands: { create, list, limits, remove } };
