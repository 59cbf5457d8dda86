/**
 * Links of a page as they are on the site. In the repository a link names a file beside the page; on the site the pages
 * lie elsewhere, and files that are no pages are at the forge, if it is known, or nowhere.
 */
import path from 'node:path';
import { placeOf } from './pages.mjs';

/** Fenced code, which has no links, or a link or picture. */
const FENCE_OR_LINK =
  /^ *(?<fence>```|~~~)[^]*?^ *\k<fence>|(?<picture>!?)\[(?<label>(?:[^[\]]|\[[^[\]]*\])*)\]\((?<target>[^()\s]+)\)/gm;
const PICTURE = /\.(png|svg|jpg)$/;

/** Pictures keep their place below docs/. */
const pictureOf = (file) => file.replace(/^docs\//, '');

const between = (from, to) => path.posix.relative(path.posix.dirname(from), to);

/** Whether a target is an address, or a heading of the same page. */
const staysAsItIs = (target) => /^([a-z]+:|#)/.test(target);

/**
 * The text of `file` for the site. `pages`: the files that have a page; `source`: the address at which the forge shows
 * the repository's files, `https://…/blob/main`, or undefined. Without it what is no page is named, not linked.
 */
export function siteText(file, text, pages, source) {
  const from = placeOf(file);
  function relink(whole, picture, label, target) {
    if (staysAsItIs(target)) return whole;
    const [name, fragment] = target.split('#');
    const found = path.posix.join(path.posix.dirname(file), name);
    const behind = fragment === undefined ? '' : `#${fragment}`;
    if (pages.has(found)) return `${picture}[${label}](${between(from, placeOf(found))}${behind})`;
    if (PICTURE.test(found)) {
      const place = between(from, pictureOf(found));
      return `${picture}[${label}](${place.startsWith('.') ? place : `./${place}`})`;
    }
    return source ? `[${label}](${source.replace(/\/$/, '')}/${found}${behind})` : label;
  }
  return text.replace(FENCE_OR_LINK, (whole, ...parts) => {
    const { picture, label, target } = parts.at(-1);
    return target === undefined ? whole : relink(whole, picture, label, target);
  });
}

/** The pictures that a page shows, as files of the repository. */
export const picturesOf = (file, text) =>
  [...text.matchAll(FENCE_OR_LINK)]
    .map(({ groups }) => groups.target ?? '')
    .filter((target) => !staysAsItIs(target) && PICTURE.test(target))
    .map((target) => path.posix.join(path.posix.dirname(file), target));
