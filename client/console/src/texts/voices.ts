/** The view Voices. */
export const voices = {
  intro:
    'The voices of this gateway. The catalogue of models has more, with licence, size and whether this machine is quick enough for them; ' +
    '`npm run models` shows the same. docs/engines.md says what each engine can do.',
  search: 'Search',
  language: 'Language',
  anyLanguage: 'All languages',
  none: 'No voice matches.',
  title: 'Name',
  languages: 'Languages',
  engine: 'From',
  sample: 'Sample',
  own: 'yours',
  hear: 'Hear',
  hearOne: (title: string) => `Hear ${title}`,
  stop: 'Stop',
  stopOne: (title: string) => `Stop ${title}`,
  useOne: (title: string) => `Speak with ${title}`,
  remove: 'Delete',
  removeOne: (title: string) => `Delete ${title}`,
  removeSure: (title: string) => `Delete the voice “${title}” and its recordings for good?`,
  create: 'Make a voice from recordings',
  createHelp: '1 to 20 recordings of a person who has agreed to it. Needs an engine that clones voices.',
  files: 'Recordings',
  make: 'Make the voice',
} as const;
