/**
 * `node ops/sdk-options/command.mjs [--python=FOLDER]`: writes the names of the options that SDKs can send to
 * test/fixtures/speech/sdk-options.json. ElevenLabs' SDK for Python is read from its unpacked wheel; without one, its names stay as they are.
 */
import fs from 'node:fs';
import { readArguments } from '../setup/arguments.mjs';
import { command } from '../setup/command.mjs';
import { inRoot } from '../setup/paths.mjs';
import { writeAtomically } from '../setup/stamps.mjs';
import { pythonGroups } from './python.mjs';
import { typedGroups } from './sources.mjs';

const FILE = inRoot('test', 'fixtures', 'speech', 'sdk-options.json');

/** Groups that are not read from typings. */
const keptGroups = () =>
  fs.existsSync(FILE)
    ? JSON.parse(fs.readFileSync(FILE, 'utf8')).filter(({ sdk }) => sdk.endsWith('for Python'))
    : [];

await command(async () => {
  const { values } = readArguments({ python: { type: 'string' } });
  const groups = [...typedGroups(), ...(values.python ? pythonGroups(values.python) : keptGroups())];
  writeAtomically(FILE, `${JSON.stringify(groups, null, 2)}\n`);
  console.log(`wrote ${groups.length} groups of names; format them with npm run format`);
});
