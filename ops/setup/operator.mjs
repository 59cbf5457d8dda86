/** `npm run keys`, `workspaces`, `sessions`, `secrets`, `numbers`: set-up, then the operator's commands, which read the arguments themselves. */
import { runEntry } from './entry.mjs';

await runEntry('commands/main.js');
