/**
 * postgres.js 3.4.9, patched as it is loaded (ADR 0013). As published, a server that dies at the wrong moment
 * crashes this process or, worse, makes statements of a transaction run outside it:
 *
 * - a write that waits for the next turn of the loop finds its socket gone, and its error cannot be caught
 *   (porsager/postgres #1154, #1208);
 * - pending writes stay queued, so that the connection never writes again after it has reconnected;
 * - statements of a transaction whose connection was lost, including its `rollback`, run in the next use of
 *   the connection (#1155);
 * - a reconnected connection keeps the statement with which it was lost, its error and its queue: answers go to
 *   the wrong statement, one waits for ever, and an unrelated one fails with the old error;
 * - the query for types on a new connection fails without anyone to catch it (it is not sent: array-types.ts);
 * - a connection that is closed before the server has answered, as by a balancer without a server or by PgBouncer while its
 *   server is down, is opened again for ever and without a pause, and its statement waits;
 * - a connection that must not pipeline (`max_pipeline: 0`) cannot begin a transaction.
 *
 * Four features are added: repeatable statements are sent again if their connection died (once-more.ts); the idle connection
 * that was used last is used next (newest-first.ts); and a connection on which a statement waits for `answer_timeout` seconds
 * without a byte from the server is closed; a client's statements can be given to others (`route`, `handle`), and what runs on its
 * connections cancelled (`interrupt`). When packets are lost on the way, TCP alone waits for as long again as the loss has
 * lasted, and for a quarter of an hour if the server has gone.
 *
 * No release fixes these. Each edit below must match the published text exactly once, or loading fails: the
 * package is pinned, and a new version must be reviewed first.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { compileFunction } from 'node:vm';
import type postgres from 'postgres';
import { ARRAY_TYPES } from './array-types.js';
import { newestFirst } from './newest-first.js';
import { onceMore } from './once-more.js';

interface Edit {
  readonly from: string;
  readonly to: string;
}

const CONNECTION: readonly Edit[] = [
  // A write without a socket fails its statement.
  {
    from: 'const x = socket.write(chunk, fn)',
    to: `if (socket === null) {
      chunk = nextWriteTimer = null
      error(Errors.connection('CONNECTION_CLOSED', options))
      return true
    }
    const x = socket.write(chunk, fn)`,
  },
  // Queries that were not written are dropped with their connection.
  {
    from: `clearImmediate(nextWriteTimer)
    socket.removeListener('data', data)`,
    to: `clearImmediate(nextWriteTimer)
    chunk = nextWriteTimer = null
    socket.removeListener('data', data)`,
  },
  // A connection starts clean, and the statement that it was opened for fails with the server's error, or with its close. Both may arrive, with a statement between them.
  {
    from: 'async function closed(hadError) {',
    to: `function forget() {
    while (sent.length)
      queryError(sent.shift(), Errors.connection('CONNECTION_CLOSED', options))
    query = errorResponse = results = null
    result = new Result()
    rows = 0
  }

  async function closed(hadError) {`,
  },
  {
    from: 'closedTime = performance.now()',
    to: `forget()
    closedTime = performance.now()`,
  },
  {
    from: `if (initial)
      return reconnect()`,
    to: `if (initial)
      errored(errorResponse || Errors.connection('CONNECTION_CLOSED', options))`,
  },
  // A transaction reserves its connection, whether or not pipelining is allowed on it.
  {
    from: `&& sent.length < max_pipeline
        && (!q.options.onexecute || q.options.onexecute(connection))`,
    to: `&& (!q.options.onexecute || q.options.onexecute(connection))
        && sent.length < max_pipeline`,
  },
  // A connection is closed if the server is silent for too long while a statement waits.
  {
    from: ', connectTimer = timer(connectTimedOut, options.connect_timeout)',
    to: `, connectTimer = timer(connectTimedOut, options.connect_timeout)
      , answerTimer = timer(() => socket && socket.destroy(
          Object.assign(new Error('no answer from the database'), { code: 'ETIMEDOUT' })), options.answer_timeout)`,
  },
  {
    from: ': (query = q, query.active = true)',
    to: ': (query = q, query.active = true, answerTimer.start())',
  },
  {
    from: 'function data(x) {',
    to: `function data(x) {
    answerTimer.start()`,
  },
  {
    from: `incoming = incoming.subarray(length + 1)
      remaining = 0
      incomings = null
    }`,
    to: `incoming = incoming.subarray(length + 1)
      remaining = 0
      incomings = null
    }
    query || answerTimer.cancel()`,
  },
  {
    from: `lifeTimer.cancel()
    connectTimer.cancel()`,
    to: `lifeTimer.cancel()
    connectTimer.cancel()
    answerTimer.cancel()`,
  },
  // What runs on a connection can be cancelled, whichever statement it is.
  {
    from: `cancel,
    end,`,
    to: `cancel,
    atWork: () => query ? backend : null,
    end,`,
  },
  // The types of arrays are known, not asked for on each new connection.
  {
    from: `initial.reserve && (initial = null)
        return fetchArrayTypes()`,
    to: `needsTypes = false
        require('./array-types.js').forEach(([oid, typarray]) => addArrayType(oid, typarray))`,
  },
];

const POOL: readonly Edit[] = [
  { from: 'keep_alive      : 60,', to: 'keep_alive: 60, answer_timeout: null, route: null,' },
  { from: ', open = Queue()', to: ", open = require('./newest-first.js')()" },
  // Statements of one client can run on another's connection, and a client cancels what runs on its own.
  {
    from: `    reserve,
    listen,
    begin,`,
    to: `    reserve,
    listen,
    handle: handler,
    interrupt: () => Promise.all(connections.map((c) => c.atWork()).filter(Boolean).map((backend) =>
      new Promise((resolve, reject) => Connection(options).cancel(backend, resolve, reject)))),
    begin,`,
  },
  // A transaction ends with its connection: its further statements fail.
  {
    from: 'new Promise((_, reject) => connection.onclose = reject)',
    to: `new Promise((_, reject) => connection.onclose = (error) => {
          lost = error
          reject(error)
          while (queries.length) queries.shift().reject(error)
        })`,
  },
  {
    from: `let savepoints = 0
      , connection`,
    to: `let savepoints = 0
      , lost = null
      , connection`,
  },
  {
    from: `q.catch(e => uncaughtError || (uncaughtError = e))
        c.queue === full`,
    to: `q.catch(e => uncaughtError || (uncaughtError = e))
        if (lost) return q.reject(lost)
        c.queue === full`,
  },
  // Statements for the pool, including a transaction's `begin`, but no statements within one.
  {
    from: `function handler(query) {
    if (ending)`,
    to: `function handler(query) {
    if (options.route)
      return options.route(query)
    require('./once-more.js')(query, handler)
    if (ending)`,
  },
];

function mended(file: string, edits: readonly Edit[]): string {
  return edits.reduce(
    (text, { from, to }) => {
      const parts = text.split(from);
      if (parts.length !== 2)
        throw new Error(`postgres.js is not the version that storage/postgres/postgres-js.ts mends`);
      return parts.join(to);
    },
    readFileSync(file, 'utf8'),
  );
}

/** Runs one CommonJS file of the package with its edits; `given` are modules that replace its own. */
function load(file: string, edits: readonly Edit[], given: Readonly<Record<string, unknown>> = {}): unknown {
  const own = createRequire(file);
  const module = { exports: {} as unknown };
  const find = (name: string): unknown => (name in given ? given[name] : own(name));
  const names = ['exports', 'require', 'module', '__filename', '__dirname'];
  const run = compileFunction(mended(file, edits), names, { filename: file }) as (...args: unknown[]) => void;
  run(module.exports, find, module, file, dirname(file));
  return module.exports;
}

function loadMended(): typeof postgres {
  const entry = createRequire(import.meta.url).resolve('postgres');
  const connection = load(join(dirname(entry), 'connection.js'), CONNECTION, {
    './array-types.js': ARRAY_TYPES,
  });
  const given = {
    './connection.js': connection,
    './once-more.js': onceMore,
    './newest-first.js': newestFirst,
  };
  return load(entry, POOL, given) as typeof postgres;
}

export default loadMended();
