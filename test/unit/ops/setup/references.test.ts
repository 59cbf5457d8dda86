/** Broken references are found: links and headings of pages, citations in code, and names without a folder. */
import { CHECKOUT } from '../../../../contracts/places.js';
import t from '../../../fixtures/tap.js';
import { exactly } from '../../../fixtures/exactly.js';

type Exists = (file: string) => boolean;
type Read = (file: string) => string;

interface References {
  brokenLinks(name: string, text: string, exists?: Exists, read?: Read): string[];
  brokenCitations(name: string, text: string, exists?: Exists, read?: Read): string[];
  brokenShortForms(name: string, text: string, read?: Read): string[];
  bareCitations(name: string, text: string): string[];
  missingSources(name: string, text: string, exists?: Exists): string[];
  missingFromPage(name: string, text: string, exists?: Exists): string[];
  checkReferences(): string[];
}

const module = new URL('ops/setup/references.mjs', CHECKOUT).href;
const references = (await import(module)) as References;

const PAGE =
  '# Title\n\n## 6.8 Webhooks after a call\n\n### Query\n\n## 9. `Bitrates`\n\n```\n## no heading\n```\n';
const exists: Exists = (file) => !file.includes('gone');
const read: Read = () => PAGE;

t.test('links of a page', async (t) => {
  const broken = (text: string) => references.brokenLinks('docs/a.md', text, exists, read);
  for (const link of ['b.md', '../README.md', 'b.md#query', '#68-webhooks-after-a-call', 'https://gone'])
    t.strictSame(broken(`[text](${link})`), [], link);
  exactly(t, broken('[text](gone.md)'), ['docs/a.md: no file behind the link gone.md']);
  exactly(t, broken('[text](b.md#nothing)'), ['docs/a.md: no heading behind the link b.md#nothing']);
  exactly(t, broken('[text](b.md#no-heading)'), [/no heading/], 'code is no heading');
  t.strictSame(broken('```\n[text](gone.md)\n```'), [], 'code is no link');
});

t.test('citations in code', async (t) => {
  const broken = (text: string) => references.brokenCitations('a.ts', text, exists, read);
  for (const cited of [
    'docs/a.md',
    'docs/a.md 6.8',
    'docs/a.md "Query"',
    'docs/a.md 9',
    'ops/adr/0001-x.md.',
  ])
    t.strictSame(broken(`/** A comment (${cited}). */`), [], cited);
  exactly(t, broken('// docs/gone.md'), ['a.ts: cites docs/gone.md, which is not there']);
  exactly(t, broken('// docs/a.md 6.9'), ['a.ts: cites docs/a.md 6.9, which has no such section']);
  exactly(t, broken('// docs/a.md "Answer"'), [/no such section/]);
});

t.test('short forms', async (t) => {
  const broken = (text: string) => references.brokenShortForms('a.ts', text, read);
  t.strictSame(broken("t.test('rule 9: bitrates', …"), []);
  exactly(t, broken('// decision 10'), [/cites decision 10/]);
});

t.test('names of documents without a folder', async (t) => {
  exactly(t, references.bareCitations('a.ts', '// decisions.md'), [/without its folder/]);
  exactly(t, references.bareCitations('a.ts', '// fine point 3'), [/without its folder/]);
  t.strictSame(references.bareCitations('a.ts', '// docs/contract/decisions.md 3, or a transport'), []);
});

t.test('a source that a comment names is at that path or beside it', async (t) => {
  const there = ['/engines/pace.ts', '/engines/chat/replies.ts'];
  const missing = (text: string) =>
    references.missingSources('engines/chat/words.ts', text, (file) =>
      there.some((end) => file.endsWith(end)),
    );
  for (const comment of ['/** As in engines/pace.ts. */', '// replies.ts', "import x from './gone.ts';"])
    t.strictSame(missing(comment), [], comment);
  t.strictSame(missing(' * `actors/a.ts:3:7`'), [], 'an example');
  exactly(t, missing(' * Rows of pace.ts.'), [
    'engines/chat/words.ts: names pace.ts, which is neither there nor beside it',
  ]);
  exactly(t, missing('// media/pace.ts'), [/names media\/pace\.ts/]);
});

t.test('a source that a page names by its whole path is there', async (t) => {
  const missing = (text: string) => references.missingFromPage('docs/b.md', text, exists);
  t.strictSame(missing('`engines/pace.ts`, and `chat/gone.ts` by the end of its path'), []);
  exactly(t, missing('`engines/gone.ts`'), ['docs/b.md: names engines/gone.ts, which is not there']);
});

t.test('this checkout has none', async (t) => {
  t.strictSame(references.checkReferences(), []);
});
