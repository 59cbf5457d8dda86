/**
 * `npm run release -- [STEP …] [--dry-run] [--to=FOLDER]`: runs steps of a release (steps.mjs); all without a name. Only the workflow
 * releases: elsewhere it takes `--dry-run`, which makes all files in the folder and prints what would be published, and how.
 */
import '../setup/node-version.mjs';
import fs from 'node:fs';
import path from 'node:path';
import { readArguments } from '../setup/arguments.mjs';
import { runChild } from '../setup/children.mjs';
import { command } from '../setup/command.mjs';
import { SetupError } from '../setup/failure.mjs';
import { ROOT } from '../setup/paths.mjs';
import { createProgress } from '../setup/progress.mjs';
import { productVersion } from '../setup/versions.mjs';
import { STEPS } from './steps.mjs';

/** How the forge names the workflow of a tag. */
const WORKFLOW = /\/\.github\/workflows\/release\.yml@refs\/tags\/v/;
const LAST_LINES = 20;

const isOnPath = (program) =>
  path.isAbsolute(program) ||
  (process.env.PATH ?? '').split(path.delimiter).some((folder) => fs.existsSync(path.join(folder, program)));

/** As a shell reads it. */
const shown = (words) => words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word}'`)).join(' ');

/** Its output is shown in the workflow, whose log is all that one sees of it. */
async function runProgram([program, ...args], { rehearsal }) {
  const onLine = rehearsal ? () => {} : console.log;
  const { code, output } = await runChild(program, args, { cwd: ROOT, env: process.env, onLine });
  if (code !== 0)
    throw new SetupError(
      `${shown([program, ...args])} ended with ${code}\n${output.slice(-LAST_LINES).join('\n')}`,
    );
}

/** In a rehearsal a program that is not here is named; in the workflow that is a failure. */
async function runStep({ make, commands, publishes }, context) {
  await make?.(context);
  for (const words of commands?.(context) ?? []) {
    const isHere = isOnPath(words[0]);
    if (!context.rehearsal || (isHere && !publishes)) await runProgram(words, context);
    else context.say(`would run${isHere ? '' : ` (no ${words[0]} here)`}: ${shown(words)}`);
  }
}

function wantedSteps(names) {
  const strange = names.find((name) => !Object.hasOwn(STEPS, name));
  if (strange)
    throw new SetupError(`There is no step ${strange}; there are ${Object.keys(STEPS).join(', ')}`);
  return names.length > 0 ? names : Object.keys(STEPS);
}

function contextOf({ to, 'dry-run': rehearsal }, say) {
  if (!rehearsal && !WORKFLOW.test(process.env.GITHUB_WORKFLOW_REF ?? ''))
    throw new SetupError(
      'only the workflow releases, when a tag is pushed (docs/releases.md); npm run release -- --dry-run rehearses it',
    );
  const version = productVersion();
  const folder = path.resolve(to);
  fs.mkdirSync(folder, { recursive: true });
  return { version, tag: `v${version}`, folder, rehearsal, say, registry: process.env.RELEASE_REGISTRY };
}

/** In a rehearsal a step that fails keeps none of the others from being tried. */
async function runSteps(names, context, progress) {
  const failed = [];
  for (const name of names) {
    try {
      await progress.run(`${name}, ${STEPS[name].says}`, () => runStep(STEPS[name], context));
    } catch (error) {
      if (!context.rehearsal || !(error instanceof SetupError)) throw error;
      failed.push(`${name}: ${error.message}`);
    }
  }
  if (failed.length > 0) throw new SetupError(failed.join('\n'));
}

await command(async () => {
  const { values, positionals } = readArguments({
    'dry-run': { type: 'boolean', default: false },
    to: { type: 'string', default: path.join(ROOT, '.build-release') },
  });
  const progress = createProgress({ title: 'release', stream: process.stdout });
  const names = wantedSteps(positionals);
  await runSteps(names, contextOf(values, progress.line), progress);
  console.log(`release: the files are in ${path.resolve(values.to)}`);
});
