/** `node models.mjs`, in a stage of the image: the models that come with the gateway, in .models. */
import { command } from '../setup/command.mjs';
import { fetchModels } from '../setup/models.mjs';
import { writeTokens } from '../setup/tokens.mjs';
import { fetchVoices } from '../setup/voices.mjs';

await command(async () => {
  await fetchModels();
  await writeTokens();
  await fetchVoices({ say: (text) => console.log(text) });
});
