/** `npm start`: set-up, then the gateway. */
import './node-version.mjs';
import { command, load } from './command.mjs';
import { prepare } from './prepare.mjs';

await command(prepare);
const { main } = await load('gateway', 'main.js');
await main?.();
