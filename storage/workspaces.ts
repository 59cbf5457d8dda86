/** Workspaces: who owns keys, slots, usage and quotas. An installation starts with one, the default. */
import type { Ids } from '../contracts/ids.js';
import type { Sql } from './database.js';
import { exclusively } from './migrate.js';

const DEFAULT = 'default_workspace';

/** The id of the default workspace, which is made the first time. Safe from several processes at once. */
export const ensureDefaultWorkspace = (sql: Sql, ids: Ids): Promise<string> =>
  exclusively(sql, DEFAULT, async (tx) => {
    const [known] = await tx<{ value: string }[]>`select value from settings where name = ${DEFAULT}`;
    if (known) return known.value;
    const id = ids.next('workspace');
    await tx`insert into workspaces (id, name) values (${id}, 'Default')`;
    await tx`insert into settings (name, value) values (${DEFAULT}, ${id})`;
    return id;
  });
