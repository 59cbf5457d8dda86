/** Whether the process that has the lease of a call is still there (gateway/agents/calls/signal-relay.ts). */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import t from '../../../../fixtures/tap.js';
import { silentLog } from '../../../../../contracts/log.js';
import { createSignalRelay } from '../../../../../gateway/agents/calls/signal-relay.js';
import { folderOf } from '../../../../fixtures/folders.js';

t.test('a process lives while it listens, also if its socket is left behind', async (t) => {
  const address = join(folderOf(t), 'socket');
  const { lives } = createSignalRelay(silentLog);
  t.equal(await lives(address), false, 'it never was there');
  const server = createServer().listen(address);
  await once(server, 'listening');
  t.equal(await lives(address), true);
  server.close();
  await once(server, 'close');
  t.equal(await lives(address), false);
});
