/** Settings as every command begins with them: the environment, the file `.env`, and the folders of an installed package. */
import path from 'node:path';
import { loadEnvFile } from './env-file.mjs';
import { IS_INSTALLED, userFolder } from './paths.mjs';

/** Folders that an installed package has elsewhere than a checkout, by their setting. */
const FOLDERS = { DATA_DIR: 'data', MODELS_DIR: 'models' };

/** Gives the folders that are not set. An empty variable is not set. */
export function setUserFolders(env = process.env, home = undefined) {
  for (const [name, folder] of Object.entries(FOLDERS))
    env[name] ||= path.join(userFolder(env, home), folder);
}

/** Completes the environment. Returns the names that stand in the file. Throws SetupError. */
export function loadSettings() {
  const names = loadEnvFile();
  if (IS_INSTALLED) setUserFolders();
  return names;
}
