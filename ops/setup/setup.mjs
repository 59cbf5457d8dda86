/**
 * The command `setup`: everything that a start would set up, and no start: for images, and for machines that are cut off
 * from the registry later. What settings ask for (parts.mjs) is set up where they are set.
 */
import './node-version.mjs';
import { command } from './command.mjs';
import { START } from '../commands/words.mjs';
import { prepare } from './prepare.mjs';
import { loadSettings } from './settings.mjs';

await command(async () => {
  loadSettings();
  await prepare();
  console.log(`Ready for ${START}`);
});
