/**
 * The console in headless Chromium: five owners work on it, each in a workspace and a tab of its own. One gateway and one
 * browser for all, since their starts cost more than most of what is done on them; one owner after the other, since a tab that is
 * open costs as much as one that is worked in.
 */
import { networkInterfaces } from 'node:os';
import t from '../../dist/test/fixtures/tap.js';
import { client } from '../../dist/test/fixtures/platform/agents.js';
import { randomIds } from '../../dist/contracts/ids.js';
import { createKey } from '../../dist/storage/keys/keys.js';
import { createWorkspace, ensureDefaultWorkspace } from '../../dist/storage/workspaces.js';
import { skipReason } from '../../dist/test/fixtures/external.js';
import { startGateway, TEST_KEY } from '../../dist/test/fixtures/gateway.js';
import { shortOrLong } from '../../dist/test/fixtures/long.js';
import { startPostgres } from '../../dist/test/fixtures/database/postgres.js';
import { makeAgentOnConsole } from './console-agents.mjs';
import { workThroughViews } from './console-all.mjs';
import { lookForFailures } from './console-failures.mjs';
import { makeFirstAgent } from './console-first.mjs';
import { lookAfterMany } from './console-many.mjs';
import { talkToAgent } from './console-talk.mjs';

/** Firefox sends no media to loopback. Undefined if the machine has no other address. */
const outward = Object.values(networkInterfaces())
  .flat()
  .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;

/** All views measured, at all widths, a session and a call in Firefox, and two calls of agent tests side by side. */
const long = shortOrLong(false, true);

t.test('owners work on the console', { skip: skipReason('chromium'), timeout: 580_000 }, async (t) => {
  const { startBrowser } = await import('./browser.mjs');
  const postgres = await startPostgres(t);
  const { sql } = await postgres.migrated();
  const gateway = await startGateway({
    DATABASE_URL: postgres.url,
    OUTBOUND_ALLOW: '127.0.0.1',
    PRICES: '{"currency":"EUR","input_tokens":1,"models":{"large":{"input_tokens":3}}}',
    CONSOLE_KEYS: 'true',
    MEDIA_HOST: outward ?? '127.0.0.1',
  });
  t.teardown(() => gateway.stop());
  const browser = await startBrowser(gateway);
  t.teardown(() => browser.stop());

  const { base } = gateway;
  /** A workspace as its owner has it. */
  const owned = (id, key) => ({
    id,
    base,
    key,
    authorization: { authorization: `Bearer ${key}` },
    call: client(base, key),
  });
  const newWorkspace = async (name) => {
    const { id } = await createWorkspace(sql, randomIds, name);
    const { key } = await createKey(sql, randomIds, { workspaceId: id, name });
    return owned(id, key);
  };
  const first = owned(await ensureDefaultWorkspace(sql, randomIds), TEST_KEY);
  const works = {
    'an owner works through all views': [workThroughViews, await newWorkspace('Views')],
    'an owner makes an agent': [makeAgentOnConsole, first],
    'a newcomer makes a first agent': [makeFirstAgent, await newWorkspace('First')],
    'an owner looks for what has failed': [lookForFailures, await newWorkspace('Failures')],
    'an owner looks after many': [lookAfterMany, await newWorkspace('Many')],
    'an owner talks to an agent': [talkToAgent, await newWorkspace('Talk')],
  };
  for (const [name, [work, workspace]] of Object.entries(works))
    await t.test(name, (t) => work(t, { browser, workspace, sql, outward, long }));
});
