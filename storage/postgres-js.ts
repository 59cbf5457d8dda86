/**
 * postgres.js 3.4.9, mended as it is loaded (ADR 0013). As published, a server that dies at the wrong moment
 * ends this process or, worse, lets a transaction go on outside of itself:
 *
 * - a write that waits for the next turn of the loop finds its socket gone and throws where nobody can catch it
 *   (porsager/postgres #1154, #1208);
 * - what waited to be written stays behind, so that the connection never writes again after it has come back;
 * - statements of a transaction whose connection was lost, its `rollback` among them, run on whatever the
 *   connection is used for next (#1155);
 * - a connection that comes back remembers the statement that it was lost with, its error and what waited behind it:
 *   answers go to the wrong statement, one waits for ever, and an innocent one fails with the old error;
 * - the types that a new connection asks for first fail where nobody can catch it, and where a pooler answers them with
 *   an error and a close, as PgBouncer does while its server is away, the statement behind them waits for ever;
 * - a connection that may have no second statement under way (`max_pipeline: 0`) cannot begin a transaction.
 *
 * One edit adds what the package has not: statements that may be sent twice are, where their connection died (once-more.ts).
 *
 * No release mends these. Each edit below must fit the published text exactly once, or loading fails: the
 * package is pinned, and a new version is looked at before it is taken.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { compileFunction } from 'node:vm';
import type postgres from 'postgres';
import { onceMore } from './once-more.js';

interface Edit {
  readonly from: string;
  readonly to: string;
}

const CONNECTION: readonly Edit[] = [
  // A write without a socket fails what it belongs to.
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
  // A connection that comes back begins anew, and what it was opened for fails with what it was told. An error and a close may both come, and a statement between them.
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
    from: `if (initial)
      return reconnect()`,
    to: `if (initial && errorResponse)
      errored(errorResponse)
    if (initial) {
      forget()
      return reconnect()
    }`,
  },
  {
    from: 'closedTime = performance.now()',
    to: `forget()
    closedTime = performance.now()`,
  },
  // A transaction takes its connection, whether or not more may be sent on it.
  {
    from: `&& sent.length < max_pipeline
        && (!q.options.onexecute || q.options.onexecute(connection))`,
    to: `&& (!q.options.onexecute || q.options.onexecute(connection))
        && sent.length < max_pipeline`,
  },
  // The statement that the connection was opened for is told; this one is nobody's.
  { from: 'return fetchArrayTypes()', to: 'return fetchArrayTypes().catch(noop)' },
];

const POOL: readonly Edit[] = [
  // A transaction ends with its connection: what it still asks for fails.
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
  // What the pool is given, a transaction's `begin` too, but nothing that is asked within one.
  {
    from: `function handler(query) {
    if (ending)`,
    to: `function handler(query) {
    require('./once-more.js')(query, handler)
    if (ending)`,
  },
];

function mended(file: string, edits: readonly Edit[]): string {
  return edits.reduce(
    (text, { from, to }) => {
      const parts = text.split(from);
      if (parts.length !== 2)
        throw new Error(`postgres.js is not the version that storage/postgres-js.ts mends`);
      return parts.join(to);
    },
    readFileSync(file, 'utf8'),
  );
}

/** Runs one CommonJS file of the package with its edits; `given` are modules that it gets instead of its own. */
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
  const connection = load(join(dirname(entry), 'connection.js'), CONNECTION);
  const given = { './connection.js': connection, './once-more.js': onceMore };
  return load(entry, POOL, given) as typeof postgres;
}

export default loadMended();
