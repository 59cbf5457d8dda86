/**
 * The steps of a release, in their order. The workflow (.github/workflows/release.yml) calls them by these names, and `npm run release --
 * --dry-run` goes through all of them, so that a rehearsal is what the workflow does.
 *
 * A row: `says`: what it does. `make`: makes files of the release's folder, in this process. `commands`: programs with their arguments.
 * `publishes`: only the workflow runs the commands, and a rehearsal prints them.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { SetupError } from '../setup/failure.mjs';
import { inRoot, ROOT } from '../setup/paths.mjs';
import { sectionOf } from './changelog.mjs';
import { factsOf, findings } from './checks.mjs';

const PLATFORMS = 'linux/amd64,linux/arm64';
const NAME = 'speech-gateway';
const NOWHERE = 'registry.example.com';

/** Throws SetupError: for what is wrong, and where it is no rehearsal for what is open as well. */
function check({ version, rehearsal, say }) {
  const found = findings(factsOf(version));
  for (const { text } of found.filter(({ open }) => open && rehearsal)) say(`before the tag: ${text}`);
  const wrong = found.filter(({ open }) => !(open && rehearsal)).map(({ text }) => text);
  if (wrong.length > 0) throw new SetupError(wrong.join('\n'));
}

/** The packages with their licences, as scanners read them; npm has them in the lock. */
function billOfMaterials({ folder }) {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only', '--omit', 'dev'];
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 1e8 });
  if (status !== 0) throw new SetupError(`npm sbom failed: ${stderr}`);
  fs.writeFileSync(path.join(folder, 'sbom.cdx.json'), stdout);
}

function notes({ folder, version }) {
  const section = sectionOf(fs.readFileSync(inRoot('CHANGELOG.md'), 'utf8'), version);
  if (!section) throw new SetupError(`CHANGELOG.md has no section ## ${version}`);
  fs.writeFileSync(path.join(folder, 'notes.md'), `${section.text}\n`);
}

const SUMS = 'SHA256SUMS';

/** In the format of sha256sum. */
function digests({ folder }) {
  const files = fs
    .readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== SUMS)
    .map((entry) => path.relative(folder, path.join(entry.parentPath ?? entry.path, entry.name)))
    .sort();
  const line = (file) =>
    `${createHash('sha256')
      .update(fs.readFileSync(path.join(folder, file)))
      .digest('hex')}  ${file}\n`;
  fs.writeFileSync(path.join(folder, SUMS), files.map(line).join(''));
}

const tarballs = ({ folder, version }) =>
  [NAME, `${NAME}-client`].map((name) => path.join(folder, `${name}-${version}.tgz`));

/** A version with a dash is a candidate, which nobody gets unasked. */
const isCandidate = ({ version }) => version.includes('-');

/** Where images and charts go. Throws SetupError. */
function registryOf({ registry, rehearsal }) {
  if (!registry && !rehearsal) throw new SetupError('RELEASE_REGISTRY is not set (docs/releases.md)');
  return registry || NOWHERE;
}

function pushImage(context) {
  const { folder, version } = context;
  const image = `${registryOf(context)}/${NAME}`;
  const tags = [version, ...(isCandidate(context) ? [] : ['latest'])].flatMap((tag) => [
    '--tag',
    `${image}:${tag}`,
  ]);
  // The metadata names its digest.
  const proofs = [
    '--provenance',
    'mode=max',
    '--sbom',
    'true',
    '--metadata-file',
    path.join(folder, 'image.json'),
  ];
  return [['docker', 'buildx', 'build', '--platform', PLATFORMS, ...tags, ...proofs, '--push', ROOT]];
}

/** Provenance: npm has the workflow's identity sign where the tarball was built. */
const publishPackages = (context) =>
  tarballs(context).map((tarball) => [
    ...['npm', 'publish', tarball, '--provenance', '--access', 'public'],
    ...(isCandidate(context) ? ['--tag', 'next'] : []),
  ]);

const createRelease = (context) => {
  const { folder, tag } = context;
  const files = ['sbom.cdx.json', 'image.json', SUMS].map((name) => path.join(folder, name));
  const kind = isCandidate(context) ? ['--prerelease'] : [];
  const about = ['--verify-tag', '--title', tag, '--notes-file', path.join(folder, 'notes.md'), ...kind];
  return [['gh', 'release', 'create', tag, ...about, ...tarballs(context), ...files]];
};

export const STEPS = {
  check: { says: 'whether this commit can be released', make: check },
  gateway: {
    says: 'the npm package',
    commands: ({ folder }) => [[process.execPath, inRoot('ops/package/pack.mjs'), '--to', folder]],
  },
  client: {
    says: 'the npm package of the session SDK',
    commands: ({ folder }) => [
      ['npm', 'run', 'build', '--prefix', inRoot('client')],
      ['npm', 'pack', inRoot('client'), '--pack-destination', folder, '--ignore-scripts'],
    ],
  },
  // In a folder of its own: its file is called as the npm package is.
  chart: {
    says: 'the Helm chart',
    commands: ({ folder }) => [
      ['helm', 'package', inRoot('ops/deploy/helm'), '--destination', path.join(folder, 'chart')],
    ],
  },
  sbom: { says: 'the packages that run, with their licences (CycloneDX)', make: billOfMaterials },
  notes: { says: 'the section of CHANGELOG.md', make: notes },
  'publish-image': { says: 'the image for two architectures', publishes: true, commands: pushImage },
  digests: { says: 'the SHA-256 of each file', make: digests },
  'publish-packages': {
    says: 'the npm packages, with provenance',
    publishes: true,
    commands: publishPackages,
  },
  'publish-chart': {
    says: 'the chart',
    publishes: true,
    commands: (context) => [
      [
        'helm',
        'push',
        path.join(context.folder, 'chart', `${NAME}-${context.version}.tgz`),
        `oci://${registryOf(context)}/charts`,
      ],
    ],
  },
  'publish-release': {
    says: 'the release with its notes and files',
    publishes: true,
    commands: createRelease,
  },
};
