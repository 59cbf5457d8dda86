/** The command `sessions`: shows and deletes the stored data of a person's calls (docs/operate/personal-data.md). */
import { commandLine } from '../../contracts/command-line.js';
import { randomIds } from '../../contracts/ids.js';
import type { Sql } from '../../storage/postgres/sql.js';
import {
  countLiveOf,
  removeSomeOf,
  type Traces,
  tracesOf,
  type Whose,
  withMember,
} from '../../storage/sessions/removal.js';
import { ensureDefaultWorkspace, findWorkspace } from '../../storage/workspaces.js';
import { type DatabaseCommand, type Invocation, type Program, removerOf, table } from './database-command.js';
import { removeDeletedRecordings } from '../agents/recordings/recording-retention.js';

const USAGE = `Usage: ${commandLine('sessions', '<command> <whose> [--workspace <name or id>]')}
  list                          shows what is stored about somebody
  delete                        deletes it permanently: transcripts, analyses, recordings, deliveries. Sessions that have
                                not ended stay.
<whose> is one of:
      --end-user-id <id>        sessions that were created with this end_user_id
      --caller-number <number>  calls from this number
      --metadata <name>=<value> sessions with this member in their metadata
      --session-id <id>         this session
Uses DATABASE_URL, else the embedded database in DATA_DIR.`;

type Options = Invocation['options'];

const MEMBER = /^([^=]+)=(.*)$/s;

/** The sessions that an option selects: by a column, or by a member of their metadata. */
type Selected = Whose | { readonly metadata: readonly [name: string, value: string] };

/** Option → parser of its value; undefined if the value is malformed. */
const SELECTORS: Readonly<Record<string, (value: string) => Selected | undefined>> = {
  'end-user-id': (endUserId) => ({ endUserId }),
  'caller-number': (callerNumber) => ({ callerNumber }),
  'session-id': (sessionId) => ({ sessionIds: [sessionId] }),
  metadata(member) {
    const [, name, value] = MEMBER.exec(member) ?? [];
    return name === undefined || value === undefined ? undefined : { metadata: [name, value] };
  },
};

/** The selection that the options give. Undefined if none or several of them are given, or the value is invalid. */
function selectedBy(options: Options): Selected | undefined {
  const given = Object.keys(SELECTORS).filter((name) => options[name] !== undefined);
  const [name = ''] = given;
  const value = String(options[name] ?? '');
  const storable = value !== '' && !value.includes('\0');
  return given.length === 1 && storable ? SELECTORS[name]?.(value) : undefined;
}

const inWords = (options: Options): string =>
  String(
    Object.keys(SELECTORS)
      .map((name) => options[name])
      .find((value) => value !== undefined),
  );

async function workspaceOf(sql: Sql, nameOrId: unknown): Promise<string> {
  const initial = await ensureDefaultWorkspace(sql, randomIds);
  return typeof nameOrId === 'string' ? (await findWorkspace(sql, nameOrId)).id : initial;
}

async function whoseOf(selected: Selected, workspaceId: string, sql: Sql): Promise<Whose> {
  if (!('metadata' in selected)) return selected;
  return { sessionIds: await withMember(sql, selected.metadata, workspaceId) };
}

const counted = (count: number): string => `${count} session${count === 1 ? '' : 's'}`;

/** A command on the sessions that its options select. */
function about(
  run: (whose: Whose, workspaceId: string, invocation: Invocation) => Promise<void>,
): DatabaseCommand {
  return {
    options: {
      ...Object.fromEntries(Object.keys(SELECTORS).map((name) => [name, 'string'] as const)),
      workspace: 'string',
    },
    fits: (words, options) => words.length === 0 && selectedBy(options) !== undefined,
    async run(invocation) {
      const { sql, options } = invocation;
      const workspaceId = await workspaceOf(sql, options['workspace']);
      const selected = selectedBy(options);
      if (selected) await run(await whoseOf(selected, workspaceId, sql), workspaceId, invocation);
    },
  };
}

const remove = about(async (whose, workspaceId, { sql, dataDir, options, io }) => {
  let deleted = 0;
  for (let ids; (ids = await removeSomeOf(sql, whose, workspaceId)).length > 0;) deleted += ids.length;
  io.out(`Deleted ${counted(deleted)} of ${inWords(options)}.`);
  const kept = await countLiveOf(sql, whose, workspaceId);
  if (kept > 0) io.out(`Kept ${counted(kept)}, not ended yet: try again after the end.`);
  for (const host of await removeDeletedRecordings({ sql, dataDir }))
    io.out(`${removerOf(host)} removes the recordings that it holds.`);
});

/** Heading → cell. */
const COLUMNS: Readonly<Record<string, (row: Traces) => string>> = {
  ID: ({ id }) => id,
  CREATED: ({ createdAt }) => `${createdAt.toISOString().slice(0, 16)}Z`,
  STATUS: ({ status }) => status,
  ITEMS: ({ items }) => String(items),
  RECORDED: ({ recorded }) => (recorded ? 'yes' : 'no'),
};

const list = about(async (whose, workspaceId, { sql, options, io }) => {
  const rows = await tracesOf(sql, whose, workspaceId);
  if (rows.length === 0) return io.out(`Nothing is kept of ${inWords(options)}.`);
  const cells = rows.map((row) => Object.values(COLUMNS).map((cell) => cell(row)));
  for (const line of table([Object.keys(COLUMNS), ...cells])) io.out(line);
});

export const sessions: Program = { usage: USAGE, commands: { list, delete: remove } };
