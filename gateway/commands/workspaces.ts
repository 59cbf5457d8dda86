/** `npm run workspaces`: makes, lists and removes workspaces (docs/keys-and-workspaces.md). */
import { randomIds } from '../../contracts/ids.js';
import {
  createWorkspace,
  ensureDefaultWorkspace,
  listWorkspaces,
  removeWorkspace,
  type WorkspaceRow,
} from '../../storage/workspaces.js';
import { type Command, isName, type Program, removerOf, table } from './database-command.js';
import { removeDeletedRecordings } from '../recordings/recording-retention.js';

const USAGE = `Usage: npm run workspaces -- <command>
  create <name>                 makes a workspace; npm run keys -- create --workspace <name> makes a key for it
  list                          shows all workspaces
  remove <name or id> [--force] deletes a workspace and everything in it: keys, agents, tools, knowledge, voices,
                                sessions, recordings, usage. With live sessions it refuses; --force ends them.
It works on DATABASE_URL, else on the embedded database in DATA_DIR (./data).`;

const isOneName = ([name = '', more]: readonly string[]): boolean => more === undefined && isName(name);

const create: Command = {
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

const list: Command = {
  fits: (words) => words.length === 0,
  async run({ sql, io }) {
    await ensureDefaultWorkspace(sql, randomIds);
    const rows = await listWorkspaces(sql);
    const cells = rows.map((row) => Object.values(COLUMNS).map((cell) => cell(row)));
    for (const line of table([Object.keys(COLUMNS), ...cells])) io.out(line);
  },
};

const remove: Command = {
  options: { force: 'boolean' },
  fits: isOneName,
  async run({ sql, dataDir, word, options, io }) {
    const { id, name } = await removeWorkspace(sql, word, options['force'] === true);
    const elsewhere = await removeDeletedRecordings({ sql, dataDir });
    io.out(`Removed workspace ${name} (${id}) and everything in it.`);
    for (const host of elsewhere) io.out(`${removerOf(host)} removes the recordings that it holds.`);
  },
};

export const workspaces: Program = { usage: USAGE, commands: { create, list, remove } };
