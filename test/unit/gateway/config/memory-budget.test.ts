/** MEMORY_BUDGET_MB: its default from the machine and from control groups of both versions, and its least value. */
import { readFileSync } from 'node:fs';
import t from '../../../fixtures/tap.js';
import { CHECKOUT } from '../../../../contracts/places.js';
import { readConfig } from '../../../../gateway/config.js';
import {
  defaultBudgetMb,
  groupLimit,
  littleMemory,
  memoryBudgetBytes,
} from '../../../../gateway/config/memory-budget.js';
import { throwsExactly } from '../../../fixtures/exactly.js';

const MIB = 1024 * 1024;

const reading =
  (files: Readonly<Record<string, string>>) =>
  (path: string): string | undefined =>
    files[path];

t.test('the least limit of the own control group and its ancestors counts', (t) => {
  const second = {
    '/proc/self/cgroup': '0::/system.slice/gateway.service\n',
    '/sys/fs/cgroup/system.slice/gateway.service/memory.max': 'max\n',
    '/sys/fs/cgroup/system.slice/memory.max': `${768 * MIB}\n`,
  };
  t.equal(groupLimit(reading(second)), 768 * MIB);
  const first = {
    '/proc/self/cgroup': '5:cpu,cpuacct:/a\n4:memory:/docker/abc\n0::/x\n',
    '/sys/fs/cgroup/memory/memory.limit_in_bytes': '9223372036854771712\n',
    '/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes': `${500 * MIB}\n`,
  };
  t.equal(groupLimit(reading(first)), 500 * MIB);
  t.equal(groupLimit(reading({})), Number.POSITIVE_INFINITY);
  t.end();
});

t.test('by default half of what is left above 450 MiB, and 64 MiB a process at least', (t) => {
  t.equal(defaultBudgetMb(768 * MIB, 1), 159);
  t.equal(defaultBudgetMb(450 * MIB, 1), 64);
  t.equal(defaultBudgetMb(768 * MIB, 4), 256);
  t.equal(memoryBudgetBytes(100, 1), 100 * MIB);
  t.end();
});

t.test('a budget that would not hold one request in each process stops the start', (t) => {
  t.equal(readConfig({ MEMORY_BUDGET_MB: '64' }).memoryBudgetBytes, 64 * MIB);
  for (const env of [{ MEMORY_BUDGET_MB: '63' }, { MEMORY_BUDGET_MB: '127', WORKERS: '2' }])
    throwsExactly(
      t,
      () => readConfig(env),
      { message: /MEMORY_BUDGET_MB must be at least/ },
      JSON.stringify(env),
    );
  t.end();
});

t.test('a start with less memory than it needs says so', async (t) => {
  t.strictSame(littleMemory(768 * MIB), []);
  const [line, ...more] = littleMemory(768 * MIB - 1);
  t.match(line, /^There are 767 MiB of memory\. With less than 768 MiB transcription may fail/);
  t.strictSame(more, []);
  t.match(readFileSync(new URL('docs/operate/memory.md', CHECKOUT), 'utf8'), /at least 768 MiB/);
});
