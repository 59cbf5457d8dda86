/** `npm run sessions`: deletes what is kept of an end user's calls (docs/voice-agents.md). */
import { randomIds } from '../../contracts/ids.js';
import { LIMITS } from '../../contracts/limits.js';
import type { Sql } from '../../storage/sql.js';
import { countLiveOf, removeSomeOf } from '../../storage/sessions/removal.js';
import { ensureDefaultWorkspace, findWorkspace } from '../../storage/workspaces.js';
import { type Command, type Program, removerOf } from './database-command.js';
import { removeDeletedRecordings } from '../recordings/recording-retention.js';

const USAGE = `Usage: npm run sessions -- <command>
  delete --end-user-id <id> [--workspace <name or id>]
                                deletes the sessions that were made with this end_user_id, for good: transcripts,
                                analyses, recordings, deliveries. Those that have not ended stay.
It works on DATABASE_URL, else on the embedded database in DATA_DIR (./data).`;

async function workspaceOf(sql: Sql, nameOrId: unknown): Promise<string> {
  const initial = await ensureDefaultWorkspace(sql, randomIds);
  return typeof nameOrId === 'string' ? (await findWorkspace(sql, nameOrId)).id : initial;
}

const counted = (count: number): string => `${count} session${count === 1 ? '' : 's'}`;

const remove: Command = {
  options: { 'end-user-id': 'string', workspace: 'string' },
  fits(words, { 'end-user-id': id }) {
    return words.length === 0 && typeof id === 'string' && id !== '' && id.length <= LIMITS.session.endUserId;
  },
  async run({ sql, dataDir, options, io }) {
    const endUserId = String(options['end-user-id']);
    const workspaceId = await workspaceOf(sql, options['workspace']);
    let deleted = 0;
    for (let ids; (ids = await removeSomeOf(sql, endUserId, workspaceId)).length > 0;) deleted += ids.length;
    io.out(`Deleted ${counted(deleted)} of ${endUserId}.`);
    const kept = await countLiveOf(sql, endUserId, workspaceId);
    if (kept > 0) io.out(`Kept ${counted(kept)}, not ended yet: try again after the end.`);
    for (const host of await removeDeletedRecordings({ sql, dataDir }))
      io.out(`${removerOf(host)} removes the recordings that it holds.`);
  },
};

export const sessions: Program = { usage: USAGE, commands: { delete: remove } };
