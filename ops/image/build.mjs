/** `node build.mjs`, in a stage of the image that has its packages: the bundle and the console. */
import { buildProduct } from '../setup/build.mjs';
import { command } from '../setup/command.mjs';

await command(() => buildProduct({}));
