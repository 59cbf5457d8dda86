/** `npm start`: set-up, then the gateway in this process. What fails after set-up is the gateway's own. */
import './node-version.mjs';
import { built, command } from './command.mjs';
import { prepare } from './prepare.mjs';

const entry = await command(async () => {
  await prepare();
  return built('gateway', 'main.js');
});
const { main } = await import(entry);
await main?.();
