/**
 * Every limit of the contract, as data: docs/contract/limits.md; docs/contract/decisions.md 4, 5 and 6.
 * Sizes in bytes, times in milliseconds, lengths in characters unless the name says otherwise.
 */
import { PHONE_LIMITS } from './limits/phone.js';
import { PLATFORM_LIMITS } from './limits/platform.js';
import { KiB, MiB, MINUTE, range, SECOND } from './limits/units.js';

export const LIMITS = {
  http: {
    headerBytes: 64 * KiB,
    /** Until the first response byte; then 502. */
    firstByteMs: 5 * MINUTE,
    /** A single SSE connection lasts at most 3,600 s. */
    connectionMs: 3600 * SECOND,
    /** Time to finish running requests when a process is told to leave; calls have DRAIN_SECONDS. */
    drainMs: 30 * SECOND,
    /** The same, calls included, after a second signal or SIGINT. */
    hurriedDrainMs: 10 * SECOND,
    /** `Retry-After` of requests refused while draining: another process may have taken over by then. */
    drainRetrySeconds: 5,
    /** New requests get 503 while the process is behind by more than this, on average. */
    shedDelayMs: 200,
    /** Slow uploads: at least this many bytes a second, or the connection is cut. */
    uploadBytesPerSecond: 16 * KiB,
    /** Egress queue of one connection whose client does not read. */
    egressBytes: 1 * MiB,
    multipartFields: 64,
    multipartFieldBytes: 1 * MiB,
    /** All fields of a form together, without its files. */
    multipartFieldsBytes: 8 * MiB,
    multipartHeaderPairs: 32,
  },
  /** `tracestate`: list members, beyond which it is ignored, and characters that are passed on. */
  trace: { stateMembers: 32, stateLength: 4096 },
  body: {
    protocolASynthesis: 32 * MiB,
    protocolB: 140 * MiB,
    nativeSynthesis: 32 * MiB,
    transcription: 140 * MiB,
    platform: 2 * MiB,
    /** Text in one request, and what a body of JSON with audio has besides strings of 64 KiB and more. */
    text: 32 * MiB,
    shortStrings: 32 * MiB,
    /** Lists and objects within each other. */
    depth: 128,
  },
  transcription: {
    audioBytes: 100 * MiB,
    decodedMs: 60 * MINUTE,
    /** The longest gap in a file's time stamps that becomes silence; the clock of one with a longer gap was set. */
    gapMs: 10 * MINUTE,
    /** Audio tracks of a file, of which the first that is heard is transcribed. */
    tracks: 8,
    /** Hz of headerless PCM. */
    rawSampleRate: range(8000, 48_000),
    /** Words that clients name in one form (`keyterms` of protocol B, `keywords` of A), a field each. */
    keyterms: 1000,
  },
  /** An agent in writing (`/v1/agent/chats`). */
  agentChat: {
    /** Characters of a message. */
    message: 10_000,
    /** Messages of a user in one chat. */
    messages: 200,
    /** Chats of a workspace that have not ended. */
    atOnce: 1000,
    /** Time of one answer, tools included. */
    answerMs: 2 * MINUTE,
    /** Bytes of one answer that wait for a client. */
    waitingBytes: 1 * MiB,
    /** Without a message it ends. */
    idleMs: 30 * MINUTE,
    /** A chat ends at the latest. */
    seconds: 24 * 3600,
  },
  chat: {
    /** Base64 of a buffered answer that is held until it is whole: longer ones are sent as they are made. */
    heldBytes: 4 * MiB,
  },
  /**
   * Clients that have not shown a key: how much may wait for them, of one address and of all (beyond that the oldest
   * goes, once it has waited for `graceMs`), and what is read of them: bytes of a body, bytes of a WebSocket frame, and
   * fields or nodes of either. `wireFrameBytes`: larger frames end the connection before they have arrived, without an answer.
   */
  unauthenticated: {
    requests: { perAddress: 128, total: 1024, graceMs: 0 },
    sockets: { perAddress: 64, total: 256, graceMs: 5 * SECOND },
    /** Sockets whose handshake was proven, and that wait for their first message: of one number or call, and of all. */
    provenSockets: { perAddress: 64, total: 1024, graceMs: 5 * SECOND },
    bodyBytes: 64 * KiB,
    frameBytes: 64 * KiB,
    wireFrameBytes: 2 * MiB,
    parts: 1000,
    socketMs: 30 * SECOND,
  },
  /**
   * Bodies that still arrive after their refusal, and are dropped so that it reaches the client: how many bytes, how long,
   * with pauses of what length; how long those that were refused for being late; and connections of one address and of all that
   * do so at once, beyond which the oldest is cut.
   */
  refused: {
    bytes: 140 * MiB,
    ms: 30 * SECOND,
    idleMs: 5 * SECOND,
    lateMs: 5 * SECOND,
    connections: { perAddress: 128, total: 1024, graceMs: 0 },
  },
  /**
   * Lines of the log that say the same of the same: how many are written in each window, and of refusals of clients without a
   * key; the others are counted. `kinds`: how many different ones are told apart.
   */
  log: { repeats: 5, refusals: 20, windowMs: MINUTE, kinds: 1000 },
  /**
   * Speech of agents that is kept as sound because it was said before: characters of a piece of it, bytes of a sound, of a workspace's and
   * of a process's sounds, how many pieces are remembered as said, and how long a sound is kept.
   */
  keptSpeech: {
    pieceLength: 80,
    soundBytes: 2 * MiB,
    workspaceBytes: 8 * MiB,
    processBytes: 64 * MiB,
    noted: 4096,
    ms: 60 * MINUTE,
  },
  /** Characters of one sentence: a longer one counts as several, as far as its language is concerned. */
  sentenceLength: 4096,
  /** How long a text of symbols alone lasts, by REST. */
  symbolsMs: 200,
  timedSpeech: {
    /** Base64 of an answer with the times of its characters, which is held until it is whole. */
    heldBytes: 64 * MiB,
  },
  socket: {
    frameBytes: 32 * MiB,
    rtcFrameBytes: 1 * MiB,
    /** Frames of one socket that wait while a large one is read, or another one is looked into, and their bytes. */
    waiting: { frames: 16_384, bytes: 100 * MiB },
    /** After a socket that sent more: how long the next ones of its holder wait for their handshake, and how many may. */
    flood: { pauseMs: 2 * SECOND, held: 8 },
    /** Characters of a frame's text, audio apart: more than any field may have, so that longer ones need not be read on. */
    textLength: 2 * MiB,
    /** A single WebSocket connection lasts at most 3,600 s; calls have their own limit. */
    connectionMs: 3600 * SECOND,
  },
  realtime: {
    itemTextBytes: 1 * MiB,
    pendingItems: 1024,
    finishedItems: 1024,
    bufferedAudioBytes: 100 * MiB,
    /** Text that waits to be spoken, and text of finished items that stay readable. */
    pendingTextBytes: 100 * MiB,
    finishedTextBytes: 16 * MiB,
    itemParts: 64,
    idLength: range(1, 128),
    eventIdLength: 512,
    /** Transcriptions of one session that run at once; more wait for their turn. */
    transcriptions: 4,
    /** Audio of finished items that can be retrieved: of one item, and of all sessions of a process. */
    readableAudioBytes: { item: 4 * MiB, process: 256 * MiB },
  },
  /** An agent as the model of a realtime socket. */
  agentRealtime: {
    /** Functions of its client: how many, their JSON as a whole, and the characters of a description. */
    tools: 128,
    toolsBytes: 256 * KiB,
    toolDescription: 4000,
    /** How long a client that says nothing may take to set its session up, and one that has said something to go on. */
    setUpMs: { first: SECOND, next: 150 },
    /** By WebRTC: the offer, the session beside it, and how long the data channel may take to open. */
    offerBytes: 64 * KiB,
    offerSessionBytes: 512 * KiB,
    channelMs: 30 * SECOND,
    /** Offers whose data channel is not open yet: each holds a connection of the media process. */
    waitingOffers: { perWorkspace: 64, total: 256 },
    /** Those who watch one call; how long one who comes to another process waits for a call that has not begun. */
    watchers: 8,
    watchedMs: 5 * SECOND,
    /** Items that can be retrieved: the newest, and the bytes of their text. */
    items: 256,
    itemBytes: 1 * MiB,
    /** Texts that the user has typed, and that no answer was asked for yet; all texts that a client brings into one call. */
    typedItems: 64,
    broughtBytes: 1 * MiB,
    /** The result of a tool of protocol B's clients, as JSON. */
    resultBytes: 48 * KiB,
    /** Audio that waits to be heard: nearly six minutes of PCM. */
    audioBytes: 16 * MiB,
  },
  streamInput: {
    bufferedTextBytes: 1 * MiB,
    inactivityMs: { default: 20 * SECOND, max: 180 * SECOND },
    contexts: 5,
    contextIdLength: 256,
    /** Characters that must wait before a generation begins by itself: the first, the second …, and all after. */
    schedule: { default: [120, 160, 250, 290], item: range(50, 500), items: 64 },
    /** Base64 in one frame. */
    audioFrameBytes: 64 * KiB,
  },
  realtimeTranscription: {
    bufferedAudioBytes: 100 * MiB,
    /** Least uncommitted audio that can be committed. */
    commitMs: 300,
    /** Commits that wait for their transcripts. */
    pendingCommits: 1024,
  },
  native: {
    referenceIdLength: range(1, 128),
    volumeDb: range(-20, 20),
    speed: range(0.5, 2),
    temperature: range(0, 1),
    topP: range(0, 1),
    repetitionPenalty: range(0, 10),
    chunkLength: range(100, 300),
    minChunkLength: range(0, 100),
    earlyStopThreshold: range(0, 1),
    maxNewTokens: range(1, 1_000_000),
    features: 32,
    speakers: range(1, 16),
    /**
     * `/v1/tts/live`: text that waits to be spoken, and how long after `finish` another `start` may follow. LiveKit's plugin
     * keeps its socket between the turns of a conversation; the SDK for JavaScript leaves the close to the server.
     */
    liveTextBytes: 1 * MiB,
    liveRestMs: 60 * SECOND,
  },
  /** One answer of the language model. */
  languageModel: {
    /** Bytes of the whole stream, and of one event in it, a single line included. */
    streamBytes: 64 * MiB,
    eventBytes: 1 * MiB,
    /** Tokens of a conversation that a model is told, if its window is unknown; and left free for its answer, if it is known. */
    conversationTokens: 20_000,
    answerTokens: 1000,
    /** Times in a row that one answer is asked for, each with less of the conversation. */
    shortened: 3,
    /** Characters of text, arguments, names and ids together. */
    answerLength: 100_000,
    calls: 16,
    /** Characters kept of its thoughts, which go back with its tool calls. */
    thoughts: 20_000,
    thoughtDetails: 200_000,
    /** Characters of a call's name, and of its id. */
    callName: 256,
    /** A model that is tried out: to its first word or tool call, and in all. */
    trial: { firstMs: 10 * SECOND, wholeMs: 20 * SECOND },
  },
  /** Speech services of the operator's. */
  remote: {
    /** Longest wait for the first byte of an answer, and for the next byte in the middle of one. */
    firstByteMs: 5 * MINUTE,
    stallMs: 15 * SECOND,
    /**
     * What a recogniser is told of expected words: how many, characters of each, and UTF-8 bytes of all; characters of the agent's last words
     * before them. The fields of services take no more.
     */
    expected: {
      prompt: { terms: 50, characters: 60, bytes: 400 },
      beforeCharacters: 240,
      keyterms: { terms: 100, characters: 49, bytes: 4000 },
      liveKeyterms: { terms: 50, characters: 20, bytes: 600 },
      keyterm: { terms: 50, characters: 60, bytes: 480 },
    },
    /** Audio of one piece of text, which has `native.chunkLength` characters at most. */
    pieceAudioMs: 10 * MINUTE,
    /** A text whose speech is passed on as the engine encodes it; and that speech. Longer texts are encoded here. */
    passedText: 4096,
    passedBytes: 32 * MiB,
    /** Voices of a service that lists them itself. */
    voices: 1000,
    /** Sockets that are open before they are needed, of one service, and how long each is. */
    spareSockets: { most: 8, ms: 55 * SECOND },
    /** Between two frames by which a service's socket stays open while nobody speaks. */
    keepAliveMs: 5 * SECOND,
    /** One frame of a service's socket: a second of audio in base64 has 128 KiB at most. */
    socketFrameBytes: 4 * MiB,
    /** How long a failed address is ejected from its pool, doubling with each failure. */
    ejection: { initialMs: SECOND, maxMs: 30 * SECOND },
    /** Interval of health checks of each address. */
    healthEveryMs: 2 * SECOND,
  },
  /**
   * What `doctor` calls wrong: less room on the disk or less memory, a clock that differs by more from a server's, and a certificate that
   * ends within so many days.
   */
  doctor: { diskBytes: 500_000_000, memoryBytes: 768 * MiB, clockMs: 30 * SECOND, certificateDays: 14 },
  /** Cheap questions to the operator's parts: the longest wait for an answer, and how often one that fails is asked again. */
  models: {
    /** Longest time that one is downloaded, checked and put in place, for the console. */
    addMs: 120 * MINUTE,
  },
  partCheck: {
    answerMs: 5 * SECOND,
    againMs: 15 * SECOND,
    /** Of a list of models. */
    answerBytes: 8 * MiB,
    /** Names from that list in one warning, and their lengths. */
    namedModels: 5,
    namedCharacters: 64,
  },
  /** The voice library (`/model`). */
  voice: {
    title: range(1, 200),
    description: 2000,
    tags: 20,
    tag: range(1, 64),
    references: range(1, 20),
    /** Reference audio: of one file, and of all files of one voice. */
    referenceBytes: 10 * MiB,
    referencesBytes: 20 * MiB,
    referenceText: 2000,
    /** A creation's whole body: the audio in base64, and the fields. */
    bodyBytes: 32 * MiB,
    /** Cloned voices of one workspace. */
    perWorkspace: 500,
    pageSize: { ...range(1, 100), default: 10 },
    pageNumber: range(1, 100_000),
  },
  speed: { protocolA: range(0.25, 4), protocolB: range(0.7, 1.2), native: range(0.5, 2) },
  ...PLATFORM_LIMITS,
  phone: PHONE_LIMITS,
  /**
   * Less room than `freeBytes` in the data folder, and the gateway is not ready: Postgres alone takes 16 MiB at a time.
   * `reserveBytes` of it are kept for starting the embedded Postgres on a full disk.
   */
  storage: { freeBytes: 32 * MiB, reserveBytes: 24 * MiB },
  /**
   * What clients ask of the database, in one process: how long a statement that only reads may take, how long one waits for its
   * turn, how many of one workspace run and wait, and how many wait of all; and the whole time of a look into an
   * agent's knowledge during a call, which then goes on without.
   */
  statements: { readMs: 2000, waitMs: 10_000, waiting: 256, inCallMs: 300 },
  /** Prompts whose tokens are counted or wait for it, in one process; one takes half a second at most. */
  tokenQueue: 64,
  clientSecret: {
    ttlSeconds: { ...range(10, 7200), default: 600 },
    /** The request, and with it the session that is kept until the secret is used. */
    bodyBytes: 64 * KiB,
    /** Valid at once. */
    perWorkspace: 10_000,
    /** How long a socket waits for the one that still has its secret. */
    waitMs: 1000,
  },
  /** Gateway processes among themselves. */
  node: {
    /** Between the clocks of two machines, and the longest life of a signature. */
    clockMs: 30 * SECOND,
    /** Signatures that are remembered meanwhile, so that none counts twice; more requests are refused. */
    nonces: 10_000,
    /** Frames of one client that wait to be carried. */
    waitingBytes: 2 * MiB,
    /** Nodes with room that are asked to take one call. */
    tries: 3,
  },
  recording: {
    /** File of one side of a call: an hour at Opus's highest rate. */
    trackBytes: 256 * MiB,
    /** Audio in memory that the disk has not taken yet. */
    waitingBytes: 1 * MiB,
    urlMs: 60 * MINUTE,
    /** Time to finish a recording after its session has ended. */
    settleMs: 10 * SECOND,
    /** Size of a part of a multipart upload: the smallest S3 accepts except for the last. */
    partBytes: 5 * MiB,
    /** Interval at which audio that does not fill a part yet is stored as an object of its own. */
    pieceMs: 15 * SECOND,
    /** Recordings that a process uploads at once. */
    uploads: 4,
    /** A machine that has not touched a recording for this long counts as dead; another finishes it from the bucket. */
    absentMs: 5 * MINUTE,
    /**
     * How long a bucket may take to answer: `answerMs` anything short, and on top of it a body as long as a slow line takes; `workMs` what
     * it has to do itself, such as to make one object of all parts. Each is asked twice.
     */
    bucket: { answerMs: 15 * SECOND, bytesPerSecond: 50_000, workMs: 2 * MINUTE },
  },
  /** Addresses that clients name and that are sent ICE checks, four or so each. */
  ice: {
    perConnection: 16,
    perCall: 256,
    /** Rate in one call: a client that reconnects names its addresses again. */
    rate: { burst: 48, perSecond: 0.5 },
    /** Clients of one media worker by TURN over TCP or TLS; one that was not heard for `idleMs` makes room for others. */
    relayed: { ways: 512, idleMs: 30 * SECOND },
  },
  singleUseToken: { ttlMs: 15 * MINUTE, perWorkspace: 10_000 },
  page: { size: { ...range(1, 100), default: 30 }, offset: 100_000 },
  workspace: { concurrency: 50 },
} as const;
