/**
 * Places on disk. This module is two folders below the checkout, both compiled (dist/contracts) and
 * bundled (bundle/shared), so all others use it: in a bundle they are not where their sources are.
 */

/** The folder of the checkout, with package.json and the sources. */
export const CHECKOUT = new URL('../../', import.meta.url);

/** The build folder. The entry points of processes and threads have the same paths below it as their sources. */
export const BUILT = new URL('../', import.meta.url);
