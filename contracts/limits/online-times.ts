/**
 * The policy for engines and models while somebody is on the line, apart from that of requests: how long each is waited for.
 * What is tried next, said and recorded is in docs/voice-agents.md "When an engine or a model fails". Milliseconds.
 */
const SECOND = 1000;

export const ONLINE_TIMES = {
  filler: {
    /** From the end of the caller's voice, and from the call of a tool, to the first filler; at least `leastMs` after the answer began. */
    silenceMs: 2 * SECOND,
    toolMs: 1 * SECOND,
    leastMs: 1 * SECOND,
    /**
     * From the end of a filler to the next one, and from the last sound of an answer in the middle of which nothing more comes; the caller
     * hears it within five seconds.
     */
    againMs: 4.5 * SECOND,
    /** A filler that is not known to have been heard counts as heard after this. */
    heardMs: 10 * SECOND,
  },
  voice: {
    /** To the first audio of a sentence, and between two pieces of it, behind all audio that is still to be heard: then another voice. */
    audioMs: 3 * SECOND,
    /** The same if there is no other voice: then the answer has failed. */
    aloneMs: 10 * SECOND,
  },
  recogniser: {
    /** To the first words, and between two pieces of a transcript: then another recogniser. */
    wordsMs: 3 * SECOND,
    /** The same if there is no other, besides half of the length of the audio: then nothing was understood. */
    aloneMs: 10 * SECOND,
    /** Without more audio, of one that hears while somebody speaks: a client that has forgotten the end keeps no service busy. */
    idleMs: 30 * SECOND,
  },
  /** A call that takes longer is in the log. */
  tool: { slowMs: 3 * SECOND },
  model: {
    /** To the first spoken word: LLM_FIRST_WORD_SECONDS. What a second model begins later than `wholeMs` is not waited for. */
    firstWordMs: 10 * SECOND,
    firstOfTwoMs: 4 * SECOND,
    wholeMs: 10 * SECOND,
    /** Between two words, or to a whole tool call. */
    betweenMs: 10 * SECOND,
    /** Whoever talks again, or leaves, after so long without a word has waited in vain: that is an answer that did not come in time. */
    vainMs: 4 * SECOND,
    /** Before the one retry of a request to which nothing was answered. */
    retryMs: 250,
  },
  /** A finished sentence is spoken when nothing follows it for this long, as the next words would change nothing for the caller. */
  sentenceMs: 250,
  /** Failed answers in a row that end the call. */
  failures: 3,
} as const;
