/** The documentation site (ops/site), without VitePress: its pages, their links, and llms.txt. */
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, posix } from 'node:path';
import type { Test } from 'tap';
import { CHECKOUT } from '../../../../contracts/places.js';
import t from '../../../fixtures/tap.js';

interface Page {
  readonly file: string;
  readonly place: string;
  readonly title: string;
  readonly lead: string;
  readonly text: string;
}
interface Section {
  readonly reader: string;
  readonly pages: readonly Page[];
}

const ROOT = CHECKOUT;
const site = (file: string) => import(new URL(`ops/site/${file}`, ROOT).href);
const { leadOf, placeOf, sitePages } = (await site('pages.mjs')) as {
  leadOf(text: string): string;
  placeOf(file: string): string;
  sitePages(): readonly Section[];
};
const { siteText } = (await site('links.mjs')) as {
  siteText(file: string, text: string, pages: ReadonlySet<string>, source?: string): string;
};
const { llmsText } = (await site('llms.mjs')) as { llmsText(sections: readonly Section[]): string };
const { brokenHrefs, stage } = (await site('build.mjs')) as {
  brokenHrefs(folder: string, base: string): string[];
  stage(folder: string, source?: string): string[];
};

/** A decision. */
const FIRST = 'ops/adr/0001-compiled-javascript.md';

const SECTIONS = sitePages();
const PAGES = SECTIONS.flatMap(({ pages }) => pages);

const temporary = (t: Pick<Test, 'teardown'>): string => {
  const folder = mkdtempSync(join(process.env['TEST_FOLDER'] || tmpdir(), 'site-'));
  t.teardown(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

const markdownBelow = (folder: string): string[] =>
  readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `${folder}${name}`);

t.test('every page of docs and every decision is in the navigation, each once', async (t) => {
  const files = PAGES.map(({ file }) => file);
  t.equal(new Set(files).size, files.length);
  t.equal(new Set(PAGES.map(({ place }) => place)).size, files.length, 'no two at one place');
  for (const file of [...markdownBelow('docs/'), ...markdownBelow('ops/adr/')])
    t.ok(files.includes(file), file);
  for (const { file, title, lead } of PAGES) {
    t.not(title, '', file);
    t.not(lead, '', file);
  }
});

t.test('where a page is found', async (t) => {
  const PLACES = {
    'README.md': 'index.md',
    'CHANGELOG.md': 'changelog.md',
    'client/README.md': 'session-sdk.md',
    'docs/phone/twilio.md': 'phone/twilio.md',
    'docs/operate/README.md': 'operate/index.md',
    'ops/adr/README.md': 'decisions/index.md',
    [FIRST]: 'decisions/0001-compiled-javascript.md',
  };
  for (const [file, place] of Object.entries(PLACES)) t.equal(placeOf(file), place);
});

t.test('links go to where the pages are on the site', async (t) => {
  const pages = new Set(['docs/sip.md', 'docs/operate/README.md', FIRST, 'README.md']);
  const made = (text: string, source?: string) => siteText('docs/operate/README.md', text, pages, source);
  const LINKS = {
    '[a](../sip.md#part)': '[a](../sip.md#part)',
    [`[\`x\`](../../${FIRST})`]: '[`x`](../decisions/0001-compiled-javascript.md)',
    '[top](../../README.md)': '[top](../index.md)',
    '![shot [1]](../images/s.png)': '![shot [1]](../images/s.png)',
    '[here](#part) [there](https://example.com/a.md)': '[here](#part) [there](https://example.com/a.md)',
    '[the licence](../../LICENSE)': 'the licence',
    '```\n[a](../gone.md)\n```': '```\n[a](../gone.md)\n```',
  };
  for (const [text, wanted] of Object.entries(LINKS)) t.equal(made(text), wanted);
  t.equal(
    made('[the licence](../../LICENSE)', 'https://forge.example/blob/main/'),
    '[the licence](https://forge.example/blob/main/LICENSE)',
  );
});

/** What the links of a staged page lead to, without headings and addresses. */
const targetsOf = (text: string): string[] =>
  [...text.replace(/^ *(```|~~~)[^]*?^ *\1/gm, '').matchAll(/\]\(([^()\s]+)\)/g)]
    .map(([, target = '']) => target.replace(/#.*$/, ''))
    .filter((target) => target !== '' && !/^[a-z]+:/.test(target));

t.test('what VitePress reads has no link that leads nowhere', async (t) => {
  const folder = temporary(t);
  const places = stage(folder);
  t.equal(places.length, PAGES.length);
  let followed = 0;
  for (const place of places)
    for (const target of targetsOf(readFileSync(join(folder, place), 'utf8'))) {
      followed++;
      t.ok(existsSync(join(folder, posix.dirname(place), target)), `${place}: ${target}`);
    }
  t.ok(followed > 300, `${followed} links`);
  t.equal(readFileSync(join(folder, 'public', 'llms.txt'), 'utf8'), llmsText(SECTIONS));
});

t.test('llms.txt: a heading, what it is, and each page with what it tells', async (t) => {
  const text = llmsText(SECTIONS);
  t.match(text, /^# Speech gateway\n\n> Text to speech, speech to text/);
  for (const { reader, pages } of SECTIONS) {
    t.match(text, `\n## ${reader}\n`);
    for (const { title, place } of pages) t.match(text, `\n- [${title}](${place}): `);
  }
  t.equal(
    leadOf('# A\n\n```sh\ncode\n```\n\n| t |\n\nThe `first`\n[one](x.md).\n\nAnother.'),
    'The first one.',
  );
});

t.test('links of the built site', async (t) => {
  const folder = temporary(t);
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  write(
    'index.html',
    '<a href="/v1/b/#one">1</a><a class="x" href="b/index.html#two">2</a><a href="#none">3</a>',
  );
  write('b/index.html', '<h2 id="one"></h2><a href="../gone.html">4</a><a href="https://example.com">5</a>');
  t.strictSame(brokenHrefs(folder, '/v1/').sort(), [
    'b/index.html: nothing behind the link ../gone.html',
    'index.html: nothing behind the link #none',
    'index.html: nothing behind the link b/index.html#two',
  ]);
});

t.test('versions of the site are beside each other, and the newest is led to', async (t) => {
  const { addVersion, versionName } = (await site('versions.mjs')) as {
    addVersion(built: string, folder: string, name: string): string[];
    versionName(version: string): string;
  };
  t.equal(versionName('0.10.3'), '0.10');
  const [built, folder] = [temporary(t), temporary(t)];
  const builtAs = (text: string): void => writeFileSync(join(built, 'index.html'), text);
  builtAs('nine');
  t.strictSame(addVersion(built, folder, '0.9'), ['0.9']);
  builtAs('ten');
  mkdirSync(join(folder, '0.8'));
  t.strictSame(addVersion(built, folder, '0.10'), ['0.10', '0.9'], 'an empty folder is none');
  const read = (name: string): string => readFileSync(join(folder, name), 'utf8');
  t.strictSame(JSON.parse(read('versions.json')), ['0.10', '0.9']);
  t.match(read('index.html'), 'url=0.10/');
  writeFileSync(join(folder, '0.10', 'gone.html'), '');
  builtAs('ten, mended');
  t.strictSame(addVersion(built, folder, '0.10'), ['0.10', '0.9']);
  t.strictSame([read('0.9/index.html'), read('0.10/index.html')], ['nine', 'ten, mended']);
  t.notOk(existsSync(join(folder, '0.10', 'gone.html')), 'what is built again replaces what was there');
});
