/** The catalogue for a person, and for programs. */
import { commandLine } from '../commands/words.mjs';
import { addressOf, allEntries, fetchedBytes } from './catalogue.mjs';
import { manifestOf, modelDir } from './places.mjs';
import { cpuHere, isQuick, quicknessOf } from './quickness.mjs';

const TITLES = {
  pico: 'Voices of the engine pico (TTS_ENGINES)',
  tts: 'Voices (SHERPA_TTS)',
  stt: 'Recognisers (SHERPA_STT)',
  turns: 'Ends of turns (TURN_DETECTOR)',
  denoise: 'Noise reduction',
};

const size = (bytes) => `${Math.ceil(bytes / 1e6)} MB`;

const stateOf = ({ name }) => (manifestOf(name) ? 'in place' : 'not added');

const hostOf = (item) => (item.url ? new URL(item.url).host : addressOf(item));

const sourcesOf = ({ sources }) => [...new Set(sources.flatMap(({ items }) => items.map(hostOf)))].join(', ');

const languagesOf = ({ task, languages }) => {
  if (languages !== 'any') return languages.join(' ');
  return task === 'denoise' ? 'all languages' : 'about 99 languages';
};

/** A model's lines in the list. */
const lines = (entry) => [
  `  ${entry.name.padEnd(22)} ${entry.title}`,
  `  ${''.padEnd(22)} ${languagesOf(entry)} · ${size(fetchedBytes(entry.sources[0]))} to fetch, ${size(entry.bytes)} on disk · ${stateOf(entry)}`,
  `  ${''.padEnd(22)} licence: ${entry.licence}`,
  ...[quicknessOf(entry)].filter(Boolean).map((text) => `  ${''.padEnd(22)} ${text}`),
  `  ${''.padEnd(22)} from ${sourcesOf(entry)}${entry.sources.some(({ verified }) => verified) ? '' : ' (not tried by us)'}`,
];

export const listText = () =>
  Object.entries(TITLES)
    .flatMap(([task, title]) => [
      title,
      ...allEntries()
        .filter((entry) => entry.task === task)
        .flatMap((entry) => [...lines(entry), '']),
    ])
    .concat(
      commandLine('models', 'add NAME [--from FILE|FOLDER|URL] [--unchecked] · remove NAME · verify [NAME]'),
    )
    .join('\n');

export const listJson = () =>
  JSON.stringify(
    allEntries().map((entry) => {
      const manifest = manifestOf(entry.name);
      const cpu = cpuHere(entry);
      const quick = cpu === undefined ? {} : { here: { cpu, isQuick: isQuick(cpu) } };
      return {
        ...entry,
        ...quick,
        inPlace: Boolean(manifest),
        ...(manifest && { folder: modelDir(entry.name) }),
      };
    }),
    null,
    2,
  );
