/**
 * Circles of files: files that import one another, directly or by way of others. Such files cannot be read, tested or
 * moved one by one. Imports of types count as well, since they bind the reader in the same way.
 */
import fs from 'node:fs';
import path from 'node:path';
import { sources } from './build.mjs';
import { importsOf } from './import-rule.mjs';
import { ROOMS } from './import-table.mjs';
import { inRoot, ROOT } from './paths.mjs';

const SOURCE = /\.[cm]?[jt]sx?$/;
const withoutEnding = (file) => file.replace(SOURCE, '');

/**
 * The circles of a graph, given as node → its targets: each the nodes of one shortest way from a node back to itself.
 * If circles share nodes, only one is reported; mending it shows the next.
 */
export function circlesOf(graph) {
  const told = new Set();
  return [...graph.keys()].flatMap((start) => {
    const circle = wayBack(graph, start) ?? [];
    if (circle.length === 0 || circle.some((node) => told.has(node))) return [];
    for (const node of circle) told.add(node);
    return [circle];
  });
}

/** The nodes of a shortest way from `start` to itself, breadth first; undefined where there is none. */
function wayBack(graph, start) {
  const cameFrom = new Map();
  const waiting = [start];
  for (let node; (node = waiting.shift()) !== undefined;) {
    for (const target of graph.get(node) ?? []) {
      if (target === start) return traced(cameFrom, start, node);
      if (cameFrom.has(target)) continue;
      cameFrom.set(target, node);
      waiting.push(target);
    }
  }
  return undefined;
}

function traced(cameFrom, start, last) {
  const way = [last];
  while (way[0] !== start) way.unshift(cameFrom.get(way[0]));
  return way;
}

/** The graph of imports, from `files`: path from the root → text. Packages and builtins are left out. */
export function graphOf(files) {
  const byModule = new Map([...files.keys()].map((file) => [withoutEnding(file), file]));
  const targets = (file, text) =>
    importsOf(file, text)
      .filter(({ specifier }) => specifier?.startsWith('.'))
      .map(({ specifier }) => path.posix.join(path.posix.dirname(file), specifier))
      .flatMap((target) => byModule.get(withoutEnding(target)) ?? []);
  return new Map([...files].map(([file, text]) => [file, targets(file, text)]));
}

function everySource() {
  const folders = new Set([...Object.keys(ROOMS).map((room) => room.split('/')[0]), 'ops']);
  const names = [...folders]
    .flatMap((folder) => sources(folder, SOURCE))
    .map((file) => path.relative(ROOT, file).split(path.sep).join('/'))
    .filter((name) => !/^client\/(console\/)?dist\//.test(name));
  return new Map(names.map((name) => [name, fs.readFileSync(inRoot(name), 'utf8')]));
}

/** The circles of the whole checkout: a line of text each. */
export const checkCircles = (files = everySource()) =>
  circlesOf(graphOf(files)).map((circle) => `files in a circle: ${[...circle, circle[0]].join(' → ')}`);
