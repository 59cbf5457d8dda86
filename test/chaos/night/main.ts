/**
 * `npm run chaos -- night [NAME …] [--short] [--lines]`: each fault is made at a gateway with calls, and what log, `/metrics`, alerts and
 * `/health` say is held against ops/monitoring/incidents.mjs (docs/operate/chaos.md). Prints a line for each fault; with `--lines`
 * also the warnings of the log. Exit code 1 if one is not told of in time, 2 if promtool is not there.
 */
import { parseArgs } from 'node:util';
import { INCIDENTS, type Incident } from '../../fixtures/ops/monitoring.js';
import { letGoOfAll } from '../cluster.js';
import { NIGHT_FAULTS, type NightFault } from './faults.js';
import { broken, figuresOf, type Judged } from './judge.js';
import { withoutPromtool } from './promtool.js';
import { awaited, ofOne } from './signs.js';
import { calm, suffer } from './suffer.js';
import { type Night, type Place, startNight } from './world.js';

const PLACES: readonly Place[] = ['usual', 'own', 'disk', 'livekit'];
/** What the short form makes. */
const SHORT: readonly string[] = ['model refuses the key', 'database is away'];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { short: { type: 'boolean', default: false }, lines: { type: 'boolean', default: false } },
});

const isWanted = ({ name }: NightFault): boolean =>
  (!values.short || SHORT.includes(name)) &&
  (positionals.length === 0 || positionals.some((wanted) => name.startsWith(wanted)));

const rowOf = ({ name, of }: NightFault): Incident => {
  const found = INCIDENTS.find(({ faults }) => faults.includes(name));
  if (!found) throw new Error(`"${name}" is in no row of ops/monitoring/incidents.mjs`);
  return of === undefined ? found : ofOne(found, of);
};

let failed = 0;
function tell(name: string, figures: string, faults: readonly string[]): void {
  if (faults.length > 0) failed += 1;
  const reasons = faults.map((fault) => `\n     ${fault}`).join('');
  console.log(`${faults.length > 0 ? 'FAIL' : 'PASS'} ${name}: ${figures}${reasons}`);
}

async function sufferFromCalm(night: Night, fault: NightFault, incident: Incident): Promise<Judged> {
  await calm(night, incident);
  return suffer(night, fault, incident);
}

async function one(night: Night, fault: NightFault): Promise<void> {
  const incident = rowOf(fault);
  const from = Date.now();
  try {
    let seen = await sufferFromCalm(night, fault, incident);
    // What hung because of the fault before fails seconds after that was mended.
    if (seen.early.length > 0) seen = await sufferFromCalm(night, fault, incident);
    tell(fault.name, figuresOf(seen), [...broken(seen), ...awaited(incident, seen)]);
  } catch (error) {
    tell(fault.name, 'not made', [error instanceof Error ? (error.stack ?? '') : String(error)]);
  }
  if (values.lines)
    for (const line of night.gateway.recorder.warningsSince(from)) console.log(`     ${line}`);
}

async function allIn(place: Place, faults: readonly NightFault[]): Promise<void> {
  const started = await startNight(place);
  if (typeof started === 'string')
    return faults.forEach(({ name }) => console.log(`SKIP ${name}: ${started}`));
  const { night, load } = started;
  const { recorder } = night.gateway;
  const recording = recorder.run();
  for (const fault of faults) await one(night, fault);
  await load.end();
  recorder.stop();
  await recording;
  await letGoOfAll();
}

const missing = withoutPromtool();
if (missing !== undefined) {
  console.log(`night: ${missing}`);
  process.exit(2);
}
process.once('SIGINT', () => void letGoOfAll().finally(() => process.exit(130)));
const wanted = NIGHT_FAULTS.filter(isWanted);
if (wanted.length === 0) {
  console.log(`night: no fault has a name that begins so: ${positionals.join(', ')}`);
  process.exit(1);
}
for (const place of PLACES) {
  const faults = wanted.filter((fault) => fault.place === place);
  if (faults.length > 0) await allIn(place, faults);
}
console.log(
  failed === 0 ? 'night: each fault is told of' : `night: ${failed} faults are not told of in time`,
);
process.exit(failed === 0 ? 0 : 1);
