/** The start of every command of the product: settings from the file, set-up, then the built entry in this process. */
import './node-version.mjs';
import { built, command } from './command.mjs';
import { loadEnvFile } from './env-file.mjs';
import { prepare } from './prepare.mjs';

/** Runs `main` of a module of bundle/gateway, which is told what variables the settings file gave. */
export async function runEntry(name) {
  const { entry, fromFile } = await command(async () => {
    const names = loadEnvFile();
    await prepare();
    return { entry: built('bundle', 'gateway', name), fromFile: names };
  });
  // The gateway is bundled: source maps make stack traces name the sources.
  process.setSourceMapsEnabled(true);
  const { main } = await import(entry);
  await main?.(fromFile);
}
