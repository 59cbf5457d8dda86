/** Places on disk, for all others: compiled (dist/) and bundled (bundle/), modules are not where their sources are. */

/**
 * The build folder, wherever below it this module came to be. The entry points of processes and threads have the same paths
 * below it as their sources.
 */
export const BUILT = new URL(/^.*\/(?:dist|bundle)\//.exec(import.meta.url)?.[0] ?? '.', import.meta.url);

/** The folder of the checkout or of the installed package, with package.json. */
export const CHECKOUT = new URL('../', BUILT);

/** Whether npm has installed this as a package, in a folder `node_modules`; else it is a checkout. ops/setup/paths.mjs looks the same way. */
export const isInstalled = (root: string): boolean => /\/node_modules\/(?:@[^/]+\/)?[^/]+\/$/.test(root);
