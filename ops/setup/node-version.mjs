/**
 * The first import of every command: says clearly that Node is too old, before anything else is loaded.
 * Kept to syntax that old versions can read.
 */
const OLDEST = 20;

if (Number(process.versions.node.split('.')[0]) < OLDEST) {
  console.error(`setup: Node ${OLDEST} or newer is needed; this is ${process.version} (${process.execPath})`);
  process.exit(1);
}
