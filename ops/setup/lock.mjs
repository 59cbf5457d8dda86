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

/** A living holder touches the lock; of one on another machine nothing else is known. */
const TOUCH_MS = 5_000;
const UNTOUCHED_STALE_MS = 60_000;

/** A takeover lasts microseconds; one this old was left behind by a killed process. */
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

/** Milliseconds since a file was touched; -1 where there is none. */
function age(file) {
  const touched = fs.statSync(file, { throwIfNoEntry: false })?.mtimeMs;
  return touched === undefined ? -1 : Date.now() - touched;
}

function lives(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

function isStale(file, { pid, started, host }) {
  if (host !== os.hostname()) return age(file) > UNTOUCHED_STALE_MS;
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
  if (age(takeover) > TAKEOVER_STALE_MS) fs.rmSync(takeover, { force: true });
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
  for (let told = false; !create(file, content); await wait(POLL_MS)) {
    const current = read(file);
    if (current === undefined) continue;
    const holder = holderOf(current);
    if (!holder || isStale(file, holder)) {
      removeStale(file, current);
    } else if (!told) {
      onWait(holder);
      told = true;
    }
  }
}

/** Keeps the lock looking alive; a failed touch shows when the lock is released. */
const keepTouched = (file) =>
  setInterval(() => fs.utimes(file, new Date(), new Date(), () => {}), TOUCH_MS).unref();

/** Runs `work` while holding the lock; `onWait(holder)` is called once if another process holds it. */
export async function withLock(work, { file = LOCK_FILE, onWait = () => {} } = {}) {
  await acquire(file, onWait);
  const touching = keepTouched(file);
  const release = () => {
    clearInterval(touching);
    fs.rmSync(file, { force: true });
  };
  const withdraw = onInterrupt(release);
  try {
    return await work();
  } finally {
    withdraw();
    release();
  }
}
