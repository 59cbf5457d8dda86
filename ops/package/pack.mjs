/**
 * `npm run package [-- --to FOLDER]`: builds the product, and packs what people install as `npm` would publish it. Prints the path of the
 * tarball. Nothing is published.
 */
import '../setup/node-version.mjs';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { readArguments } from '../setup/arguments.mjs';
import { onInterrupt } from '../setup/children.mjs';
import { command } from '../setup/command.mjs';
import { npm } from '../setup/npm.mjs';
import { inRoot } from '../setup/paths.mjs';
import { LOADING, prepare } from '../setup/prepare.mjs';
import { packageFiles } from './files.mjs';
import { manifestOf } from './manifest.mjs';

const readJson = (name) => JSON.parse(fs.readFileSync(inRoot(name), 'utf8'));

/** Lays the package out in `folder`. */
async function stage(folder) {
  for (const place of await packageFiles()) {
    const file = path.join(folder, place);
    fs.mkdirSync(path.dirname(file), { recursive: true });
    fs.copyFileSync(inRoot(place), file);
  }
  const manifest = manifestOf(readJson('package.json'), readJson('package-lock.json'));
  fs.writeFileSync(path.join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}

/** Packs it into `to`, and returns the tarball's path. Throws SetupError. */
async function pack(to) {
  fs.mkdirSync(to, { recursive: true });
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'speech-gateway-package-'));
  const remove = () => fs.rmSync(folder, { recursive: true, force: true });
  const withdraw = onInterrupt(remove);
  try {
    await stage(folder);
    const lines = await npm('package', ['pack', folder, '--pack-destination', to]);
    return path.join(
      to,
      lines.findLast((line) => line.endsWith('.tgz')),
    );
  } finally {
    withdraw();
    remove();
  }
}

await command(async () => {
  const { values } = readArguments({ to: { type: 'string', default: '.' } });
  await prepare(LOADING);
  console.log(await pack(path.resolve(values.to)));
});
