/** A database of the run: of the test run's server if there is one, else of a server of its own. */
import { rmSync } from 'node:fs';
import { openDatabase } from '../../../storage/postgres/database.js';
import { startEmbeddedPostgres } from '../../../storage/embedded.js';
import { migrate } from '../../../storage/postgres/migrate.js';
import { createDatabase, testServer } from '../../fixtures/database/databases.js';
import { temporaryFolder } from '../../fixtures/folders.js';

export interface OwnPostgres {
  readonly url: string;
  stop(): Promise<void>;
}

export async function startPostgres(): Promise<OwnPostgres> {
  const server = testServer();
  if (server !== undefined) {
    const { url, drop } = await createDatabase(server, { migrated: true });
    return { url, stop: async () => void (await drop()) };
  }
  const dataDir = temporaryFolder('attack-');
  const embedded = await startEmbeddedPostgres({ dataDir });
  const { sql, close } = await openDatabase({ url: embedded.url, connections: 1 });
  await migrate(sql);
  await close();
  return {
    url: embedded.url,
    async stop() {
      await embedded.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
