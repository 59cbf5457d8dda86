/**
 * The licence table of THIRD-PARTY.md: every package that runs with the gateway, on any platform, and what it is
 * under, from package-lock.json (which npm fills from the packages themselves). The words around it are by hand.
 */
import fs from 'node:fs';
import { inRoot } from './paths.mjs';

const BEGIN = '<!-- packages: made by npm run generate -->';
const END = '<!-- packages: end -->';

/** Packages whose package.json does not say it in npm's way; read from the licence files in them. */
const SAID_ELSEWHERE = { '@shinyoshiaki/jspack': 'BSD-3-Clause', async: 'MIT' };

const nameOf = (place) => place.split('node_modules/').at(-1);

/** One row a package, version and licence, sorted. */
export function licenceRows(packages) {
  const rows = Object.entries(packages)
    .filter(([place, { dev }]) => place !== '' && !dev)
    .map(([place, entry]) => {
      const name = entry.name ?? nameOf(place);
      return `| ${name} | ${entry.version} | ${entry.license ?? SAID_ELSEWHERE[name] ?? 'not stated'} |`;
    });
  return [...new Set(rows)].sort();
}

/** The whole file with its table made anew. */
export function generate() {
  const text = fs.readFileSync(inRoot('THIRD-PARTY.md'), 'utf8');
  const { packages } = JSON.parse(fs.readFileSync(inRoot('package-lock.json'), 'utf8'));
  const [before, rest] = text.split(BEGIN);
  const after = rest?.split(END)[1];
  if (after === undefined) throw new Error(`THIRD-PARTY.md lacks its marks: ${BEGIN} … ${END}`);
  const table = ['| package | version | licence |', '|---|---|---|', ...licenceRows(packages)].join('\n');
  return `${before}${BEGIN}\n${table}\n${END}${after}`;
}
