/**
 * When the gateway leaves: SIGTERM or SIGINT, or npm, which started it, has gone. npm stands between `npm start` and
 * this process, so a signal may come twice, from the group and from npm, or not at all, where npm was killed.
 */
import { fileURLToPath } from 'node:url';
import { CHECKOUT } from '../../contracts/places.js';
import { systemClock } from '../../contracts/clock.js';
import { watchParents } from '../../processes/parent-watch.js';

const PACKAGE = fileURLToPath(new URL('package.json', CHECKOUT));

/** A SIGINT so long after the first is a person who does not want to wait. */
const AGAIN_MS = 2000;

/** `npm start` of this very package; a script of another one that starts us may well end before us. */
const startedByNpm = ({ npm_lifecycle_event: script, npm_package_json: file }: NodeJS.ProcessEnv): boolean =>
  script === 'start' && file === PACKAGE;

/** Calls `leave` once. A second SIGINT, later, ends the process at once. */
export function onShutdown(leave: () => void): void {
  let since: number | undefined;
  const begin = (): void => {
    if (since !== undefined) return;
    since = performance.now();
    leave();
  };
  process.on('SIGTERM', begin);
  process.on('SIGINT', () => {
    if (since !== undefined && performance.now() - since > AGAIN_MS) process.exit(1);
    begin();
  });
  // The reader of our output may go before us; its closed pipe is no error.
  for (const output of [process.stdout, process.stderr]) output.on('error', () => undefined);
  if (startedByNpm(process.env)) {
    watchParents(systemClock, () => {
      console.error('speech gateway: npm has ended, leaving as well');
      begin();
    });
  }
}
