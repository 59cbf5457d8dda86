/** `npm run generate`: makes the generated files anew, with what is built. */
import './node-version.mjs';
import { ensureBuilt } from './build.mjs';
import { command } from './command.mjs';
import { writeGenerated } from './generated.mjs';
import { LOOKING, prepare } from './prepare.mjs';

await command(async () => {
  await prepare(LOOKING);
  await ensureBuilt();
  for (const file of await writeGenerated()) console.log(`wrote ${file}`);
});
