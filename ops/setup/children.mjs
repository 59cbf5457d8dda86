/**
 * Child processes of set-up. Output is read line by line and its end kept, bounded; a child never outlives
 * set-up: SIGINT, SIGTERM and the like are passed on, everything is cleaned up, and the exit code says which it was.
 */
import { spawn } from 'node:child_process';
import os from 'node:os';
import { createInterface } from 'node:readline';

const KEPT_LINES = 400;
const KEPT_LINE_LENGTH = 2000;
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGQUIT', 'SIGHUP'];

const cleanups = new Set();

function interrupted(signal) {
  for (const cleanup of cleanups) cleanup(signal);
  process.exit(128 + os.constants.signals[signal]);
}

/** Runs `cleanup` if a signal ends set-up. Returns a function that takes it back. */
export function onInterrupt(cleanup) {
  if (cleanups.size === 0) for (const signal of SIGNALS) process.on(signal, interrupted);
  cleanups.add(cleanup);
  return () => {
    cleanups.delete(cleanup);
    if (cleanups.size === 0) for (const signal of SIGNALS) process.off(signal, interrupted);
  };
}

/**
 * Runs a command to its end and resolves to `{ code, output }`, `output` being its last lines.
 * Rejects where it cannot be started (ENOENT), and, once it has ended, where `signal` aborted it: with SIGKILL, because
 * npm goes on for a while after SIGTERM.
 */
export function runChild(command, args, { cwd, env, signal, onLine = () => {} } = {}) {
  return new Promise((resolve, reject) => {
    const stdio = ['ignore', 'pipe', 'pipe'];
    const child = spawn(command, args, { cwd, env, signal, killSignal: 'SIGKILL', stdio });
    const withdraw = onInterrupt((name) => child.kill(name));
    const output = [];
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        output.push(line.slice(0, KEPT_LINE_LENGTH));
        if (output.length > KEPT_LINES) output.shift();
        onLine(line);
      });
    }
    let fault;
    child.once('error', (error) => {
      fault = error;
      if (child.pid !== undefined) return;
      withdraw();
      reject(error);
    });
    child.once('close', (code, killedBy) => {
      withdraw();
      if (fault) reject(fault);
      else resolve({ code: code ?? 128 + os.constants.signals[killedBy], output });
    });
  });
}
