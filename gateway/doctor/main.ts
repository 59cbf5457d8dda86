/**
 * The command `doctor`: looks at everything that an installation needs, with the settings that a start would have, and says of each
 * whether it is well, or what is wrong and which setting mends it. Nothing is started or changed. Exit code 0: all is well.
 */
import { parseArgs } from 'node:util';
import { systemClock } from '../../contracts/clock.js';
import { commandLine } from '../../contracts/command-line.js';
import { type Config, ConfigError, readConfig } from '../config.js';
import { misspeltSettings, unusedSettings } from '../config/suspicions.js';
import { outliveReaders } from '../output.js';
import { type Finding, findingOf, jsonOf, type Look, textOf } from './findings.js';
import { askOutside, authoritiesLook, clockLook, diskLook, memoryLook, outboundLook } from './machine.js';
import { portLook, runningStatus, tlsLook, udpLook } from './network.js';
import { databaseLook, enginesLook, ffmpegLook, hasModels, modelsLook, partLooks } from './parts.js';

const USAGE = `Usage: ${commandLine('doctor', '[--json]')}
  Looks at ports, certificate, disk, memory, database, models, the servers that settings name, and the clock, and says what is wrong.
  --json  the same as JSON
Exits with 0 if all is well, with 1 if something is wrong.`;

const EXIT = { well: 0, wrong: 1, usage: 2 };

/** What only set-up knows. */
export interface Told {
  /** Address of the registry that npm is configured with; undefined if npm is not there. */
  readonly registry?: string | undefined;
}

const settingsFinding = (says: string, well: boolean): Finding => ({ check: 'settings', well, says });

/** The rows of a configuration that can be read. */
async function looksAt(
  config: Config,
  fromFile: readonly string[],
  { registry }: Told,
): Promise<readonly Look[]> {
  const [running, outside, parts] = await Promise.all([
    runningStatus(config),
    registry === undefined ? undefined : askOutside(registry),
    partLooks(config),
  ]);
  const { now } = systemClock;
  return [
    portLook(config, running),
    udpLook(config, running),
    tlsLook(config, now),
    diskLook(config),
    memoryLook(),
    databaseLook(config),
    modelsLook(config),
    enginesLook(config),
    ffmpegLook(config),
    ...parts,
    outboundLook(outside, !hasModels(config)),
    authoritiesLook(outside, fromFile),
    clockLook(outside, now),
  ];
}

/** All findings. Without readable settings there is only the one that says so. */
export async function examine(
  env: NodeJS.ProcessEnv,
  fromFile: readonly string[] = [],
  told: Told = {},
): Promise<readonly Finding[]> {
  try {
    const config = readConfig(env);
    const odd = [...misspeltSettings(env, fromFile), ...unusedSettings(config)];
    const settings = settingsFinding(odd.join('; ') || 'all are understood', odd.length === 0);
    const looks = await looksAt(config, fromFile, told);
    return [settings, ...(await Promise.all(looks.map(findingOf)))];
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return [settingsFinding(error.message, false)];
  }
}

/** Runs the command: prints the findings, and ends the process. */
export async function main(fromFile: readonly string[] = [], told: Told = {}): Promise<void> {
  outliveReaders();
  const { values, error } = readOptions();
  if (error !== undefined || values.help) {
    console.log(error === undefined ? USAGE : `${error}\n\n${USAGE}`);
    process.exit(error === undefined ? EXIT.well : EXIT.usage);
  }
  const findings = await examine(process.env, fromFile, told);
  const text = values.json ? jsonOf(findings) : textOf(findings);
  const code = findings.every(({ well }) => well) ? EXIT.well : EXIT.wrong;
  // Connections to the servers that were asked may still be open.
  process.stdout.write(`${text}\n`, () => process.exit(code));
}

interface Options {
  readonly values: { readonly json?: boolean; readonly help?: boolean };
  readonly error?: string;
}

function readOptions(): Options {
  try {
    const options = { json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const;
    return { values: parseArgs({ options }).values };
  } catch (error) {
    return { values: {}, error: String((error as Error).message).split('. ', 1)[0] ?? '' };
  }
}
