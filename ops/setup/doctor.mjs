/** The command `doctor`: looks at the installation without setting up or starting anything that it does not need itself. */
import { runEntry } from './entry.mjs';
import { registryAddress } from './npm.mjs';
import { LOADING } from './prepare.mjs';

/** undefined: npm is not there. */
const registry = await registryAddress().catch(() => undefined);

await runEntry('doctor/main.js', { steps: LOADING, told: { ...(registry && { registry }) } });
