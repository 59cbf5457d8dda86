/**
 * Several versions of the site beside each other in one folder, as a server has them: a folder for each (`0.1`), `versions.json` with
 * their names, newest first, and a page that leads to the newest. The menu of each version (.vitepress/theme/versions.mjs) reads the list.
 */
import fs from 'node:fs';
import path from 'node:path';

const NAME = /^\d+\.\d+$/;

/** The folder of a version: all patches of 0.1 are one. */
export const versionName = (version) => version.split('.').slice(0, 2).join('.');

const newestFirst = (a, b) => {
  const [one, other] = [a, b].map((name) => name.split('.').map(Number));
  return other[0] - one[0] || other[1] - one[1];
};

const versionsIn = (folder) =>
  fs
    .readdirSync(folder)
    .filter((name) => NAME.test(name) && fs.existsSync(path.join(folder, name, 'index.html')))
    .sort(newestFirst);

const leadingTo = (name) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Speech gateway</title>
<meta http-equiv="refresh" content="0; url=${name}/">
<p><a href="${name}/">Speech gateway ${name}</a></p>
</html>
`;

/** Puts a built site into the folder of versions, in place of an older one of the same name. Returns the names of all. */
export function addVersion(built, folder, name) {
  const place = path.join(folder, name);
  fs.rmSync(place, { recursive: true, force: true });
  fs.cpSync(built, place, { recursive: true });
  const names = versionsIn(folder);
  fs.writeFileSync(path.join(folder, 'versions.json'), `${JSON.stringify(names)}\n`);
  fs.writeFileSync(path.join(folder, 'index.html'), leadingTo(names[0]));
  return names;
}
