/**
 * The version stands in package.json, and nowhere else by hand: what repeats it is made from it, as the other generated files are
 * (generated.mjs). A place is a pattern; its first group is the text before the version.
 */
import fs from 'node:fs';
import { inRoot } from './paths.mjs';

const VERSION = String.raw`\d+\.\d+\.\d+(?:-[a-z]+(?:\.\d+)?)?`;
const after = (before, flags = 'm') => new RegExp(`(${before})${VERSION}`, flags);

const MANIFEST = after('^ {2}"version": "');
const LOCK = [MANIFEST, after('^ {4}"": \\{\\n {6}"name": "[^"]+",\\n {6}"version": "')];

export const VERSIONED = [
  { file: 'package-lock.json', places: LOCK },
  { file: 'client/package.json', places: [MANIFEST] },
  { file: 'client/package-lock.json', places: LOCK },
  { file: 'client/python/pyproject.toml', places: [after('^version = "')] },
  { file: 'ops/deploy/helm/Chart.yaml', places: [after('^version: '), after('^appVersion: ')] },
  { file: 'Dockerfile', places: [after('image\\.version="')] },
  { file: 'docs/install.md', places: [after('speech-gateway-', 'g')] },
  { file: 'docs/releases.md', places: [after(' v', 'g')] },
  { file: 'docs/operate/kubernetes.md', places: [after('speech-gateway:', 'g')] },
];

export const productVersion = () => JSON.parse(fs.readFileSync(inRoot('package.json'), 'utf8')).version;

/** The text with that version at each of its places. Throws where a place is not there. */
export function withVersion({ file, places }, text, version) {
  const missing = places.find((place) => text.search(place) < 0);
  if (missing) throw new Error(`${file} has no place of the version: ${missing}`);
  return places.reduce((made, place) => made.replace(place, (_, before) => before + version), text);
}

/** Rows of generated files. */
export const versionedFiles = VERSIONED.map((row) => ({
  file: row.file,
  generate: () => withVersion(row, fs.readFileSync(inRoot(row.file), 'utf8'), productVersion()),
}));
