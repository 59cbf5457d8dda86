/**
 * Places in what was compiled, told as places in the sources. A failure is rare: so its places are looked up when it is told, and
 * no test file loads maps, which `--enable-source-maps` does for every module.
 */
import fs from 'node:fs';
import { SourceMap } from 'node:module';
import path from 'node:path';
import { ROOT } from './paths.mjs';

const PLACE = /(?:file:\/\/)?([^\s():]+\.js):(\d+):(\d+)/g;

const maps = new Map();

function mapOf(file) {
  if (!maps.has(file)) {
    const beside = `${file}.map`;
    const map = fs.existsSync(beside)
      ? new SourceMap(JSON.parse(fs.readFileSync(beside, 'utf8')))
      : undefined;
    maps.set(file, map);
  }
  return maps.get(file);
}

/** `{ file, line, column }` of a source, counted from 1; `file` as it is given, or from the checkout. */
export function sourcePlace(place) {
  const file = path.resolve(ROOT, place.file);
  const found = mapOf(file)?.findEntry(place.line - 1, place.column - 1);
  if (!found?.originalSource) return place;
  const source = path.resolve(path.dirname(file), found.originalSource);
  return {
    file: path.relative(ROOT, source),
    line: found.originalLine + 1,
    column: found.originalColumn + 1,
  };
}

/** A text, such as a stack, with its places in the sources. */
export const inSources = (text) =>
  text.replace(PLACE, (as, name, line, column) => {
    const given = { file: name, line: Number(line), column: Number(column) };
    const place = sourcePlace(given);
    return place === given ? as : `${place.file}:${place.line}:${place.column}`;
  });
