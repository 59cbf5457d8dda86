/** `npm run build`: set-up, with all that can be compiled. */
import './node-version.mjs';
import { command } from './command.mjs';
import { COMPILED, prepare } from './prepare.mjs';

await command(() => prepare(COMPILED));
