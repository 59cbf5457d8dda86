/**
 * The command `keys`: creates, lists and revokes API keys (docs/keys-and-workspaces.md). A key is printed when it is created
 * and never again.
 */
import { commandLine } from '../../contracts/command-line.js';
import { randomIds } from '../../contracts/ids.js';
import { isRole, type Role, ROLES } from '../../contracts/permissions.js';
import { createKey, listKeys, revokeKey, type KeyRow } from '../../storage/keys/keys.js';
import { ensureDefaultWorkspace, findWorkspace } from '../../storage/workspaces.js';
import { type DatabaseCommand, isName, CommandRefusal, type Program, table } from './database-command.js';
import { expiryOf } from './expiry.js';

const USAGE = `Usage: ${commandLine('keys', '<command>')}
  create [name] [options]  creates a key and prints it once
      --workspace <name or id>   its workspace; by default the workspace Default
      --role <role>              ${ROLES.join(', ')}; by default full
      --expires <when>           after 30m, 12h, 30d or 8w, or on a day such as 2030-01-31; by default never
  list                     shows all keys, without their secrets
  revoke <id or prefix>    ends a key at once, in every running process
Uses DATABASE_URL, else the embedded database in DATA_DIR.`;

const create: DatabaseCommand = {
  options: { workspace: 'string', role: 'string', expires: 'string' },
  fits: ([name = 'key', more], { role = 'full', expires }) =>
    more === undefined &&
    isName(name) &&
    isRole(String(role)) &&
    (expires === undefined || expiryOf(String(expires), Date.now()) !== undefined),
  async run({ sql, word, options, io }) {
    const fallback = await ensureDefaultWorkspace(sql, randomIds);
    const workspace = await findWorkspace(sql, String(options['workspace'] ?? fallback));
    const role = (options['role'] ?? 'full') as Role;
    const { expires } = options;
    const expiresAt = expires === undefined ? null : (expiryOf(String(expires), Date.now()) ?? null);
    const name = word || 'key';
    const { id, key } = await createKey(sql, randomIds, { workspaceId: workspace.id, name, role, expiresAt });
    const until = expiresAt ? `, until ${shownTime(expiresAt)}` : '';
    io.out(`Made ${id} (${name}): role ${role}, workspace ${workspace.name}${until}.`);
    io.out('This is the only time that the key is shown:');
    io.out(key);
  },
};

const shownTime = (at: Date): string => `${at.toISOString().slice(0, 16)}Z`;

function stateOf({ revokedAt, expiresAt }: KeyRow): string {
  if (revokedAt) return `revoked ${shownTime(revokedAt).slice(0, 10)}`;
  return expiresAt && expiresAt.getTime() <= Date.now() ? 'expired' : 'valid';
}

/** Heading → cell. */
const COLUMNS: Readonly<Record<string, (row: KeyRow) => string>> = {
  ID: ({ id }) => id,
  ENDS: ({ tail }) => (tail === '' ? '' : `…${tail}`),
  WORKSPACE: ({ workspaceName }) => workspaceName,
  ROLE: ({ role }) => role,
  STATE: stateOf,
  EXPIRES: ({ expiresAt }) => (expiresAt ? shownTime(expiresAt) : 'never'),
  'LAST USED': ({ lastUsedAt }) => (lastUsedAt ? shownTime(lastUsedAt) : 'never'),
  CREATED: ({ createdAt }) => shownTime(createdAt),
  NAME: ({ name }) => name,
};

const list: DatabaseCommand = {
  fits: (words) => words.length === 0,
  async run({ sql, io }) {
    const rows = await listKeys(sql);
    if (rows.length === 0) return io.err('There are no keys yet.');
    const cells = rows.map((row) => Object.values(COLUMNS).map((cell) => cell(row)));
    for (const line of table([Object.keys(COLUMNS), ...cells])) io.out(line);
  },
};

const revoke: DatabaseCommand = {
  fits: ([id = '', more]) => more === undefined && /^\w+$/.test(id),
  async run({ sql, word: id, io }) {
    const result = await revokeKey(sql, id);
    switch (result.outcome) {
      case 'revoked':
        return io.out(`Revoked ${result.id}.`);
      case 'already':
        return io.out(`${result.id} was revoked before.`);
      case 'ambiguous':
        throw new CommandRefusal(`Several keys begin with ${id}: ${result.ids.join(', ')}`);
      case 'unknown':
        throw new CommandRefusal(`No key begins with ${id}: see ${commandLine('keys', 'list')}`);
    }
  },
};

export const keys: Program = { usage: USAGE, commands: { create, list, revoke } };
