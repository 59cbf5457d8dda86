/**
 * `npm run chaos -- attack [row …] [--short] [--size=1] [--budget=MB] [--cgroup]`: what strangers and tenants may try, beside
 * a victim of another workspace (docs/operate/chaos.md). Prints a line for each row. Exit code 1 if one fails.
 */
import { parseArgs } from 'node:util';
import { wavHeader } from '../../../codecs/wav.js';
import { EMBEDDED, TONE } from '../../fixtures/gateway.js';
import { freePort } from '../../fixtures/free-port.js';
import type { Attack } from './attack.js';
import { ATTACKS } from './attacks.js';
import { inGroup } from './cgroup.js';
import { freezeEach, type Outcome } from './frozen.js';
import { judge, type Rules } from './judge.js';
import { startTarget, type Target } from './target.js';
import { Victim } from './victim.js';

const MiB = 1024 * 1024;
const GROUP_BYTES = 768 * MiB;
const SHORT_SIZE = 0.05;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    short: { type: 'boolean', default: false },
    size: { type: 'string' },
    budget: { type: 'string', default: '256' },
    cgroup: { type: 'boolean', default: false },
  },
});
const isShort = values.short;
const isWanted = (name: string): boolean =>
  positionals.length === 0 || positionals.some((wanted) => `${name} `.startsWith(`${wanted} `));

let failed = 0;
function tell({ name, figures, faults }: Outcome): void {
  if (faults.length > 0) failed += 1;
  console.log(
    `${faults.length > 0 ? 'FAIL' : 'PASS'} ${name}: ${figures}${faults.map((fault) => `\n     ${fault}`).join('')}`,
  );
}

async function withTarget(
  env: Readonly<Record<string, string>>,
  work: (target: Target, victim: Victim) => Promise<void>,
) {
  const start = () =>
    startTarget({ ...(isShort ? TONE : EMBEDDED), MEMORY_BUDGET_MB: values.budget, ...env });
  const target = await (values.cgroup ? inGroup(GROUP_BYTES, start) : start());
  const victim = new Victim(target);
  const gone = target.gateway.exited.then(() => 'gone' as const);
  try {
    const end = await Promise.race([work(target, victim), gone]);
    if (end === 'gone')
      tell({ name: 'the gateway', figures: 'ended', faults: [target.gateway.stderr().slice(-500)] });
  } finally {
    victim.end();
    await target.stop();
  }
}

/** A second of sound, so that memory at rest has the models of recognition, which come with the first transcription. */
async function transcribe({ base, keys }: Target): Promise<void> {
  const body = new FormData();
  const wav = Buffer.concat([wavHeader(16_000), Buffer.alloc(32_000, 7)]);
  body.set('audio', new File([wav], 'a.wav', { type: 'audio/wav' }));
  const headers = { authorization: `Bearer ${keys.speech}` };
  const { status } = await fetch(`${base}/v1/asr`, { method: 'POST', headers, body });
  if (status !== 200) throw new Error(`a lawful transcription: ${status}`);
}

/** A row that could not be run is a fault, and the next ones go on. */
const broken = ({ name }: Attack, error: unknown): Outcome => ({
  name,
  figures: 'was not run to its end',
  faults: [String(error)],
});

async function attackAll(rows: readonly Attack[]): Promise<void> {
  await withTarget({}, async (target, victim) => {
    if (!isShort) await transcribe(target);
    for (const row of rows) {
      // A new one for each row, as no story goes on for all of them.
      if (!isShort) await victim.call();
      const size = Number(values.size ?? (isShort ? SHORT_SIZE : 1));
      const rules: Rules = { size, timed: !isShort, budgetBytes: Number(values.budget) * MiB, victim };
      tell(await judge(target, row, rules).catch((error: unknown) => broken(row, error)));
      victim.hangUp();
    }
  });
}

const rows = ATTACKS.filter(({ name, short }) => isWanted(name) && (!isShort || short === true));
if (rows.length > 0) await attackAll(rows);
if (!isShort && isWanted('X11'))
  await withTarget({ WORKERS: '3', PORT: String(await freePort()) }, (target, victim) =>
    freezeEach(target, victim, tell),
  );
console.log(failed === 0 ? 'attack: all rows hold' : `attack: ${failed} rows fail`);
process.exit(failed === 0 ? 0 : 1);
