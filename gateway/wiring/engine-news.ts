/**
 * What the supervisor tells the gateway processes of its machine about the models that are there: a file in the runtime folder, which is
 * replaced whole, and which each of them looks at. So it is the same with one process or several, and one that is restarted finds it.
 */
import { renameSync } from 'node:fs';
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../contracts/clock.js';
import type { Log } from '../../contracts/log.js';
import { repeat } from '../../contracts/time/repeat.js';
import { writePrivateFile } from '../../processes/private-folder.js';
import type { Config, ModelChoice } from '../config.js';
import type { RoleSockets } from './roles.js';

const LOOK_MS = 1000;

export interface EngineNews {
  readonly choice: ModelChoice;
  readonly sockets: RoleSockets;
  /** Why models that were added, or taken away, since are not reflected in it. */
  readonly problem?: string;
}

const fileIn = (folder: string): string => join(folder, 'engines.json');

/** Errors: those of the disk. */
export function publishEngines(folder: string, news: EngineNews): void {
  const next = join(folder, 'engines.next');
  writePrivateFile(next, JSON.stringify(news));
  renameSync(next, fileIn(folder));
}

/** At the end, when nobody follows it any more. Errors: those of the disk. */
export const withdrawEngines = (folder: string): Promise<void> => rm(fileIn(folder), { force: true });

/** Undefined if nobody has published any. Errors: those of the disk. */
export async function readEngines(folder: string): Promise<EngineNews | undefined> {
  const text = await readFile(fileIn(folder), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return text === undefined ? undefined : (JSON.parse(text) as EngineNews);
}

/** Members that are left out of JSON where they are undefined. */
const NONE = { turns: undefined, denoiser: undefined, pico: undefined };

/** The configuration with the models that are there now. */
export const withModels = (config: Config, choice: ModelChoice): Config => ({
  ...config,
  ...NONE,
  ...choice,
});

/** Which of its versions a file is; undefined if it is not there. */
const markOf = (folder: string): Promise<string | undefined> =>
  stat(fileIn(folder)).then(
    ({ ino, mtimeMs }) => `${ino} ${mtimeMs}`,
    () => undefined,
  );

export interface FollowOptions {
  readonly folder: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Errors: what could not be taken up, which is logged; nothing has changed then. */
  use(news: EngineNews): void;
}

/** Calls `use` with what is published from now on, and with what is there already. The result stops it. */
export function followEngines({ folder, clock, log, use }: FollowOptions): () => void {
  let seen: string | undefined;
  const look = async (): Promise<void> => {
    const mark = await markOf(folder);
    if (mark === seen || mark === undefined) return;
    seen = mark;
    const news = await readEngines(folder);
    if (news) use(news);
  };
  return repeat(clock, LOOK_MS, look, (err) => log.error({ err }, 'changed models were not taken up'));
}
