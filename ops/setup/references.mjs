/**
 * References that lead nowhere. A relative link in a Markdown file must name a file of the repository and, behind `#`, one of
 * its headings. A citation in code, `docs/contract/limits.md` perhaps followed by a section (`3`, `6.8`, `"Query"`), must
 * name a page and a heading of it. Each check returns lines of what is wrong.
 */
import fs from 'node:fs';
import path from 'node:path';
import { sources } from './build.mjs';
import { inRoot, ROOT } from './paths.mjs';

/** Folders whose code cites pages. */
const CODE = [
  'contracts',
  'processes',
  'codecs',
  'engines',
  'actors',
  'media',
  'storage',
  'gateway',
  'client',
  'bench',
  'test',
  'ops',
  'examples',
];
const CODE_FILES = /\.(tsx?|mjs|sql)$/;
const PAGES = [
  ...['docs', 'ops', 'actors', 'client', 'bench', 'test', 'codecs', 'engines', 'media'],
  'examples',
];

const relative = (file) => path.relative(ROOT, file).split(path.sep).join('/');
const read = (file) => fs.readFileSync(file, 'utf8');

export const outsideOfCode = (text) => text.replace(/^(```|~~~).*?^\1/gms, '');
const headings = (text) =>
  [...outsideOfCode(text).matchAll(/^#{1,6} +(.*?) *$/gm)].map(([, heading]) => heading.replace(/[`*]/g, ''));

/** The anchor of a heading, as GitHub makes it. */
export const anchor = (heading) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/ /g, '-');

const pages = () =>
  [
    ...fs.readdirSync(ROOT).filter((name) => name.endsWith('.md')),
    ...PAGES.filter((folder) => fs.existsSync(inRoot(folder))).flatMap((folder) =>
      sources(folder, /\.md$/).map(relative),
    ),
  ].filter((name) => !name.includes('node_modules/'));

/** The broken links of one page, `name` being its path from the root. */
export function brokenLinks(name, text, exists = fs.existsSync, readPage = read) {
  const links = [...outsideOfCode(text).matchAll(/\]\(([^()\s]+)\)/g)].map(([, target]) => target);
  return links
    .filter((target) => !/^[a-z]+:/.test(target))
    .flatMap((target) => {
      const [place, fragment] = target.split('#');
      const file = place === '' ? inRoot(name) : inRoot(path.posix.join(path.posix.dirname(name), place));
      if (!exists(file)) return [`${name}: no file behind the link ${target}`];
      if (!fragment || headings(readPage(file)).map(anchor).includes(fragment)) return [];
      return [`${name}: no heading behind the link ${target}`];
    });
}

const CITATION = /\b((?:docs|ops)\/[\w./-]+\.md)(?:,? (?:section )?(\d+(?:\.\d+)*\b|"[^"\n]+"))?/g;

/** Whether a heading begins with the section that was cited: `6.8 Webhooks` with `6.8`, `Query` with `"Query"`. */
const isSection = (heading, section) =>
  section.startsWith('"')
    ? heading.startsWith(section.slice(1, -1))
    : heading.replace(/^(\d+(\.\d+)*)\.? .*$/, '$1') === section;

/** The broken citations of one source. */
export function brokenCitations(name, text, exists = fs.existsSync, readPage = read) {
  return [...text.matchAll(CITATION)].flatMap(([, page, section]) => {
    if (!exists(inRoot(page))) return [`${name}: cites ${page}, which is not there`];
    if (
      section === undefined ||
      headings(readPage(inRoot(page))).some((heading) => isSection(heading, section))
    )
      return [];
    return [`${name}: cites ${page} ${section}, which has no such section`];
  });
}

/** Short forms: `decision 14` and `rule 9` are sections of these pages. */
const NUMBERED = { decision: 'docs/contract/decisions.md', rule: 'docs/contract/compatibility.md' };
const SHORT = /\b(decision|rule)s? (\d+)\b/gi;

export const brokenShortForms = (name, text, readPage = read) =>
  [...text.matchAll(SHORT)].flatMap(([cited, kind, section]) => {
    const page = NUMBERED[kind.toLowerCase()];
    const known = headings(readPage(inRoot(page))).some((heading) => isSection(heading, section));
    return known ? [] : [`${name}: cites ${cited}, and ${page} has no section ${section}`];
  });

/** Names of documents without a folder lead nowhere. */
const BARE =
  /(?<![\w/.-])(decisions|spec|design|protocol-[ab]|transport|native-and-platform)\.(md|txt)\b|\bfine points? \d/g;

export const bareCitations = (name, text) =>
  [...text.matchAll(BARE)].map(([cited]) => `${name}: cites ${cited} without its folder`);

const SOURCE = /(?<![\w./@<-])(?:[\w-]+\/)*[\w-]+\.(?:tsx?|mjs)\b/g;
/** A file of this name is an example. */
const EXAMPLE = /(^|\/)a(\.test)?\.ts$/;

const commentsOf = (text) => text.split('\n').filter((line) => /^\s*(\*|\/\*|\/\/)/.test(line));
const sourcesIn = (text) =>
  [...text.matchAll(SOURCE)].map(([file]) => file).filter((file) => !EXAMPLE.test(file));

/** Sources that the comments of a source name: by their path from the root, or by their name in its own folder. */
export const missingSources = (name, text, exists = fs.existsSync) =>
  commentsOf(text)
    .flatMap(sourcesIn)
    .filter((file) => !exists(inRoot(file)) && !exists(inRoot(path.posix.dirname(name), file)))
    .map((file) => `${name}: names ${file}, which is neither there nor beside it`);

/** Sources that a page names by their path from the root; it may name others by the end of their path. */
export const missingFromPage = (name, text, exists = fs.existsSync) =>
  sourcesIn(text)
    .filter((file) => CODE.some((folder) => file.startsWith(`${folder}/`)) && !exists(inRoot(file)))
    .map((file) => `${name}: names ${file}, which is not there`);

export function checkReferences() {
  const code = CODE.flatMap((folder) => sources(folder, CODE_FILES)).map(relative);
  const own = new Set(['ops/setup/references.mjs', 'test/unit/ops/setup/references.test.ts']);
  return [
    ...pages().flatMap((name) => {
      const text = read(inRoot(name));
      // The changelog tells of files as they were.
      return [...brokenLinks(name, text), ...(name === 'CHANGELOG.md' ? [] : missingFromPage(name, text))];
    }),
    ...code
      .filter((name) => !own.has(name) && !name.includes('node_modules/'))
      .flatMap((name) => {
        const text = read(inRoot(name));
        return [
          ...brokenCitations(name, text),
          ...brokenShortForms(name, text),
          ...bareCitations(name, text),
          ...missingSources(name, text),
        ];
      }),
  ];
}
