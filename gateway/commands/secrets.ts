/** The command `secrets`: replaces the secret that encrypts credentials (docs/operate/secrets.md). */
import { commandLine } from '../../contracts/command-line.js';
import { rotateSecrets } from '../../storage/secrets/secrets.js';
import type { DatabaseCommand, Program } from './database-command.js';

const USAGE = `Usage: ${commandLine('secrets', '<command>')}
  rotate                   re-encrypts all credentials. If SECRETS_KEY is set: with that; the secret so far is
                           SECRETS_KEY_PREVIOUS, or else the file DATA_DIR/secrets-key. If not: with a new secret, which
                           replaces DATA_DIR/secrets-key; restart the gateway then.
Uses DATABASE_URL, else the embedded database in DATA_DIR.`;

/** The remaining steps for the operator. */
function next(dataDir: string, secretsKey: string | undefined, previous: string | undefined): string {
  if (!secretsKey)
    return `The new secret is in ${dataDir}/secrets-key: restart the gateway, and back the file up.`;
  if (previous) return 'SECRETS_KEY_PREVIOUS is not needed any more.';
  return 'SECRETS_KEY is the secret from now on: restart the gateway with it.';
}

const rotate: DatabaseCommand = {
  fits: (words) => words.length === 0,
  async run({ sql, dataDir, env, io }) {
    const { SECRETS_KEY: secretsKey, SECRETS_KEY_PREVIOUS: previous } = env;
    const count = await rotateSecrets({ sql, dataDir, secretsKey, previous });
    io.out(`Re-encrypted ${count} secret${count === 1 ? '' : 's'}.`);
    io.out(next(dataDir, secretsKey, previous));
  },
};

export const secrets: Program = { usage: USAGE, commands: { rotate } };
