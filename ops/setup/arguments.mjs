/** Arguments of a command, as `node:util` parses them. Invalid ones are reported in one line. */
import { parseArgs } from 'node:util';
import { SetupError } from './failure.mjs';

/** `{ values, positionals }`. Throws SetupError. */
export function readArguments(options) {
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    throw new SetupError(error.message);
  }
}

/** The number that an option gives. Throws SetupError. */
export function positive(name, text) {
  const number = Number(text);
  if (Number.isInteger(number) && number > 0) return number;
  throw new SetupError(`--${name} wants a whole number above 0, not ${text}`);
}
