/**
 * Limits of the agent platform (`/v1/agent`): agents, their tools, knowledge and tests, sessions, and post-call deliveries.
 * Rows of `LIMITS` (contracts/limits.ts), in bytes, milliseconds and characters unless the name says otherwise.
 */
import { KiB, MiB, MINUTE, range, SECOND } from './units.js';

export const PLATFORM_LIMITS = {
  agent: {
    name: range(1, 120),
    description: 2000,
    systemPromptLength: 100_000,
    systemPromptTokens: 4000,
    firstMessage: 10_000,
    filler: 200,
    recovery: 200,
    voicemailMessage: 10_000,
    voiceId: 256,
    maxDurationSeconds: range(60, 3600),
    hangupAfterSeconds: range(10, 3600),
    timezone: 64,
    widget: {
      agentName: 120,
      greeting: 500,
      proactiveMessage: 500,
      consentText: 2000,
      texts: 100,
      textNamePattern: '^[a-zA-Z][a-zA-Z0-9_.-]{0,63}$',
      text: 500,
    },
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
    languages: 7,
    transferDescription: 500,
    /** The language model of its own. */
    llm: { baseUrl: range(1, 2000), model: range(1, 256), apiKey: range(1, 4096) },
    /**
     * What publishing freezes: the configuration and the tools, as JSON text in UTF-8; a preview or a test of a draft as well.
     * Limits of parts multiply: a hundred tools at theirs have 36 MB.
     */
    planBytes: 8 * MiB,
    /** Plans that a process keeps for the next session; those of running sessions are shared as well. */
    keptPlanBytes: 64 * MiB,
    versionTitle: 120,
    versionDescription: 2000,
    search: 200,
  },
  postCallWebhook: {
    count: 5,
    url: range(1, 4000),
    secret: 256,
    timeoutMs: 10 * SECOND,
    /** Pauses before the second attempt and each one after it; each is longer by up to this share, at random. */
    retryMs: [
      ...[1 * SECOND, 5 * SECOND, 30 * SECOND],
      ...[2 * MINUTE, 10 * MINUTE, 60 * MINUTE, 6 * 60 * MINUTE, 16 * 60 * MINUTE],
    ],
    jitter: 0.1,
    /** A receiver's own pause (`Retry-After` of a 429 or 503) is kept up to this long. */
    retryAfterMs: 60 * MINUTE,
    /** A receiver that has failed so often in a row is asked once after each of these pauses, the last of which repeats. */
    failing: { after: 10, pausesMs: [10 * SECOND, 30 * SECOND, 1 * MINUTE, 2 * MINUTE, 5 * MINUTE] },
    /** What waited for a receiver that is back: at once, one more after each `growsAfter` that it took; and in a second. */
    back: { atOnce: 8, growsAfter: 100, perSecond: 50 },
    /** What has waited so long for a receiver that fails is given up: later than by the pauses between attempts. */
    longestMs: 26 * 60 * MINUTE,
    /** Given up by one statement. */
    givenUpAtOnce: 200,
    /** Redeliveries by request: of one delivery, and of one workspace per minute. */
    redeliveries: { perDelivery: 20, perMinute: 60, atOnce: 200 },
    /** Deliveries under way of one workspace, in all processes: its slow endpoints must not delay those of others. */
    atOnce: 16,
    /** So many of these are for endpoints to which nothing is under way: a slow one must not delay the others of its workspace. */
    spare: 4,
  },
  /** What is asked before a call (`webhooks.conversation_init`), and most bytes of its answer. */
  conversationInit: {
    timeoutSeconds: { ...range(1, 8), default: 5 },
    answerBytes: 64 * KiB,
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
    /** Characters of a variable's value that is a word to expect in what the caller says. */
    expectedWord: 64,
    endUserId: 256,
    timezone: 64,
    metadataBytes: 16 * KiB,
    /** Sessions of one address and of one agent; `refused`: requests of one address that are refused. */
    publicPerMinute: { ip: 10, agent: 60, refused: 120 },
    /** A tool's output in the record, and its error. */
    toolOutputBytes: 256 * KiB,
    /** Most concurrent calls of tools that run in the background; more fail. */
    callsBesideSpeech: 10,
    /** Most agents that one call may reach through hand-overs, and most hand-overs. */
    agents: 50,
    transfers: 10,
    /** Characters of the note for the next agent. */
    transferNote: 4000,
    /** A text of the prompt with its placeholders rendered. */
    renderedLength: 100_000,
    /** Sessions of one workspace that wait to be joined, both with a key and public ones. */
    pending: 1000,
    previewSeconds: 600,
    /** Rate of a client's text events: messages, activity, interruptions. */
    clientMessages: { burst: 10, perSecond: 2 },
    /** Characters of one typed line. */
    typedLength: 10_000,
    /** Text that a client sends in pieces: bytes, time until it is complete, and how many at once. */
    clientStreams: { bytes: 64 * KiB, ms: 30 * SECOND, atOnce: 8 },
    /** Time after the end for the last words to reach the record. */
    lastWordsMs: 2 * SECOND,
    /** The longest of an agent's fixed lines that are made ahead: 40 seconds at 24 kHz. */
    lineSamples: 40 * 24_000,
    /** Most turns in a post-call event: the last ones. */
    deliveredTurns: 200,
    /** Attempts at the analysis of an ended conversation. */
    analysisAttempts: 3,
    /** Characters: of a search for spoken words, searched per session, of a filter's phone number. */
    search: 200,
    searchedLength: 64_000,
    phoneNumber: 64,
    agentId: 128,
    /** Sessions removed by one statement. */
    removedAtOnce: 200,
  },
  /** Entries of the audit trail: names of fields, characters of a text, and when the same again is an entry of its own. */
  audit: { fields: 30, text: 120, againMs: 10 * MINUTE },
  /** Keys that keys make (CONSOLE_KEYS): valid ones of a workspace. */
  keys: { name: range(1, 120), bodyBytes: 16 * KiB, valid: 1000 },
  /** Figures of calls over time: steps of one answer. */
  stats: { points: 1000 },
  tool: {
    name: range(1, 120),
    description: 2000,
    clientNamePattern: '^[a-zA-Z][a-zA-Z0-9_-]{0,63}$',
    arguments: 100,
    headers: 50,
    mockResponses: 50,
    argumentName: range(1, 64),
    argumentDescription: 500,
    /** Values that an argument may have, and characters of one. */
    argumentChoices: 50,
    argumentChoice: 200,
    url: 4000,
    contentType: 128,
    bodyTemplate: 100_000,
    headerName: range(1, 128),
    headerValue: 4000,
    timeoutSeconds: { ...range(1, 300), default: 30 },
    /** The longest timeout of a tool that does not run in the background. */
    waitedSeconds: 120,
    /** A test of a tool shows the first 64 KB of the response; what is longer is `response_truncated`. */
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
    /** A stream that broke off before its answer is resumed so often, after the server's own pause within these bounds. */
    resumes: 5,
    resumeMs: { default: SECOND, min: 100, max: 5 * SECOND },
    /** The stream that tells changes of the tools is opened anew after this long. */
    watchMs: 10 * MINUTE,
    /** Time for a server to list its tools when a call begins; after that the call continues without it. */
    listMs: 5 * SECOND,
  },
  /** Tests of agents (`/v1/agent/tests`). */
  agentTest: {
    name: range(1, 120),
    /** Per agent. */
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
    /** Lengths of a check's expected text, its pattern, and its criterion for the judge. */
    text: range(1, 500),
    pattern: range(1, 200),
    /** Steps of a pattern, and characters of an answer it is matched against: the cost is at most their product. */
    patternSteps: 250,
    patternText: 4000,
    criterion: range(1, 500),
    turns: { ...range(1, 50), default: 20 },
    seconds: { ...range(5, 600), default: 120 },
    /** Unfinished runs of one workspace; more are refused. */
    openRuns: 20,
    /** Kept runs of one agent; the oldest are deleted. */
    keptRuns: 100,
    /** Scenarios played at once: by one process, and of one workspace in all processes, which leaves some for others. */
    atOnce: { process: 6, workspace: 4 },
    /** A scenario whose process has not renewed its lease for this long goes to another; at most `attempts` in all. */
    leaseMs: 30 * SECOND,
    attempts: 2,
    /** By voice: concurrent calls of one process, and the longest wait for a place. */
    voice: {
      atOnce: 2,
      placeSeconds: 300,
      interruptions: 10,
      /** Time from the start of the interrupted answer, in ms. */
      after: range(0, 60_000),
      /** One pause within a line, in ms, and all of them together. */
      pause: range(0, 5000),
      pauses: 20_000,
      /** Noise around the caller, in dB relative to its voice. */
      noise: range(-60, 0),
    },
  },
  knowledge: {
    sourceBytes: 1_000_000,
    name: range(1, 120),
    description: 2000,
    fileName: range(1, 255),
    /** Characters of one passage and of a question; most passages that an agent gets for a question. */
    chunk: 1200,
    query: 2000,
    /** Attached sources of so much together are part of an agent's instructions, and not searched. */
    wholeBytes: 8 * KiB,
    passages: 5,
    /** Words of a question that are looked up, the rarest; passages that are ranked; the best of them, which are weighed. */
    words: 64,
    candidates: 5000,
    weighed: 300,
  },
  /** Knowledge sources that are documents: their text is read on a thread. */
  document: {
    bytes: 10_000_000,
    textBytes: 1_000_000,
    pages: 500,
    /** Elements of a web page that are open at once; the time to read one grows with it. */
    depth: 512,
    timeMs: 30 * SECOND,
    /** Data of the process that reads it, what it unpacks included. */
    memoryBytes: 256 * MiB,
    /** That wait for their turn, in one process. */
    queue: 16,
  },
  embedding: {
    /** Passages of one request to the model, and the longest wait for its answer. */
    batch: 32,
    passagesMs: 30 * SECOND,
    answerBytes: 8 * MiB,
    /** Numbers of a vector. */
    dimensions: 4096,
    /** Of the time of a search, what the question's vector and the comparison may take; the texts are read in the rest. */
    timeShare: 0.75,
    /** Passages by words and by meaning that are merged. */
    found: 50,
    /** Questions at the model at once, and those that wait for it, in one process. */
    asked: 16,
    waiting: 64,
    /** Attached passages that can be compared one by one, without pgvector; what the thread keeps of them. */
    passages: 20_000,
    keptBytes: 128 * MiB,
    pageRows: 200,
    /** How long a source is held by the gateway that makes its vectors, and pauses after failures. */
    claimMs: 2 * MINUTE,
    retryMs: [5 * SECOND, 30 * SECOND, 2 * MINUTE, 10 * MINUTE],
  },
} as const;
