/** `npm run keys -- create|list|revoke`: set-up, then the key commands, which read the arguments themselves. */
import './node-version.mjs';
import { built, command } from './command.mjs';
import { prepare } from './prepare.mjs';

const entry = await command(async () => {
  await prepare();
  return built('gateway', 'keys.js');
});
const { main } = await import(entry);
await main?.();
