/** The command `models`: lists the catalogue, adds models, removes and verifies them. */
import '../setup/node-version.mjs';
import { readArguments } from '../setup/arguments.mjs';
import { command } from '../setup/command.mjs';
import { SetupError } from '../setup/failure.mjs';
import { withLock } from '../setup/lock.mjs';
import { prepare } from '../setup/prepare.mjs';
import { createProgress } from '../setup/progress.mjs';
import { loadSettings } from '../setup/settings.mjs';
import { commandLine } from '../commands/words.mjs';
import { telling } from './adding.mjs';
import { allEntries, entryOf, fetchedBytes } from './catalogue.mjs';
import { closest } from './closest.mjs';
import { sourceAt } from './elsewhere.mjs';
import { install, sweepRemoved, uninstall } from './install.mjs';
import { listJson, listText } from './list.mjs';
import { isLeaving, lockFile, manifestOf, modelDir } from './places.mjs';
import { quicknessOf } from './quickness.mjs';
import { faultsOf } from './verify.mjs';

const OPTIONS = {
  from: { type: 'string' },
  json: { type: 'boolean', default: false },
  unchecked: { type: 'boolean', default: false },
  help: { type: 'boolean', short: 'h', default: false },
};

const USAGE = `Usage: ${commandLine('models', '[command]')}
  list [--json]         shows the models of the catalogue, and which are added (without a command as well)
  add <name> [options]  downloads a model, checks it and puts it in place
      --from <place>        from a file, a folder or an address instead of its own
      --unchecked           also where its digest differs from the one that is known
  verify [name]         checks the files of a model, or of all that are added
  remove <name>         removes a model
Models are put into MODELS_DIR; gateways that use that folder take them up within seconds.`;

const progress = createProgress({ title: 'models' });
const say = (text) => progress.line(text);

const locked = (work) =>
  withLock(work, {
    file: lockFile(),
    onWait: ({ pid }) => say(`waiting for another command (process ${pid})`),
  });

/** Variables that choose which models a gateway uses, if they are set. */
const CHOICES = {
  pico: ['TTS_ENGINES'],
  tts: ['SHERPA_TTS', 'TTS_ENGINES'],
  stt: ['SHERPA_STT', 'STT_ENGINES'],
  turns: [],
  denoise: [],
};

function told({ name, task }, pinned) {
  for (const address of pinned) say(`its digest was not known before and is pinned now: ${address}`);
  const set = CHOICES[task].filter((variable) => process.env[variable]);
  const use = set.length > 0 ? `, where ${set.join(' and ')} name${set.length > 1 ? '' : 's'} it` : '';
  console.log(`${name} is in ${modelDir(name)}\nA gateway that runs takes it up within seconds${use}.`);
}

async function add(entry, { from, unchecked }) {
  if (manifestOf(entry.name)) return told(entry, []);
  const sources = from === undefined ? entry.sources : [sourceAt(from, entry)];
  say(`${entry.name} is under ${entry.licence}`);
  const quickness = quicknessOf(entry);
  if (quickness) say(`${entry.name} ${quickness}`);
  const pinned = await telling(entry.name, fetchedBytes(sources[0]), async (came) => {
    await prepare(['packages'], progress);
    return progress.run(entry.name, (note) => install(entry, sources, { note, came, say, unchecked }));
  });
  told(entry, pinned);
}

function remove(entry) {
  const was = uninstall(entry);
  const files = isLeaving(entry.name) ? ', and its files go when running gateways have let go of it' : '';
  console.log(was ? `${entry.name} is removed${files}` : `${entry.name} is not in place`);
}

async function verify(entries) {
  if (entries.length === 0) console.log(`No model was added; ${commandLine('models')} lists them`);
  for (const { name } of entries) {
    const faults = await faultsOf(name);
    if (faults === undefined) throw new SetupError(`${name} is not in place`);
    if (faults.length > 0) process.exitCode = 1;
    console.log([`${name}: ${faults.length === 0 ? 'as it was added' : 'damaged'}`, ...faults].join('\n  '));
  }
}

const inPlace = () => allEntries().filter(({ name }) => manifestOf(name));

/** Each takes its names and the options. */
const COMMANDS = {
  list: (_names, { json }) => console.log(json ? listJson() : listText()),
  add: ([name], options) => locked(() => add(entryOf(wanted(name)), options)),
  remove: ([name]) => locked(() => remove(entryOf(wanted(name)))),
  // For running gateways, when they have let go of models.
  sweep: () => locked(() => sweepRemoved()),
  verify: ([name]) => verify(name === undefined ? inPlace() : [entryOf(name)]),
};

function wanted(name) {
  if (name !== undefined) return name;
  throw new SetupError(`name a model; ${commandLine('models')} lists them`);
}

await command(async () => {
  const { values, positionals } = readArguments(OPTIONS);
  const [verb = 'list', ...names] = positionals;
  if (values.help || verb === 'help') return console.log(USAGE);
  loadSettings();
  const work = Object.hasOwn(COMMANDS, verb) ? COMMANDS[verb] : undefined;
  if (!work) {
    const [meant] = closest(verb, Object.keys(COMMANDS));
    throw new SetupError(`there is no command ${verb}${meant ? `; did you mean ${meant}?` : ''}`);
  }
  if (names.length > 1) throw new SetupError('one model at a time');
  await work(names, values);
});
