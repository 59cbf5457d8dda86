/** `npm run keys -- create|list|revoke`: set-up, then the key commands, which read the arguments themselves. */
import './node-version.mjs';
import { command, load } from './command.mjs';
import { prepare } from './prepare.mjs';

await command(prepare);
const { main } = await load('gateway', 'keys.js');
await main?.();
