/** The view Knowledge. */
export const knowledge = {
  intro: 'Texts in which agents look things up while they talk.',
  add: 'Add a text or a file',
  name: 'Name',
  content: 'Text',
  contentHelp: 'Markdown; headings divide it into passages that are found.',
  file: 'Or a file: .md or .txt up to 1 MB, .pdf or .html up to 10 MB',
  sending: 'Sending',
  save: 'Save the text',
  none: 'No knowledge here yet.',
  back: 'All knowledge',
  about: (size: string, passages: number) =>
    `${size}, ${passages} ${passages === 1 ? 'passage' : 'passages'}`,
  /** Nothing to say where there is no model of embeddings, or all is done. */
  indexing: {
    off: '',
    done: ', found by words and by meaning',
    pending: ', found by words; by meaning in a moment',
    failed: ', found by words alone: the model of embeddings does not answer, and is asked again',
  },
  removeSure: 'The text is deleted for good. Versions that were published keep theirs.',
  search: {
    title: 'What an agent would be given',
    choose: 'Choose an agent',
    question: 'A question, as a caller would say it',
    live: 'As published',
    nothing: 'Nothing in its knowledge matches.',
    off: 'This agent does not use its knowledge: it is switched off in its configuration.',
    switchOn: 'Change its configuration',
    /** Small sources are told as a whole, whatever the question. */
    foundBy: {
      whole: 'told as a whole',
      words: 'found by its words',
      meaning: 'found by its meaning',
      both: 'found by words and meaning',
    },
  },
} as const;
