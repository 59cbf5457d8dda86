/** Repairs of packages are patches that fit what npm installs (ops/patches), and what runs has them. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { CHECKOUT } from '../../../../contracts/places.js';
import t from '../../../fixtures/tap.js';

interface Patched {
  readonly name: string;
  readonly folder: string;
  readonly files: ReadonlyMap<string, string>;
}

const { patchedPackages } = (await import(new URL('ops/setup/patches.mjs', CHECKOUT).href)) as {
  patchedPackages(): Patched[];
};

t.test('every patch fits the package of its name and version, and changes what npm installed', (t) => {
  const packages = patchedPackages();
  t.strictSame(
    packages.map(({ name }) => name),
    ['postgres'],
  );
  for (const { folder, files } of packages)
    for (const [place, text] of files) t.not(text, readFileSync(path.join(folder, place), 'utf8'), place);
  t.end();
});

t.test('what compiled code imports is the patched package', (t) => {
  for (const { name, files } of patchedPackages()) {
    const entry = fileURLToPath(import.meta.resolve(name));
    const folder = entry.slice(0, entry.lastIndexOf(name) + name.length);
    for (const [place, text] of files) t.equal(readFileSync(path.join(folder, place), 'utf8'), text, place);
  }
  t.end();
});
