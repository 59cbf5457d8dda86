/**
 * Builds the documentation site: writes the pages, their pictures and llms.txt into a folder, lets VitePress make HTML
 * of them, and follows every link of the result. The Markdown lies beside the HTML.
 */
import fs from 'node:fs';
import path from 'node:path';
import { inRoot } from '../setup/paths.mjs';
import { picturesOf, siteText } from './links.mjs';
import { llmsText } from './llms.mjs';
import { sitePages } from './pages.mjs';

/** Of the checkout: what VitePress reads. */
export const STAGED = inRoot('.build-site', 'pages');
export const BUILT = inRoot('.build-site', 'site');

function write(folder, name, content) {
  const file = path.join(folder, name);
  fs.mkdirSync(path.dirname(file), { recursive: true });
  fs.writeFileSync(file, content);
}

/** Writes what VitePress reads; returns the names of the Markdown files. */
export function stage(folder, source) {
  fs.rmSync(folder, { recursive: true, force: true });
  const sections = sitePages();
  const pages = sections.flatMap((section) => section.pages);
  const files = new Set(pages.map(({ file }) => file));
  for (const { file, place, text } of pages) {
    write(folder, place, siteText(file, text, files, source));
    for (const picture of picturesOf(file, text))
      write(folder, picture.replace(/^docs\//, ''), fs.readFileSync(inRoot(picture)));
  }
  write(folder, 'public/llms.txt', llmsText(sections));
  return pages.map(({ place }) => place);
}

const htmlBelow = (folder) =>
  fs
    .readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.html') && name !== '404.html');

const decoded = (text) => decodeURIComponent(text.replaceAll('&amp;', '&'));

/** Links within the built site that lead to no file, or to no element of its page. `base`: the path it is served at. */
export function brokenHrefs(folder, base) {
  const read = (name) => fs.readFileSync(path.join(folder, name), 'utf8');
  const ids = new Map();
  const idsOf = (name) => {
    if (!ids.has(name))
      ids.set(name, new Set([...read(name).matchAll(/\sid="([^"]+)"/g)].map(([, id]) => decoded(id))));
    return ids.get(name);
  };
  function isBroken(page, href) {
    const [target, fragment] = decoded(href).split('#');
    const place = target.startsWith(base)
      ? target.slice(base.length)
      : path.posix.join(path.posix.dirname(page), target);
    const file = target === '' ? page : place.replace(/(^|\/)$/, '$1index.html');
    if (!fs.existsSync(path.join(folder, file))) return true;
    return Boolean(fragment) && file.endsWith('.html') && !idsOf(file).has(fragment);
  }
  return htmlBelow(folder).flatMap((page) =>
    [...new Set([...read(page).matchAll(/<a\s[^>]*?href="([^"]+)"/g)].map(([, href]) => href))]
      .filter((href) => !/^[a-z]+:/.test(href) && isBroken(page, href))
      .map((href) => `${page}: nothing behind the link ${href}`),
  );
}

/** Builds it into `BUILT`. Resolves with lines of what is wrong. */
export async function buildSite({ base, source }) {
  const places = stage(STAGED, source);
  const { build } = await import('vitepress');
  await build(inRoot('ops', 'site'), { base, outDir: BUILT });
  for (const place of places) write(BUILT, place, fs.readFileSync(path.join(STAGED, place)));
  return brokenHrefs(BUILT, base);
}
