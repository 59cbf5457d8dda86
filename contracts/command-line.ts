/**
 * How a person calls the commands of an installation, for messages: by npm's scripts in a checkout, else by the program of the installed
 * package, which `npx` has not put on PATH (ops/commands/words.mjs says the same for set-up's own messages).
 */
import { CHECKOUT, isInstalled } from './places.js';

const programAt = (root: string): string =>
  root.includes('/_npx/') ? 'npx speech-gateway' : 'speech-gateway';

/** The words for `name` with `words` behind it: `npm run keys -- list`, or `speech-gateway keys list`. */
export function commandLine(name: string, words = '', root = CHECKOUT.pathname): string {
  const behind = words === '' ? '' : ` ${words}`;
  if (isInstalled(root)) return `${programAt(root)} ${name}${behind}`;
  return `npm run ${name}${behind && ` --${behind}`}`;
}

export const startCommand = (root = CHECKOUT.pathname): string =>
  isInstalled(root) ? programAt(root) : 'npm start';
