/**
 * How a person calls a command of table.mjs here: by npm's scripts in a checkout, else by the program of the installed package, which
 * `npx` has not put on PATH. contracts/places.ts says the same for the gateway's own messages.
 */
import { IS_INSTALLED, ROOT } from '../setup/paths.mjs';

export const PROGRAM = ROOT.includes('/_npx/') ? 'npx speech-gateway' : 'speech-gateway';

const joined = (...words) => words.filter(Boolean).join(' ');

/** `npm run keys -- list`, or `speech-gateway keys list`. */
export const commandLine = (name, words = '') =>
  IS_INSTALLED ? joined(PROGRAM, name, words) : joined('npm run', name, words && `-- ${words}`);

/** The command that starts a gateway. */
export const START = IS_INSTALLED ? PROGRAM : 'npm start';
