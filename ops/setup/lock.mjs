/**
 * One set-up at a time in a checkout. The lock is a file that names its holder; that of a holder which no longer
 * lives is taken over. Invariant: only who holds the takeover file may remove a lock that is not its own, and
 * looks once more before it does, so that no fresh lock is ever removed.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { onInterrupt } from './children.mjs';
import { LOCK_FILE } from './paths.mjs';

const POLL_MS = 200;

/** A takeover lasts microseconds; one this old was left by a process that was killed in it. */
const TAKEOVER_STALE_MS = 10_000;

/** When a process began, so that a reused number is not taken for it; unknown outside Linux. */
function startTime(pid) {
  try {
    const stat = fs.readFileSync(`/proc/${pid}/stat`, 'latin1');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return '';
  }
}

const identity = () => ({ pid: process.pid, started: startTime(process.pid), host: os.hostname() });

function lives(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Holders on another machine (a shared disk) cannot be looked up, and count as alive. */
function isStale({ pid, started, host }) {
  if (host !== os.hostname()) return false;
  return !lives(pid) || (started !== '' && startTime(pid) !== started);
}

function read(file) {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch (error) {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function holderOf(content) {
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}

/** Creates `file` with its content in one step; false where it exists. */
function create(file, content) {
  const own = `${file}.${process.pid}`;
  fs.writeFileSync(own, content);
  try {
    fs.linkSync(own, file);
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  } finally {
    fs.rmSync(own, { force: true });
  }
}

function removeStale(file, content) {
  const takeover = `${file}.takeover`;
  const begun = fs.statSync(takeover, { throwIfNoEntry: false })?.mtimeMs;
  if (begun !== undefined && Date.now() - begun > TAKEOVER_STALE_MS) fs.rmSync(takeover, { force: true });
  if (!create(takeover, '')) return;
  try {
    if (read(file) === content) fs.rmSync(file);
  } finally {
    fs.rmSync(takeover, { force: true });
  }
}

async function acquire(file, onWait) {
  const content = JSON.stringify(identity());
  fs.mkdirSync(path.dirname(file), { recursive: true });
  for (let told = false; !create(file, content); ) {
    const current = read(file);
    if (current === undefined) continue;
    const holder = holderOf(current);
    if (!holder || isStale(holder)) {
      removeStale(file, current);
      continue;
    }
    if (!told) onWait(holder);
    told = true;
    await wait(POLL_MS);
  }
}

/** Runs `work` while holding the lock; `onWait(holder)` is told once should another hold it. */
export async function withLock(work, { file = LOCK_FILE, onWait = () => {} } = {}) {
  await acquire(file, onWait);
  const release = () => fs.rmSync(file, { force: true });
  const withdraw = onInterrupt(release);
  try {
    return await work();
  } finally {
    withdraw();
    release();
  }
}
