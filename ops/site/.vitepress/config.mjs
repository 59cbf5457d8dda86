/** The settings of the documentation site (ops/site/build.mjs writes the pages that it is made from). */
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { anchor } from '../../setup/references.mjs';
import { inRoot } from '../../setup/paths.mjs';
import { STAGED } from '../build.mjs';
import { sitePages } from '../pages.mjs';

const { version } = JSON.parse(fs.readFileSync(inRoot('package.json'), 'utf8'));

const linkOf = (place) => `/${place.replace(/(^|\/)index\.md$/, '$1').replace(/\.md$/, '')}`;

const SECTIONS = sitePages();

/** Long lists are closed until somebody opens them. */
const MOST_OPEN = 8;

const listOf = ({ reader, pages }, collapsed) => ({
  text: reader,
  collapsed,
  items: pages.map(({ title, place }) => ({ text: title, link: linkOf(place) })),
});

const GUIDES = SECTIONS.slice(0, -1).map((section) => listOf(section, section.pages.length > MOST_OPEN));
const DECISIONS = SECTIONS.at(-1);

/** The list of all decisions stands beside decisions only: on every page it would be half of the page. */
const sidebar = {
  '/decisions/': [listOf(DECISIONS, false), ...GUIDES],
  '/': [...GUIDES, listOf({ ...DECISIONS, pages: DECISIONS.pages.slice(0, 1) }, false)],
};

/** A diagram is drawn in the browser, from its text. */
function drawDiagrams(md) {
  const fence = md.renderer.rules.fence;
  md.renderer.rules.fence = (tokens, index, ...rest) => {
    const { info, content } = tokens[index];
    if (info.trim() !== 'mermaid') return fence(tokens, index, ...rest);
    return `<Diagram code="${encodeURIComponent(content)}" />`;
  };
}

/** What stands in double braces is a variable of ours, and no expression of the site's. */
function keepBraces(md) {
  const inline = md.renderer.rules.code_inline;
  md.renderer.rules.code_inline = (tokens, index, ...rest) => {
    tokens[index].attrSet('v-pre', '');
    return inline(tokens, index, ...rest);
  };
}

function renderAsWritten(md) {
  drawDiagrams(md);
  keepBraces(md);
}

export default defineConfig({
  title: 'Speech gateway',
  titleTemplate: ':title — Speech gateway',
  description: 'Text to speech, speech to text and voice agents on your own machine.',
  lang: 'en',
  srcDir: STAGED,
  cacheDir: fileURLToPath(new URL('../node_modules/.cache', import.meta.url)),
  // A gateway on the reader's machine.
  ignoreDeadLinks: 'localhostLinks',
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  markdown: {
    anchor: { slugify: anchor },
    config: renderAsWritten,
    image: { lazyLoading: true },
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
  },
  // What all pages say of the site is a file of its own, not a third of each page.
  metaChunk: true,
  // Pages are fetched when somebody goes there, not because a link to them can be seen.
  router: { prefetchLinks: false },
  themeConfig: {
    nav: [
      { text: 'Start', link: '/' },
      { text: 'Voice agents', link: '/voice-agents' },
      { text: 'API', link: '/native-api' },
      { text: 'Operating', link: '/operate/' },
      { component: 'Versions' },
    ],
    sidebar,
    version,
    outline: [2, 3],
    search: { provider: 'local' },
  },
  vite: {
    // Settings of a gateway in this checkout (.env) are none of the site's.
    envDir: fileURLToPath(new URL('.', import.meta.url)),
    build: { chunkSizeWarningLimit: 4000 },
  },
});
