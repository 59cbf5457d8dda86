/**
 * A sealed copy has all that it needs to start but the sources that it was made from, and its folder may be read-only: an image
 * (ops/image). Set-up then makes nothing in it; models still go where MODELS_DIR says.
 */
import fs from 'node:fs';
import { inRoot } from './paths.mjs';

const MARK = ['ops', 'setup', '.sealed'];

export const isSealed = () => fs.existsSync(inRoot(...MARK));

/** Seals the copy in `folder`. */
export const seal = (folder) => fs.writeFileSync([folder, ...MARK].join('/'), '');
