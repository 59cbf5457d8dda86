/** Extras that settings of an installed package need, which only npm can add to it: the message names them, and npm's command. */
import fs from 'node:fs';
import { PROGRAM } from '../commands/words.mjs';
import { SetupError } from './failure.mjs';
import { missingExtras } from './parts.mjs';
import { inRoot } from './paths.mjs';

/** npm puts them beside us: with `npx` for this one run, else for good. */
const commandFor = (wanted) =>
  PROGRAM.startsWith('npx')
    ? `npx -p speech-gateway ${wanted.map((each) => `-p ${each}`).join(' ')} speech-gateway`
    : `npm install -g ${wanted.join(' ')}`;

/** Throws SetupError. */
export function askForExtras() {
  const { peerDependencies } = JSON.parse(fs.readFileSync(inRoot('package.json'), 'utf8'));
  const missing = missingExtras();
  const variables = missing.map(({ variable }) => variable).join(' and ');
  const names = [...new Set(missing.flatMap(({ packages }) => packages))];
  const wanted = names.map((name) => `${name}@${peerDependencies[name]}`);
  throw new SetupError(
    `${variables} need${missing.length > 1 ? '' : 's'} packages that are not installed: ${commandFor(wanted)}`,
  );
}
