/**
 * Loaded into a gateway by `--import`: measures the longest turn of its event loop, in processor time of the loop's thread, so that a
 * busy machine does not count. Who connects to the Unix socket LOOP_PROBE is told the longest turn since the last
 * connection, in milliseconds.
 */
import { openSync, readSync } from 'node:fs';
import { createServer } from 'node:net';

const TICK_MS = 1;

/** Processor time of this thread in milliseconds; of the whole process where the system does not tell. */
function threadTime(): () => number {
  try {
    const file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
    const text = Buffer.alloc(64);
    return () => {
      const length = readSync(file, text, 0, text.length, 0);
      return Number.parseInt(text.toString('latin1', 0, length), 10) / 1e6;
    };
  } catch {
    return () => {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1000;
    };
  }
}

function measure(path: string): void {
  const time = threadTime();
  let before = time();
  let longest = 0;
  setInterval(() => {
    const now = time();
    longest = Math.max(longest, now - before);
    before = now;
  }, TICK_MS).unref();
  const server = createServer((socket) => {
    socket.end(String(longest));
    longest = 0;
  });
  server.listen(path).unref();
}

const path = process.env['LOOP_PROBE'];
// Its children inherit the environment.
if (path !== undefined && process.argv[1]?.endsWith('gateway/main.js')) {
  delete process.env['LOOP_PROBE'];
  measure(path);
}
