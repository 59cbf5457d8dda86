/**
 * One process of test files, and what it says of each: it speaks TAP on its standard output (https://testanything.org), which
 * the package tap-parser reads.
 */
import { spawn } from 'node:child_process';
import os from 'node:os';
import { Parser } from 'tap-parser';
import { ROOT } from './paths.mjs';
import { filesOf } from './test-batches.mjs';
import { TEST_FLAGS } from './test-flags.mjs';

/** A test that is out of time says so itself at its TAP_TIMEOUT; one that cannot is killed so much later. */
const GRACE_MS = 5000;

/** A file that has ended already has no priority to set. */
function setNice(pid, nice) {
  try {
    os.setPriority(pid, nice);
  } catch (error) {
    if (error.code !== 'ERR_SYSTEM_ERROR') throw error;
  }
}

/** Kills the process when its time is over. Files of tap tell when they take more time than others: `{ setTimeout: ms }`. */
function killLate(child, ms) {
  let timer;
  const wait = (time) => {
    clearTimeout(timer);
    timer = time > 0 ? setTimeout(() => child.kill('SIGKILL'), time + GRACE_MS) : undefined;
  };
  wait(ms);
  child.on('message', (told) => typeof told?.setTimeout === 'number' && wait(told.setTimeout));
  child.once('close', () => clearTimeout(timer));
}

const newAccount = (name) => ({
  name,
  counts: { pass: 0, fail: 0, skip: 0, todo: 0 },
  fails: [],
  skips: [],
  ms: 0,
});

/** Reads the output into the accounts of its files: a batch has a test for each file, of its name (test-batch.mjs). */
function readInto(output, accounts) {
  const isBatch = accounts.length > 1;
  const parser = new Parser(isBatch ? {} : { name: accounts[0].name });
  let current = isBatch ? undefined : accounts[0];
  let since = performance.now();
  const ended = (account) => (results) => {
    Object.assign(account, { results, ms: performance.now() - since });
    since = performance.now();
  };
  if (current) parser.on('complete', ended(current));
  else
    parser.on('child', (child) => {
      current = accounts.find(({ name }) => name === child.name);
      if (current) child.on('complete', ended(current));
    });
  for (const kind of ['pass', 'fail', 'skip', 'todo'])
    parser.on(kind, (result) => {
      // Of a file that ran no test tap says that it passed.
      if (!current || (result.ok && result.fullname === current.name)) return;
      current.counts[kind] += 1;
      current[`${kind}s`]?.push(result);
    });
  output.pipe(parser);
  return () => current ?? accounts[0];
}

/** A process in which something failed ends with code 1. */
const isExpected = (accounts, code, signal) =>
  !signal && (code === 0 || (code === 1 && accounts.some(({ results }) => results?.ok === false)));

/**
 * Runs a file, or a batch of them, to its end. `program`: the Node that runs it; `args` and `env`: of the process; `timeout`: seconds for
 * each file; `started(child)` is told of the process. Resolves to what it said of each file, in their order: `{ name, counts, fails, skips, results, end, ms }`,
 * the lists as tap-parser has them; `results` is missing of a file that did not end, and `end` is how the process did, where
 * that concerns the file.
 */
export function runProcess(run, { program, args, env, timeout, nice, started }) {
  const files = filesOf([run]);
  const seconds = timeout * files.length;
  const accounts = files.map(({ name }) => newAccount(name));
  const flags = program === process.execPath ? TEST_FLAGS : [];
  const child = spawn(program, [...flags, ...args, run.file], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    env: { ...env, ...run.env, TAP_TIMEOUT: String(seconds) },
  });
  started(child);
  if (child.pid !== undefined) setNice(child.pid, nice);
  killLate(child, seconds * 1000);
  const last = readInto(child.stdout, accounts);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => {
      if (accounts.length === 1 || !isExpected(accounts, code, signal)) last().end = { code, signal };
      resolve(accounts);
    });
  });
}
