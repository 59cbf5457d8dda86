/**
 * The pages of the documentation site: which Markdown files of the repository it is made from, for whom, and at which
 * path each is found. The files are read on a forge as well, so they stay as they are.
 */
import fs from 'node:fs';
import { inRoot } from '../setup/paths.mjs';

const filesIn = (folder) =>
  fs
    .readdirSync(inRoot(folder))
    .filter((name) => name.endsWith('.md') && name !== 'README.md')
    .sort()
    .map((name) => `${folder}/${name}`);

/** Sections of the navigation, one for each kind of reader, and their files in reading order. */
export const NAVIGATION = [
  {
    reader: 'Start here',
    files: [
      ...['README.md', 'docs/install.md', 'docs/troubleshooting.md', 'docs/console.md'],
      ...['examples/README.md', 'CHANGELOG.md'],
    ],
  },
  {
    reader: 'Speech in your programs',
    files: ['docs/native-api.md', 'docs/clients.md', 'docs/engines.md', 'docs/models.md'],
  },
  {
    reader: 'Voice agents',
    files: [
      ...['docs/voice-agents.md', 'docs/widget.md', 'client/README.md', 'client/python/README.md'],
      'docs/realtime-agents.md',
      'docs/elevenlabs-agents.md',
      'docs/webhooks.md',
      'docs/agent-tests.md',
      'docs/agents-as-files.md',
    ],
  },
  { reader: 'Telephone', files: ['docs/phone.md', ...filesIn('docs/phone'), 'docs/sip.md'] },
  {
    reader: 'Running it for others',
    files: [
      ...['docs/configuration.md', 'docs/keys-and-workspaces.md', 'docs/operating.md'],
      ...['docs/operate/README.md', 'docs/operate/incidents.md', 'docs/operate/sizing.md'],
      ...['docs/operate/memory.md', 'docs/operate/network.md', 'docs/operate/recordings.md'],
      ...[
        'docs/operate/containers.md',
        'docs/operate/kubernetes.md',
        'docs/operate/placement.md',
        'docs/operate/livekit.md',
        'docs/operate/fair-admission.md',
      ],
      ...['docs/operate/backups.md', 'docs/operate/secrets.md', 'docs/operate/personal-data.md'],
      ...[
        'docs/operate/chaos.md',
        'docs/metrics.md',
        'docs/http-stacks.md',
        'bench/README.md',
        'SECURITY.md',
      ],
    ],
  },
  {
    reader: 'The wire protocols in full',
    files: [
      ...['docs/contract/README.md', 'docs/contract/compatibility.md', 'docs/contract/protocol-a.md'],
      'docs/contract/agent-realtime.md',
      'docs/contract/agent-elevenlabs.md',
      ...['docs/contract/protocol-b.md', 'docs/contract/native.md', 'docs/contract/platform.md'],
      ...['docs/contract/transport.md', 'docs/contract/spoken-text.md', 'docs/contract/limits.md'],
      'docs/contract/decisions.md',
    ],
  },
  {
    reader: 'Changing it',
    files: [
      'CONTRIBUTING.md',
      'docs/architecture.md',
      'docs/statecharts.md',
      'docs/releases.md',
      'docs/glossary.md',
      'THIRD-PARTY.md',
    ],
  },
  { reader: 'Decisions', files: ['ops/adr/README.md', ...filesIn('ops/adr')] },
];

/** Where files are found that are not below docs/: the first pattern that fits. */
const PLACES = [
  [/^README\.md$/, 'index.md'],
  [/^client\/README\.md$/, 'session-sdk.md'],
  [/^client\/python\/README\.md$/, 'python-package.md'],
  [/^bench\/README\.md$/, 'load-tests.md'],
  [/^examples\/README\.md$/, 'examples.md'],
  [/^ops\/adr\//, 'decisions/'],
  [/^docs\//, ''],
];

/** The path of a file on the site, with `.md`: `docs/operate/README.md` is `operate/index.md`. */
export function placeOf(file) {
  const [pattern, place] = PLACES.find(([one]) => one.test(file)) ?? [/$/, ''];
  const moved = file.replace(pattern, place);
  return moved.replace(/[^/]+$/, (name) => (name === 'README.md' ? 'index.md' : name.toLowerCase()));
}

/** What the navigation calls a page, if not by its heading. */
const TITLES = { 'README.md': 'Overview', 'ops/adr/README.md': 'All decisions' };

export const headingOf = (text) => /^# +(.+?) *$/m.exec(text)?.[1] ?? '';

/** The first paragraph of a page, in one line and without marks. */
export function leadOf(text) {
  const paragraphs = text
    .replace(/^(```|~~~)[^]*?^\1/gm, '')
    .split(/\n{2,}/)
    .map((paragraph) => paragraph.trim());
  const first = paragraphs.find((paragraph) => /^[\p{L}\p{N}`*[]/u.test(paragraph)) ?? '';
  return first
    .replace(/\s+/g, ' ')
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/[`*]/g, '');
}

function pageOf(file) {
  const text = fs.readFileSync(inRoot(file), 'utf8');
  return { file, place: placeOf(file), title: TITLES[file] ?? headingOf(text), lead: leadOf(text), text };
}

/** The sections with their pages: `{ reader, pages: [{ file, place, title, lead, text }] }`. */
export const sitePages = () =>
  NAVIGATION.map(({ reader, files }) => ({ reader, pages: files.map((file) => pageOf(file)) }));
