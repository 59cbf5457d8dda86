/**
 * `npm run setup`: everything that a start would set up, and no start: for images, and for machines that are cut off
 * from the registry later. What settings ask for (parts.mjs) is set up where they are set.
 */
import './node-version.mjs';
import { command } from './command.mjs';
import { loadEnvFile } from './env-file.mjs';
import { prepare } from './prepare.mjs';

await command(async () => {
  loadEnvFile();
  await prepare();
  console.log('Ready for npm start');
});
