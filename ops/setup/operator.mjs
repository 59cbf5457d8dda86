/** The commands `keys`, `workspaces`, `sessions`, `secrets`, `numbers`: set-up, then the gateway's own code, which reads the arguments. */
import { runEntry } from './entry.mjs';

await runEntry('commands/main.js');
