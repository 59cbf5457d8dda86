/**
 * Whether this commit can be released. Each check looks at the facts and returns findings: what is wrong, and whether that may still be
 * so in a rehearsal (`open`: it has to be done before the tag is pushed).
 */
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { inRoot, ROOT } from '../setup/paths.mjs';
import { versionedFiles } from '../setup/versions.mjs';
import { sectionOf, UNRELEASED } from './changelog.mjs';

const wrong = (text) => ({ text, open: false });
const open = (text) => ({ text, open: true });
const unless = (is, finding) => (is ? [] : [finding]);

const CHECKS = [
  function version({ outdated }) {
    return outdated.map((file) => wrong(`${file} has another version than package.json: npm run generate`));
  },
  function changelog({ version, changes }) {
    const section = sectionOf(changes, version);
    if (!section) return [wrong(`CHANGELOG.md has no section ## ${version}`)];
    return unless(section.date !== UNRELEASED, open(`CHANGELOG.md calls ${version} ${UNRELEASED}: its date`));
  },
  function tree({ changed }) {
    return unless(
      changed.length === 0,
      open(`changed and not committed: ${changed.slice(0, 5).join(', ')}${changed.length > 5 ? ' …' : ''}`),
    );
  },
  function tag({ version, tags }) {
    if (tags.length === 0) return [open(`this commit has no tag v${version}`)];
    return unless(
      tags.includes(`v${version}`),
      wrong(`this commit has the tag ${tags.join(', ')}, and package.json the version ${version}`),
    );
  },
  function predecessor({ previous, earlier, isAncestor }) {
    const file = 'ops/setup/previous-release.json';
    if (!isAncestor) return [wrong(`${file} names ${previous}, which is no commit before this one`)];
    return unless(
      !earlier || earlier.commit === previous,
      wrong(
        `${file} names ${previous}, and the release before this one is ${earlier?.tag}, ${earlier?.commit}`,
      ),
    );
  },
  function repository({ repositories }) {
    return repositories
      .filter(({ is }) => !is)
      .map(({ file, wanted }) =>
        open(`${file} has no "repository" ${wanted}: npm proves no other provenance`),
      );
  },
];

/** What is wrong with the facts, check by check. */
export const findings = (facts) => CHECKS.flatMap((check) => check(facts));

/** The lines that git prints; undefined where it fails. */
function git(...args) {
  const { status, stdout } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' });
  return status === 0 ? stdout.split('\n').filter(Boolean) : undefined;
}

const read = (file) => fs.readFileSync(inRoot(file), 'utf8');
const TAGS = ['--match', 'v[0-9]*'];

/** The newest release before this commit; undefined before the first. */
function earlierRelease() {
  const [tag] = git('describe', '--tags', '--abbrev=0', ...TAGS, 'HEAD^') ?? [];
  return tag && { tag, commit: git('rev-list', '--max-count=1', tag)?.[0] };
}

/** Packages that are published, and whether they name the repository that the workflow runs in. */
function repositories({ GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name }) {
  const address = server && name && `${server}/${name}`;
  return ['package.json', 'client/package.json'].map((file) => {
    const { url = '' } = JSON.parse(read(file)).repository ?? {};
    const is = address ? url.replace(/^git\+|\.git$/g, '') === address : url !== '';
    return { file, wanted: address ?? 'with the address of this one', is };
  });
}

/** The facts about this checkout, in this environment. */
export function factsOf(version, env = process.env) {
  const previous = JSON.parse(read('ops/setup/previous-release.json')).commit;
  return {
    version,
    outdated: versionedFiles
      .filter(({ file, generate }) => generate() !== read(file))
      .map(({ file }) => file),
    changes: read('CHANGELOG.md'),
    changed: git('status', '--porcelain')?.map((line) => line.slice(3)) ?? ['no checkout of git'],
    tags: git('tag', '--points-at', 'HEAD', '--list', 'v[0-9]*') ?? [],
    previous,
    isAncestor: git('merge-base', '--is-ancestor', previous, 'HEAD^') !== undefined,
    earlier: earlierRelease(),
    repositories: repositories(env),
  };
}
