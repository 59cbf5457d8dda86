/**
 * What `add` is about, in a file beside the models: consoles of running gateways show it, whoever began it
 * (gateway/wiring/model-shelf.ts). A failure stays there until the next `add`.
 */
import fs from 'node:fs';
import { onInterrupt } from '../setup/children.mjs';
import { explain } from '../setup/failure.mjs';
import { writeAtomically } from '../setup/stamps.mjs';
import { addingFile } from './places.mjs';

const EVERY_MS = 400;
const MOST_CHARACTERS = 2_000;

/** Runs `work(came)`, which tells the bytes that have come so far of `total`. Errors: those of `work`. */
export async function telling(name, total, work) {
  const began = new Date().toISOString();
  const file = addingFile();
  const write = (more) =>
    writeAtomically(file, `${JSON.stringify({ name, pid: process.pid, began, total, ...more })}\n`);
  const tell = (more) => {
    try {
      write(more);
    } catch {
      // The disk is full: the work itself says so.
    }
  };
  const clear = () => fs.rmSync(file, { force: true });
  let have = 0;
  let timer;
  /** Written now and then, and the last of it always. */
  function came(bytes) {
    have = bytes;
    timer ??= setTimeout(() => {
      timer = undefined;
      tell({ bytes: have });
    }, EVERY_MS);
  }
  write({ bytes: 0 });
  const withdraw = onInterrupt(clear);
  try {
    const result = await work(came);
    clearTimeout(timer);
    clear();
    return result;
  } catch (error) {
    clearTimeout(timer);
    tell({ bytes: 0, problem: explain(error).slice(0, MOST_CHARACTERS) });
    throw error;
  } finally {
    withdraw();
  }
}
