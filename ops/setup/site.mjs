/**
 * `npm run site [-- --base=/ --source=ADDRESS --versions=FOLDER]`: the documentation as a site of static files, in `.build-site/site`.
 * `--base` is the path that it will be served at; `--source` the address at which a forge shows the repository's files
 * (`https://…/blob/main`): without it, files that are no pages are named, not linked. With `--versions` the site is one of several: it is
 * served below the path, as `0.1/`, and put into that folder beside those of other versions.
 */
import './node-version.mjs';
import fs from 'node:fs';
import path from 'node:path';
import { readArguments } from './arguments.mjs';
import { command } from './command.mjs';
import { SetupError } from './failure.mjs';
import { inRoot } from './paths.mjs';
import { prepare, SITE } from './prepare.mjs';

const OPTIONS = {
  base: { type: 'string', default: '/' },
  source: { type: 'string' },
  versions: { type: 'string' },
};

function baseOf(given) {
  if (/^\/([\w.~-]+\/)*$/.test(given)) return given;
  throw new SetupError(`--base wants a path that begins and ends with a slash, not ${given}`);
}

const { version } = JSON.parse(fs.readFileSync(inRoot('package.json'), 'utf8'));

await command(async () => {
  const { values } = readArguments(OPTIONS);
  const base = baseOf(values.base);
  await prepare(SITE);
  const { BUILT, buildSite } = await import('../site/build.mjs');
  const { addVersion, versionName } = await import('../site/versions.mjs');
  const name = versionName(version);
  const broken = await buildSite({ base: values.versions ? `${base}${name}/` : base, source: values.source });
  if (broken.length > 0) throw new SetupError(`broken links\n${broken.join('\n')}`);
  console.log(`site: ${BUILT}`);
  if (!values.versions) return;
  const folder = path.resolve(values.versions);
  fs.mkdirSync(folder, { recursive: true });
  console.log(`site: ${folder} has ${addVersion(BUILT, folder, name).join(', ')}`);
});
