/** Memory of all processes of an idle gateway with the default engines, after it has spoken once (PSS). */
import { readFileSync } from 'node:fs';
import { DEFAULTS, startGateway } from '../test/fixtures/gateway.js';
import { familyOf } from '../test/fixtures/family.js';
import { memoryMb, row, speak } from './measure.js';

const nameOf = (pid: number): string => {
  const [, script = ''] = readFileSync(`/proc/${pid}/cmdline`, 'latin1').split('\0');
  const program = readFileSync(`/proc/${pid}/comm`, 'latin1').trim();
  return program === 'node' ? script.replace(/^.*\//, '') : program;
};

const gateway = await startGateway(DEFAULTS);
try {
  await speak(gateway, { text: 'Hello.', format: 'mp3' });
  const byName = new Map<string, number>();
  for (const pid of familyOf(gateway.pid))
    byName.set(nameOf(pid), (byName.get(nameOf(pid)) ?? 0) + memoryMb(pid));
  for (const [name, memory] of byName) row(`memory of ${name}`, memory, 'MB');
  row(
    'memory of all processes, idle',
    [...byName.values()].reduce((sum, memory) => sum + memory, 0),
    'MB',
    '450 MB',
  );
} finally {
  await gateway.stop();
}
