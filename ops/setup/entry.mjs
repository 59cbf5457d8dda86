/** The start of every command of the product: settings from the file, set-up, then the built entry in this process. */
import './node-version.mjs';
import { built, command } from './command.mjs';
import { prepare, RUNNING } from './prepare.mjs';
import { loadSettings } from './settings.mjs';

/**
 * Runs `main` of a module of bundle/gateway, which is told what variables the settings file gave, and `told`. `steps`: those of
 * set-up that it needs.
 */
export async function runEntry(name, { steps = RUNNING, told } = {}) {
  const { entry, fromFile } = await command(async () => {
    const names = loadSettings();
    await prepare(steps);
    return { entry: built('bundle', 'gateway', name), fromFile: names };
  });
  // The gateway is bundled: source maps make stack traces name the sources.
  process.setSourceMapsEnabled(true);
  const { main } = await import(entry);
  await main?.(fromFile, told);
}
