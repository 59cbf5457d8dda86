/**
 * Places on disk. This module stands two folders below the checkout, compiled (dist/contracts) as well as
 * bundled (bundle/shared), so all others ask it: in a bundle they are not where their sources are.
 */

/** The folder of the checkout: package.json, sources and what lies beside them. */
export const CHECKOUT = new URL('../../', import.meta.url);

/** The folder of what is built. Below it the entry points of processes and threads lie as their sources do. */
export const BUILT = new URL('../', import.meta.url);
