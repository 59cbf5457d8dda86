/**
 * Loaded into a gateway by `--import`: measures the longest turn of its event loop, in processor time of the loop's thread, so that a
 * busy machine does not count. Who connects to the Unix socket LOOP_PROBE is told, since the last connection, the longest turn in
 * milliseconds, and the share of the time in which the loop had work, 0 to 1.
 */
import { openSync, readSync } from 'node:fs';
import { createServer } from 'node:net';
import { performance } from 'node:perf_hooks';

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
  let told = performance.eventLoopUtilization();
  const server = createServer((socket) => {
    const { utilization } = performance.eventLoopUtilization(told);
    socket.end(`${longest} ${utilization}`);
    longest = 0;
    told = performance.eventLoopUtilization();
  });
  server.listen(path).unref();
}

const path = process.env['LOOP_PROBE'];
// Its children inherit the environment.
if (path !== undefined && process.argv[1]?.endsWith('gateway/main.js')) {
  delete process.env['LOOP_PROBE'];
  measure(path);
}
