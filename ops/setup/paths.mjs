/** Paths of the checkout. Everything that set-up makes is in node_modules, dist, bundle, .models and ops/setup/.state. */
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

/** A path inside the checkout. */
export const inRoot = (...parts) => path.join(ROOT, ...parts);

/** The model files; MODELS_DIR moves them, for instance to a volume. */
export const modelsDir = () => path.resolve(process.env.MODELS_DIR || inRoot('.models'));

export const LOCK_FILE = inRoot('ops', 'setup', '.state', 'lock');

/** The counts of the last run of the tests. */
export const COUNTS_FILE = inRoot('.tap', 'counts.json');
