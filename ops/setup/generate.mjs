/** `npm run generate`: makes the generated files anew. */
import './node-version.mjs';
import { command } from './command.mjs';
import { writeGenerated } from './generated.mjs';
import { LOOKING, prepare } from './prepare.mjs';

await command(async () => {
  await prepare(LOOKING);
  for (const file of await writeGenerated()) console.log(`wrote ${file}`);
});
