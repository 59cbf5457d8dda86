/** The models that can be added to the machine, in the views Voices and Speak. */
const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1e6)} MB`;

export const models = {
  offer: 'A natural voice',
  offerHelp:
    'The voices that come with the gateway are light. This one sounds natural; it is added once, and used at once.',
  about: (title: string, bytes: number, licence: string) => `${title}, ${megabytes(bytes)}, ${licence}.`,
  quick: (seconds: number) =>
    `It takes about ${seconds} CPU seconds for a second of speech on this machine: quick enough for calls.`,
  slow: (seconds: number) =>
    `It takes about ${seconds} CPU seconds for a second of speech on this machine: too slow for calls, and good for files.`,
  add: 'Add it',
  addThis: 'Add',
  addOne: (title: string) => `Add ${title}`,
  cancel: 'Cancel the download',
  remove: 'Remove',
  removeOne: (title: string) => `Remove ${title}`,
  removeSure: (title: string) => `Remove “${title}”? What it says now is said to the end.`,
  removeUsed: (reason: string) => `${reason}\n\nRemove it all the same?`,
  progress: (title: string) => `Download of ${title}`,
  begins: (title: string) => `The download of ${title} begins.`,
  part: (title: string, percent: number) => `${title}: ${percent} % has come.`,
  checks: (title: string) => `${title} has come, and is checked and put in place.`,
  takesUp: (title: string) => `${title} is in place; the gateway takes it up.`,
  inUse: (title: string) => `${title} is in use: you can hear it now.`,
  failed: (title: string) => `${title} was not added.`,
  unused: (title: string, settings: string) =>
    `${title} is in place, but ${settings} decide which models are used.`,
  problem: 'Models were added or removed, and cannot be used as they are.',
  all: 'Models of the catalogue',
  allHelp:
    'Other voices, recognisers and more, for this machine. Licences differ: some allow no commercial use.',
  fixed: 'Nothing can be added here.',
  name: 'Model',
  languages: 'Languages',
  any: 'any',
  size: 'Size',
  sizes: (download: number, disk: number) => `${megabytes(download)}, ${megabytes(disk)} on disk`,
  licence: 'Licence',
  state: 'State',
  change: 'Change',
  states: {
    absent: 'not added',
    added: 'in place, not in use',
    in_use: 'in use',
    leaving: 'being let go of',
  } as Readonly<Record<string, string>>,
  tasks: {
    tts: 'Voices',
    pico: 'Voices',
    stt: 'Recogniser',
    turns: 'Ends of turns',
    denoise: 'Noise reduction',
  } as Readonly<Record<string, string>>,
} as const;
