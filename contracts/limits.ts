/**
 * Every limit of the contract, as data: docs/contract/limits.md; docs/contract/decisions.md 4, 5 and 6.
 * Sizes in bytes, times in milliseconds, lengths in characters unless the name says otherwise.
 */
import { PHONE_LIMITS } from './phone-limits.js';

const KiB = 1024;
const MiB = 1024 * KiB;
const SECOND = 1000;
const MINUTE = 60 * SECOND;

interface Range {
  readonly min: number;
  readonly max: number;
}
const range = (min: number, max: number): Range => ({ min, max });

export const LIMITS = {
  http: {
    headerBytes: 64 * KiB,
    firstByteMs: 5 * MINUTE,
    connectionMs: 3600 * SECOND,
    /** What is under way when a process is told to leave; calls have DRAIN_SECONDS. */
    drainMs: 30 * SECOND,
    /** All of it, calls too, where the process is told again, or by a person who waits. */
    hurriedDrainMs: 10 * SECOND,
    /** `Retry-After` of what is refused meanwhile: another process may have taken our place by then. */
    drainRetrySeconds: 5,
    /** New requests get 503 while the process is behind by more than this, on average. */
    shedDelayMs: 200,
    /** Slow uploads: at least this many bytes a second, or the connection is cut. */
    uploadBytesPerSecond: 16 * KiB,
    /** Egress queue of one connection whose client does not read. */
    egressBytes: 1 * MiB,
    multipartFields: 64,
    multipartFieldBytes: 1 * MiB,
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
  },
  transcription: {
    audioBytes: 100 * MiB,
    decodedMs: 60 * MINUTE,
    /** Hz of headerless PCM. */
    rawSampleRate: range(8000, 48_000),
  },
  chat: {
    /** Base64 of a buffered answer that is held until it is whole: longer ones are sent as they are made. */
    heldBytes: 4 * MiB,
  },
  /**
   * Clients that have not shown a key: how much may wait for them, of one address and of all (beyond that the oldest
   * goes, once it has waited for `graceMs`), the bytes of a WebSocket frame before it is authenticated, and how long
   * that may take.
   */
  unauthenticated: {
    requests: { perAddress: 128, total: 1024, graceMs: 0 },
    sockets: { perAddress: 64, total: 256, graceMs: 5 * SECOND },
    frameBytes: 2 * MiB,
    socketMs: 30 * SECOND,
  },
  timedSpeech: {
    /** Base64 of an answer with the times of its characters, which is held until it is whole. */
    heldBytes: 64 * MiB,
  },
  socket: {
    frameBytes: 32 * MiB,
    rtcFrameBytes: 1 * MiB,
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
    /** Frames that may wait while another one is looked into. */
    waitingFrames: 1024,
    /** Transcriptions of one session that run at once; more wait for their turn. */
    transcriptions: 4,
    /** Audio of finished items that can be retrieved: of one item, and of all sessions of a process. */
    readableAudioBytes: { item: 4 * MiB, process: 256 * MiB },
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
    /** `/v1/tts/live`: text that waits to be spoken, and how long after `finish` another `start` may follow. */
    liveTextBytes: 1 * MiB,
    liveRestMs: 5 * SECOND,
  },
  /** One answer of the language model. */
  languageModel: {
    /** Bytes of the whole stream, and of one event in it, a single line included. */
    streamBytes: 64 * MiB,
    eventBytes: 1 * MiB,
    /** Characters of text, arguments, names and ids together. */
    answerLength: 100_000,
    calls: 16,
    /** Characters of a call's name, and of its id. */
    callName: 256,
  },
  /** Speech services of the operator's. */
  remote: {
    /** Longest wait for the first byte of an answer, and for the next byte in the middle of one. */
    firstByteMs: 5 * MINUTE,
    stallMs: 15 * SECOND,
    /** Audio of one piece of text, which has `native.chunkLength` characters at most. */
    pieceAudioMs: 10 * MINUTE,
    /** Of several addresses, one that failed is left out for so long, longer each time. */
    ejection: { initialMs: SECOND, maxMs: 30 * SECOND },
    /** And each is asked for its health so often. */
    healthEveryMs: 2 * SECOND,
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
  agent: {
    name: range(1, 120),
    description: 2000,
    systemPromptLength: 100_000,
    systemPromptTokens: 4000,
    firstMessage: 10_000,
    filler: 200,
    recovery: 200,
    voiceId: 256,
    maxDurationSeconds: range(60, 3600),
    timezone: 64,
    allowedOrigins: 20,
    origin: 2048,
    overridesAllowed: 8,
    knowledgeSources: 100,
    tools: 100,
    /** An id of a tool or knowledge source, as a client writes it. */
    reference: 128,
    transferDestinations: 50,
    transferLabel: 500,
    transferNumber: range(1, 128),
    transferAgents: 20,
    transferDescription: 500,
    versionTitle: 120,
    versionDescription: 2000,
    search: 200,
  },
  postCallWebhook: {
    count: 5,
    url: range(1, 4000),
    secret: 256,
    timeoutMs: 10 * SECOND,
    /** Pauses before the second and the third attempt. */
    retryMs: [1 * SECOND, 5 * SECOND],
    /** Attempts that somebody asks for: of one delivery, and deliveries of one workspace a minute. */
    redeliveries: { perDelivery: 20, perMinute: 60 },
  },
  analysis: {
    dataFields: 20,
    criteria: 10,
    summaryPrompt: 1000,
    namePattern: '^[a-z][a-z0-9_]{0,63}$',
    description: 500,
    enumOptions: range(2, 20),
    enumOption: 500,
  },
  /** Its times are in call-times.ts. */
  session: {
    name: 128,
    dynamicVariables: 50,
    dynamicVariableLength: 1000,
    endUserId: 256,
    timezone: 64,
    metadataBytes: 16 * KiB,
    /** Sessions of one address and of one agent; `refused`: requests of one address that are refused. */
    publicPerMinute: { ip: 10, agent: 60, refused: 120 },
    /** A tool's output in the record, and its error. */
    toolOutputBytes: 256 * KiB,
    /** Calls of tools that run beside the conversation at once; more fail. */
    callsBesideSpeech: 8,
    /** Agents that one call may reach, one from the other, and how often it may be handed over. */
    agents: 50,
    transfers: 10,
    /** Characters of the note for the next agent. */
    transferNote: 4000,
    /** A text of the prompt with its placeholders rendered. */
    renderedLength: 100_000,
    /** Sessions of one workspace that wait to be joined: with a key, and public ones. */
    pending: 1000,
    previewSeconds: 600,
    /** Rate of a client's text events: messages, activity, interruptions. */
    clientMessages: { burst: 10, perSecond: 2 },
    /** After the end, until when the last words are in the record. */
    lastWordsMs: 2 * SECOND,
    /** Turns in a post-call event; of more the last. */
    deliveredTurns: 200,
    /** Attempts at the analysis of an ended conversation. */
    analysisAttempts: 3,
    /** Characters: of a search in what was said, of one session that are looked at, of a filter's phone number. */
    search: 200,
    searchedLength: 64_000,
    phoneNumber: 64,
    agentId: 128,
    /** Removed by one statement. */
    removedAtOnce: 200,
  },
  tool: {
    name: range(1, 120),
    description: 2000,
    clientNamePattern: '^[a-zA-Z][a-zA-Z0-9_-]{0,63}$',
    arguments: 100,
    headers: 50,
    mockResponses: 50,
    argumentName: range(1, 64),
    argumentDescription: 500,
    url: 4000,
    contentType: 128,
    bodyTemplate: 100_000,
    headerName: range(1, 128),
    headerValue: 4000,
    timeoutSeconds: { ...range(1, 120), default: 30 },
    testCaptureBytes: 64 * KiB,
    mock: { name: 120, statusCode: range(100, 599), contentType: 128, body: 100_000 },
  },
  /** MCP servers as sources of tools. Beyond a limit tools are left out, beyond `replyBytes` a request fails. */
  mcp: {
    /** Servers of one agent. */
    servers: 10,
    /** Tools of all servers in one conversation, and pages of one server's list. */
    tools: 128,
    pages: 20,
    allowedTools: 100,
    toolName: 128,
    /** Characters of one tool's JSON Schema. */
    schemaLength: 16_384,
    replyBytes: 512 * KiB,
    /** From the beginning of a call: a server that has not listed its tools by then is left out. */
    listMs: 5 * SECOND,
  },
  /** Tests of agents (`/v1/agent/tests`). */
  agentTest: {
    name: range(1, 120),
    /** Of one agent. */
    scenarios: 500,
    suites: 50,
    /** Scenarios of one suite, and of one run. */
    perRun: 100,
    /** The simulated user of a scenario. */
    lines: range(1, 50),
    line: range(1, 1000),
    persona: 2000,
    goal: range(1, 2000),
    mocks: 50,
    mockOutput: 16_000,
    mockArguments: 20,
    checks: 30,
    /** What an answer must contain, a pattern, and a sentence to be judged. */
    text: range(1, 500),
    pattern: range(1, 200),
    /** Steps of a pattern, and characters of one answer that it is held against: it costs their product at most. */
    patternSteps: 250,
    patternText: 4000,
    criterion: range(1, 500),
    turns: { ...range(1, 50), default: 20 },
    seconds: { ...range(5, 600), default: 120 },
    /** Runs of one workspace that are not over; more are refused. */
    openRuns: 20,
    /** Runs of one agent that are kept: the oldest go. */
    keptRuns: 100,
    /** Scenarios that are played at once: by one process, and of one workspace in all processes. */
    atOnce: { process: 4, workspace: 4 },
    /** A scenario whose process has not said for so long that it plays it goes to another, `attempts` in all. */
    leaseMs: 30 * SECOND,
    attempts: 2,
    /** By voice: calls of one process at once, and how long a place for one is waited for. */
    voice: {
      atOnce: 2,
      placeSeconds: 300,
      interruptions: 10,
      /** Into the answer that it interrupts, in ms. */
      after: range(0, 60_000),
      /** Pauses inside of a line, in ms, and of all of them together. */
      pause: range(0, 5000),
      pauses: 20_000,
      /** Noise around the caller, in dB beside its voice. */
      noise: range(-60, 0),
    },
  },
  phone: PHONE_LIMITS,
  knowledge: {
    sourceBytes: 1_000_000,
    name: range(1, 120),
    description: 2000,
    fileName: range(1, 255),
    /** Characters of one passage that a search may find, and of a question; passages that an agent is given for it. */
    chunk: 1200,
    query: 2000,
    passages: 5,
  },
  /** Less room than this in the data folder, and the gateway is not ready: Postgres alone takes 16 MiB at a time. */
  storage: { freeBytes: 32 * MiB },
  /** Prompts whose tokens are counted or wait for it, in one process; one takes half a second at most. */
  tokenQueue: 64,
  clientSecret: {
    ttlSeconds: { ...range(10, 7200), default: 600 },
    /** The request, and with it the session that is kept until the secret is used. */
    bodyBytes: 64 * KiB,
    /** Valid at once. */
    perWorkspace: 10_000,
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
    /** After the end of its session, a recording is being finished for so long. */
    settleMs: 10 * SECOND,
    /** Part of a multipart upload: the least that S3 takes of any but the last. */
    partBytes: 5 * MiB,
    /** What a part does not hold yet is put into the bucket so often, in a piece of its own. */
    pieceMs: 15 * SECOND,
    /** Recordings that a process uploads at once. */
    uploads: 4,
    /** A machine that has not worked on a recording for so long is dead: another finishes it with what is there. */
    absentMs: 5 * MINUTE,
  },
  /** Addresses that clients name and that are sent ICE checks, four or so each. */
  ice: {
    perConnection: 16,
    perCall: 256,
    /** Rate in one call: a client that reconnects names its addresses anew. */
    rate: { burst: 48, perSecond: 0.5 },
  },
  singleUseToken: { ttlMs: 15 * MINUTE, perWorkspace: 10_000 },
  page: { size: { ...range(1, 100), default: 30 }, offset: 100_000 },
  workspace: { concurrency: 50 },
} as const;
