/**
 * The names of options that ElevenLabs' SDK for Python sends: its wheel, unpacked, is read as text, since nothing here runs Python.
 * The SDK writes them as keys of dictionaries: `params` for the query, `json` and `data` for the body.
 */
import fs from 'node:fs';
import path from 'node:path';

/** The text of a dictionary that is passed as this argument, without what is nested in it. */
const dictionaries = (text, argument) =>
  [...text.matchAll(new RegExp(`^( +)${argument}=\\{\\n(.*?)^\\1\\}`, 'gms'))].map(([, indent, body]) =>
    [...body.matchAll(new RegExp(`^${indent}    "([\\w-]+)":`, 'gm'))].map(([, name]) => name),
  );

/** The names in the source's calls of the addresses that end so. */
function sent(text, address, args) {
  const calls = text.split(/(?=_client_wrapper\.httpx_client\.(?:request|stream)\()/).slice(1);
  const ours = calls.filter((call) => address.test(call.slice(0, 400)));
  return ours.flatMap((call) => args.flatMap((argument) => dictionaries(call, argument).flat()));
}

/** The fields of a model: `name: type` in the body of its class. */
const fieldsOfModel = (text) => [...text.matchAll(/^ {4}([a-z]\w*)(?=: )/gm)].map(([, name]) => name);

/** The keys of the query that the realtime client builds. */
const queryOf = (text) => {
  const built = /params = \[.*?return build_ws_url/s.exec(text)?.[0] ?? '';
  return [...built.matchAll(/\(\s*"(\w+)",/g)].map(([, name]) => name);
};

const ROWS = [
  {
    surface: 'B speech',
    place: 'query',
    file: 'text_to_speech/raw_client.py',
    names: (text) => sent(text, /text-to-speech/, ['params']),
  },
  {
    surface: 'B speech',
    place: 'body',
    file: 'text_to_speech/raw_client.py',
    names: (text) => sent(text, /text-to-speech/, ['json']),
  },
  {
    surface: 'B transcription',
    place: 'query',
    file: 'speech_to_text/raw_client.py',
    names: (text) => sent(text, /speech-to-text/, ['params']),
  },
  {
    surface: 'B transcription',
    place: 'form',
    file: 'speech_to_text/raw_client.py',
    names: (text) => sent(text, /speech-to-text/, ['data']),
  },
  { surface: 'B transcription socket', place: 'query', file: 'realtime/scribe.py', names: queryOf },
  {
    surface: 'B speech socket',
    place: 'message',
    file: 'types/initialize_connection.py',
    names: fieldsOfModel,
  },
  { surface: 'B speech socket', place: 'message', file: 'types/send_text.py', names: fieldsOfModel },
  { surface: 'B speech socket', place: 'message', file: 'types/initialise_context.py', names: fieldsOfModel },
];

const versionOf = (folder) => {
  const info = fs.readdirSync(folder).find((name) => name.endsWith('.dist-info')) ?? '';
  return /-(\d+(?:\.\d+)+)\.dist-info$/.exec(info)?.[1];
};

/** The groups of names in the unpacked wheel. */
export function pythonGroups(folder) {
  const version = versionOf(folder);
  return ROWS.map(({ surface, place, file, names }) => ({
    sdk: 'elevenlabs for Python',
    version,
    type: file,
    surface,
    place,
    names: [...new Set(names(fs.readFileSync(path.join(folder, 'elevenlabs', file), 'utf8')))].sort(),
  }));
}
