/**
 * Files that are made from others and kept in git. Each row's module exports `generate()`, which returns what the
 * file should hold. `npm run check` compares, `npm run generate` writes.
 */
import fs from 'node:fs';
import { inRoot } from './paths.mjs';
import { writeAtomically } from './stamps.mjs';

const GENERATED = [{ file: 'THIRD-PARTY.md', module: './licences.mjs' }];

const current = (file) => fs.readFileSync(inRoot(file), 'utf8');

async function outdated() {
  const rows = await Promise.all(
    GENERATED.map(async ({ file, module }) => ({ file, content: await (await import(module)).generate() })),
  );
  return rows.filter(({ file, content }) => !fs.existsSync(inRoot(file)) || current(file) !== content);
}

/** A line for each file that is not what it would be if it were made now. */
export const checkGenerated = async () =>
  (await outdated()).map(({ file }) => `${file} is out of date: npm run generate`);

/** Writes those files; returns their names. */
export async function writeGenerated() {
  const rows = await outdated();
  for (const { file, content } of rows) writeAtomically(inRoot(file), content);
  return rows.map(({ file }) => file);
}
