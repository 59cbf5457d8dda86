/**
 * `npm start`: set-up, then the gateway in this process. What fails after set-up is the gateway's own. `--help` is
 * answered from a generated file, before anything is installed.
 */
import './node-version.mjs';
import fs from 'node:fs';
import { runEntry } from './entry.mjs';

if (process.argv.slice(2).some((word) => word === '--help' || word === '-h')) {
  process.stdout.write(fs.readFileSync(new URL('help.txt', import.meta.url)));
  process.exit();
}

await runEntry('main.js');
