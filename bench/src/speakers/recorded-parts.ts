/**
 * Recorded people of Debian's packages, of whom single words and letters were recorded: what they say is put together of these,
 * as their sound files are meant to be. A comma is a pause.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { joined, RATE, silence, trimmed } from '../audio/level.js';
import { decodedFile } from './programs.js';
import type { Source, Speaker, Texts } from './speaker.js';

/** Between two words, and where the text has a comma, in ms. */
const GAP_MS = 90;
const COMMA_MS = 300;

const DIGITS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine'];
const LETTERS = 'abcdefghijklmnopqrstuvwxyz';

interface Person {
  readonly name: string;
  readonly speech: string;
  readonly package: string;
  readonly folder: string;
  /** The file of each word, in lower case, below the folder. */
  readonly files: Readonly<Record<string, string>>;
  /** Which kinds of texts it says, as far as they consist of these words. */
  readonly kinds: readonly (keyof Texts)[];
}

const lettersAt = (file: (letter: string) => string): Record<string, string> =>
  Object.fromEntries([...LETTERS].map((letter) => [letter, file(letter)]));

const ALLISON: Person = {
  name: 'allison',
  speech: 'Allison Smith, prompts of Asterisk (CC-BY-SA-3.0)',
  package: 'asterisk-core-sounds-en-g722',
  folder: '/usr/share/asterisk/sounds/en_US_f_Allison',
  files: {
    ...lettersAt((letter) => `letters/${letter}.g722`),
    ...Object.fromEntries(DIGITS.map((word, digit) => [word, `digits/${digit}.g722`])),
    oh: 'digits/oh.g722',
    monday: 'digits/day-1.g722',
    thursday: 'digits/day-4.g722',
    today: 'digits/today.g722',
    tomorrow: 'digits/tomorrow.g722',
    hello: 'hello.g722',
    sorry: 'sorry.g722',
    goodbye: 'goodbye.g722',
  },
  kinds: ['digits', 'names', 'words'],
};

const PEOPLE: readonly Person[] = [
  ALLISON,
  {
    name: 'klettres-us',
    speech: 'the letters of KLettres, American English (GPL-2+)',
    package: 'klettres-data',
    folder: '/usr/share/klettres/en/alpha',
    files: lettersAt((letter) => `${letter.toUpperCase()}.ogg`),
    kinds: ['names'],
  },
  {
    name: 'klettres-gb',
    speech: 'the letters of KLettres, British English (GPL-2+)',
    package: 'klettres-data',
    folder: '/usr/share/klettres/en_GB/alpha',
    files: lettersAt((letter) => `${letter}.ogg`),
    kinds: ['names'],
  },
];

/** The words of a text, in lower case, and what follows each. */
const wordsOf = (text: string): readonly (readonly [word: string, mark: string])[] =>
  [...text.toLowerCase().matchAll(/([\p{L}']+)([,.]?)/gu)].map(([, word = '', mark = '']) => [word, mark]);

async function assembled({ folder, files }: Person, text: string): Promise<Int16Array> {
  const parts: Int16Array[] = [];
  for (const [word, comma] of wordsOf(text)) {
    const file = files[word];
    if (file === undefined) throw new Error(`"${word}" was not recorded`);
    parts.push(trimmed(await decodedFile(path.join(folder, file), RATE)));
    parts.push(silence(comma === ',' ? COMMA_MS : GAP_MS));
  }
  return joined(...parts);
}

/** `texts` are the lists' texts, of which a person says the kinds that were recorded. */
function speakerOf(person: Person, texts: Texts): Speaker {
  const isRecorded = (text: string): boolean => wordsOf(text).every(([word]) => word in person.files);
  const said = Object.fromEntries(person.kinds.map((kind) => [kind, texts[kind].filter(isRecorded)]));
  return {
    name: person.name,
    source: `${person.speech}, Debian's ${person.package}`,
    origin: 'recorded',
    version: person.package,
    pitch: 0,
    texts: said,
    say: (text) => assembled(person, text),
  };
}

export function recordedPartsSource(texts: Texts): Source {
  const name = 'Recorded words and letters';
  const found = PEOPLE.filter(({ folder }) => existsSync(folder));
  const absent = PEOPLE.filter((person) => !found.includes(person)).map((person) => person.package);
  const missing = `not installed: apt-get install ${[...new Set(absent)].join(' ')}`;
  const speakers = found.map((person) => speakerOf(person, texts));
  return { name, speakers, ...(absent.length > 0 && { missing }) };
}
