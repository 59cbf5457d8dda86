/**
 * `node assemble.mjs FOLDER`, in a stage of the image: lays out what runs, but packages and models, and seals it (ops/setup/sealed.mjs). Two
 * folders, which become layers: `FOLDER/packages` has what is made of packages alone, `FOLDER/code` the rest, all that a change of code
 * changes. Files have fixed times, so that the same files are the same layer whenever it is made.
 */
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { packageFiles } from '../package/files.mjs';
import { inRoot } from '../setup/paths.mjs';
import { seal } from '../setup/sealed.mjs';

const TIME = new Date('2026-01-01T00:00:00Z');

/** The files of the package that people install, and what an image has beside them. */
export const imageFiles = async () => [...(await packageFiles()), 'ops/deploy/health.sh', 'package.json'];

/** The sources of a file of the bundle, or of its map, as the map names them. */
function sourcesOf(place) {
  const map = inRoot(place.endsWith('.map') ? place : `${place}.map`);
  return fs.existsSync(map) ? JSON.parse(fs.readFileSync(map, 'utf8')).sources : [];
}

/** Whether a file is made of packages alone: it is copied from one, or a chunk of the bundle in which none of our sources is. */
function isOfPackages(place) {
  if (place.startsWith('bundle/swagger-ui/')) return true;
  const sources = place.startsWith('bundle/shared/') ? sourcesOf(place) : [];
  return sources.length > 0 && sources.every((source) => source.includes('node_modules/'));
}

/** The files of each layer. */
export async function imageLayers() {
  const files = await imageFiles();
  return { packages: files.filter(isOfPackages), code: files.filter((place) => !isOfPackages(place)) };
}

function fixTimes(place) {
  if (fs.statSync(place).isDirectory())
    for (const name of fs.readdirSync(place)) fixTimes(path.join(place, name));
  fs.utimesSync(place, TIME, TIME);
}

async function assemble(folder) {
  for (const [layer, places] of Object.entries(await imageLayers()))
    for (const place of places) fs.cpSync(inRoot(place), path.join(folder, layer, place));
  seal(path.join(folder, 'code'));
  fixTimes(folder);
}

if (process.argv[1] && import.meta.url === pathToFileURL(fs.realpathSync(process.argv[1])).href)
  await assemble(process.argv[2]);
