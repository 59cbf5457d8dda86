/**
 * The numbers of the contract, each written once more as its documents write it. Other tests read the product's own
 * constants and would follow a change; here a changed number fails until the contract is changed, too.
 */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { INTERRUPTION, overlapOf, verdictOf } from '../../actors/agent/turns/interruption.js';
import { ENDPOINTING_MS } from '../../actors/agent/turns/endpointing.js';
import { type ConversationItem, ConversationItems } from '../../actors/realtime-items.js';
import { CALL_TIMES } from '../../contracts/call-times.js';
import { CLOSE } from '../../contracts/close-codes.js';
import { LIMITS } from '../../contracts/limits.js';

const KiB = 1024;
const MiB = 1024 * KiB;
const SECOND = 1000;
const MINUTE = 60 * SECOND;
const range = (min: number, max: number) => ({ min, max });

const CONTRACT = {
  http: {
    headerBytes: 64 * KiB,
    firstByteMs: 5 * MINUTE,
    connectionMs: 3600 * SECOND,
    drainMs: 30 * SECOND,
    hurriedDrainMs: 10 * SECOND,
    drainRetrySeconds: 5,
    shedDelayMs: 200,
    uploadBytesPerSecond: 16 * KiB,
    egressBytes: 1 * MiB,
    multipartFields: 64,
    multipartFieldBytes: 1 * MiB,
    multipartHeaderPairs: 32,
  },
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
    rawSampleRate: range(8000, 48_000),
  },
  chat: {
    heldBytes: 4 * MiB,
  },
  unauthenticated: {
    requests: { perAddress: 128, total: 1024, graceMs: 0 },
    sockets: { perAddress: 64, total: 256, graceMs: 5 * SECOND },
    frameBytes: 2 * MiB,
    socketMs: 30 * SECOND,
  },
  timedSpeech: {
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
    pendingTextBytes: 100 * MiB,
    finishedTextBytes: 16 * MiB,
    itemParts: 64,
    idLength: range(1, 128),
    eventIdLength: 512,
    waitingFrames: 1024,
    transcriptions: 4,
    readableAudioBytes: { item: 4 * MiB, process: 256 * MiB },
  },
  streamInput: {
    bufferedTextBytes: 1 * MiB,
    inactivityMs: { default: 20 * SECOND, max: 180 * SECOND },
    contexts: 5,
    contextIdLength: 256,
    schedule: { default: [120, 160, 250, 290], item: range(50, 500), items: 64 },
    audioFrameBytes: 64 * KiB,
  },
  realtimeTranscription: {
    bufferedAudioBytes: 100 * MiB,
    commitMs: 300,
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
    liveTextBytes: 1 * MiB,
    liveRestMs: 5 * SECOND,
  },
  languageModel: {
    streamBytes: 64 * MiB,
    eventBytes: 1 * MiB,
    answerLength: 100_000,
    calls: 16,
    callName: 256,
  },
  remote: {
    firstByteMs: 5 * MINUTE,
    stallMs: 15 * SECOND,
    pieceAudioMs: 10 * MINUTE,
    ejection: { initialMs: SECOND, maxMs: 30 * SECOND },
    healthEveryMs: 2 * SECOND,
  },
  voice: {
    title: range(1, 200),
    description: 2000,
    tags: 20,
    tag: range(1, 64),
    references: range(1, 20),
    referenceBytes: 10 * MiB,
    referencesBytes: 20 * MiB,
    referenceText: 2000,
    bodyBytes: 32 * MiB,
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
    retryMs: [1 * SECOND, 5 * SECOND],
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
  session: {
    name: 128,
    dynamicVariables: 50,
    dynamicVariableLength: 1000,
    endUserId: 256,
    timezone: 64,
    metadataBytes: 16 * KiB,
    publicPerMinute: { ip: 10, agent: 60, refused: 120 },
    toolOutputBytes: 256 * KiB,
    callsBesideSpeech: 8,
    agents: 50,
    transfers: 10,
    transferNote: 4000,
    renderedLength: 100_000,
    pending: 1000,
    previewSeconds: 600,
    clientMessages: { burst: 10, perSecond: 2 },
    lastWordsMs: 2 * SECOND,
    deliveredTurns: 200,
    analysisAttempts: 3,
    search: 200,
    searchedLength: 64_000,
    phoneNumber: 64,
    agentId: 128,
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
  mcp: {
    servers: 10,
    tools: 128,
    pages: 20,
    allowedTools: 100,
    toolName: 128,
    schemaLength: 16_384,
    replyBytes: 512 * KiB,
    listMs: 5 * SECOND,
  },
  agentTest: {
    name: range(1, 120),
    scenarios: 500,
    suites: 50,
    perRun: 100,
    lines: range(1, 50),
    line: range(1, 1000),
    persona: 2000,
    goal: range(1, 2000),
    mocks: 50,
    mockOutput: 16_000,
    mockArguments: 20,
    checks: 30,
    text: range(1, 500),
    pattern: range(1, 200),
    patternSteps: 250,
    patternText: 4000,
    criterion: range(1, 500),
    turns: { ...range(1, 50), default: 20 },
    seconds: { ...range(5, 600), default: 120 },
    openRuns: 20,
    keptRuns: 100,
    atOnce: { process: 4, workspace: 4 },
    leaseMs: 30 * SECOND,
    attempts: 2,
    voice: {
      atOnce: 2,
      placeSeconds: 300,
      interruptions: 10,
      after: range(0, 60_000),
      pause: range(0, 5000),
      pauses: 20_000,
      noise: range(-60, 0),
    },
  },
  phone: {
    perWorkspace: 500,
    sharers: 20,
    credential: range(1, 4000),
    apiUrl: range(1, 2000),
    webhookBytes: 64 * KiB,
    byeMs: 5 * SECOND,
    frameBytes: 64 * KiB,
    messages: { burst: 1000, perSecond: 200 },
    waiting: 500,
    keys: 32,
    keysMs: 2 * SECOND,
    sentKeys: 32,
    ring: { min: 5, max: 120, default: 30 },
    voicemail: range(1, 1000),
    idempotencyKey: range(1, 255),
    apiMs: 10 * SECOND,
    apiAnswerBytes: 64 * KiB,
    reason: 200,
    transferRing: 30,
    briefing: 600,
    briefingMs: 8 * SECOND,
    consultMs: MINUTE,
    reportMs: MINUTE,
  },
  knowledge: {
    sourceBytes: 1_000_000,
    name: range(1, 120),
    description: 2000,
    fileName: range(1, 255),
    chunk: 1200,
    query: 2000,
    passages: 5,
  },
  storage: { freeBytes: 32 * MiB },
  tokenQueue: 64,
  clientSecret: {
    ttlSeconds: { ...range(10, 7200), default: 600 },
    bodyBytes: 64 * KiB,
    perWorkspace: 10_000,
  },
  node: {
    clockMs: 30 * SECOND,
    nonces: 10_000,
    waitingBytes: 2 * MiB,
    tries: 3,
  },
  recording: {
    trackBytes: 256 * MiB,
    waitingBytes: 1 * MiB,
    urlMs: 60 * MINUTE,
    settleMs: 10 * SECOND,
    partBytes: 5 * MiB,
    pieceMs: 15 * SECOND,
    uploads: 4,
    absentMs: 5 * MINUTE,
  },
  ice: {
    perConnection: 16,
    perCall: 256,
    rate: { burst: 48, perSecond: 0.5 },
  },
  singleUseToken: { ttlMs: 15 * MINUTE, perWorkspace: 10_000 },
  page: { size: { ...range(1, 100), default: 30 }, offset: 100_000 },
  workspace: { concurrency: 50 },
};

const number = (value: number): string => value.toLocaleString('en-US');
const size = (bytes: number): string => (bytes < MiB ? `${bytes / KiB} KiB` : `${bytes / MiB} MiB`);
const span = ({ min, max }: { min: number; max: number }): string => `${number(min)} to ${number(max)}`;

const {
  agent,
  postCallWebhook,
  analysis,
  session,
  tool,
  mcp,
  body,
  realtime,
  languageModel,
  agentTest,
  phone,
} = CONTRACT;
const { publicPerMinute: perMinute } = session;

/** The rows of docs/contract/limits.md "Limits": item, limit. */
const DOCUMENTED = {
  'agent `name`, `description`': `${span(agent.name)}, ${number(agent.description)} characters`,
  '`system_prompt`': `${number(agent.systemPromptLength)} characters and ${number(agent.systemPromptTokens)} tokens`,
  'first messages': `${number(agent.firstMessage)} characters each`,
  '`filler_message`': `${agent.filler} characters`,
  '`recovery_message`': `${agent.recovery} characters`,
  '`transfer_agents`': `${agent.transferAgents}; descriptions ${agent.transferDescription} characters`,
  'agents that a call may reach, hand-overs': `${session.agents}, ${session.transfers}`,
  'turns in a post-call event': `the last ${session.deliveredTurns}`,
  '`voice_id`': `${agent.voiceId} characters`,
  '`max_duration_seconds`': span(agent.maxDurationSeconds),
  'post-call webhooks': `${postCallWebhook.count}; address ${span(postCallWebhook.url)}, secret ${postCallWebhook.secret} characters`,
  'deliveries that are sent again': `${postCallWebhook.redeliveries.perDelivery} times each, ${postCallWebhook.redeliveries.perMinute} of a workspace a minute`,
  'analysis: data fields, criteria, summary prompt': `${analysis.dataFields}, ${analysis.criteria}, ${number(analysis.summaryPrompt)} characters`,
  'names in the analysis': `\`${analysis.namePattern}\`, descriptions ${analysis.description} characters`,
  'session `name`, `metadata`, dynamic variables': `${session.name} characters, ${size(session.metadataBytes)}, ${session.dynamicVariables}`,
  'MCP servers of an agent': `${mcp.servers}`,
  'MCP: tools in a call, listing at its beginning, one answer': `${mcp.tools}, ${mcp.listMs / SECOND} s, ${size(mcp.replyBytes)}`,
  'tool `timeout_seconds`, test capture': `${span(tool.timeoutSeconds)} (${tool.timeoutSeconds.default}), ${size(tool.testCaptureBytes)}`,
  'search in what was said; of one session': `${session.search} characters; the first ${number(session.searchedLength)} characters`,
  'tests: scenarios and suites of an agent, scenarios of a run': `${agentTest.scenarios}, ${agentTest.suites}, ${agentTest.perRun}`,
  'tests: scripted lines, checks, mocks of a scenario': `${agentTest.lines.max}, ${agentTest.checks}, ${agentTest.mocks}`,
  'tests: `max_turns`, `max_seconds`': `${span(agentTest.turns)} (${agentTest.turns.default}), ${span(agentTest.seconds)} (${agentTest.seconds.default})`,
  'tests: a pattern, and how much of an answer it sees': `${agentTest.pattern.max} characters and ${agentTest.patternSteps} steps, ${number(agentTest.patternText)} characters`,
  'tests: runs of a workspace that are not over': `${agentTest.openRuns}`,
  'tests: runs of an agent that are kept': `${agentTest.keptRuns}`,
  'tests: scenarios played at once': `${agentTest.atOnce.process} a process, ${agentTest.atOnce.workspace} a workspace`,
  'tests by voice: calls of a process at once, waiting for a place': `${agentTest.voice.atOnce}, ${agentTest.voice.placeSeconds} s`,
  'tests by voice: interruptions, a pause, pauses of a line': `${agentTest.voice.interruptions}, ${number(agentTest.voice.pause.max)} ms, ${number(agentTest.voice.pauses)} ms`,
  'phone numbers of a workspace': `${phone.perWorkspace}`,
  'phone: a webhook, one message of a stream': `${size(phone.webhookBytes)}, ${size(phone.frameBytes)}`,
  'phone: messages of a stream': `${phone.messages.perSecond} a second, ${number(phone.messages.burst)} at once`,
  'phone: a provider that is told that its stream is over': `closes it within ${phone.byeMs / SECOND} s`,
  'phone: keys that are told together': `${phone.keys}, or those before \`#\` or a pause of ${phone.keysMs / SECOND} s`,
  'phone: keys that an agent sends at once': `${phone.sentKeys}`,
  'placed calls: `max_ring_seconds`, `Idempotency-Key`': `${span(phone.ring)} (${phone.ring.default}), ${span(phone.idempotencyKey)} characters`,
  'placed calls: `voicemail.message`': `${span(phone.voicemail)} characters`,
  "placed calls: one request to the provider's API, its answer": `${phone.apiMs / SECOND} s, ${size(phone.apiAnswerBytes)}`,
  'placed calls: the provider tells the end within': `${phone.reportMs / SECOND} s after the ring, or the end of the session`,
  'transfers: ring, what a colleague is told': `${phone.transferRing} s, ${phone.briefing} characters and our own sentences`,
  'transfers: the language model writes it within': `${phone.briefingMs / SECOND} s`,
  'transfers: a colleague is asked for': `${phone.consultMs / SECOND} s`,
  'body: platform': size(body.platform),
  'body: native synthesis, protocol A speech and chat': size(body.nativeSynthesis),
  'body: protocol B': size(body.protocolB),
  'body: transcription; its audio': `${size(body.transcription)}; ${size(CONTRACT.transcription.audioBytes)} and ${CONTRACT.transcription.decodedMs / MINUTE} minutes`,
  headers: size(CONTRACT.http.headerBytes),
  'how far the process is behind, on average': `${CONTRACT.http.shedDelayMs} ms (\`SHED_DELAY_MS\`)`,
  'WebSocket frame': `${size(CONTRACT.socket.frameBytes)}; on \`/rtc\` ${size(CONTRACT.socket.rtcFrameBytes)}`,
  'realtime: text of one item': size(realtime.itemTextBytes),
  'realtime: pending items (text not spoken, audio not transcribed)': number(realtime.pendingItems),
  'realtime: audio that waits, in the buffer and in items': size(realtime.bufferedAudioBytes),
  'realtime: finished items that can be read': `the newest ${number(realtime.finishedItems)}`,
  '`stream-input`: buffered text': size(CONTRACT.streamInput.bufferedTextBytes),
  'realtime transcription (B): buffered audio': size(CONTRACT.realtimeTranscription.bufferedAudioBytes),
  'one SSE or WebSocket connection': `${number(CONTRACT.socket.connectionMs / SECOND)} s; not \`/rtc\``,
  'first byte of an answer': `${CONTRACT.http.firstByteMs / MINUTE} minutes`,
  'a remote voice in the middle of an answer': `${CONTRACT.remote.stallMs / SECOND} s without a byte`,
  'one of several addresses of a remote engine, after a failure': `${CONTRACT.remote.ejection.initialMs / SECOND} s, doubling to ${CONTRACT.remote.ejection.maxMs / SECOND} s; or its \`Retry-After\``,
  'what is under way when the gateway is told to leave': `${CONTRACT.http.drainMs / SECOND} s, calls \`DRAIN_SECONDS\`; hurried: ${CONTRACT.http.hurriedDrainMs / SECOND} s`,
  'one answer of the language model': `${number(languageModel.answerLength)} characters, ${languageModel.calls} tool calls, ${size(languageModel.streamBytes)} of stream, ${size(languageModel.eventBytes)} without a whole event`,
  'slow uploads': `under ${size(CONTRACT.http.uploadBytesPerSecond)}/s`,
  'the client of a call whose node has died returns': `${CALL_TIMES.returnMs / SECOND} s`,
  'calls at once at a gateway process': 'any number (`CALL_PLACES`)',
  'jobs at once in a workspace': `${CONTRACT.workspace.concurrency} (\`CONCURRENCY\`)`,
  'public sessions a minute': `${perMinute.ip} an address, ${perMinute.agent} an agent`,
  'refused public requests a minute': `${perMinute.refused} an address and gateway process`,
};

const page = readFileSync(new URL('../../../docs/contract/limits.md', import.meta.url), 'utf8');

/** The first two cells of each row of a section's table. */
function rowsOf(section: string): string[][] {
  const [, text = ''] = page.split(`## ${section}\n`);
  const lines = (text.split('\n## ')[0] ?? '').split('\n').filter((line) => line.startsWith('| '));
  return lines.slice(2).map((line) =>
    line
      .split('|')
      .slice(1, 3)
      .map((cell) => cell.trim()),
  );
}

t.test('the limits are those of the contract', async (t) => {
  t.strictSame(LIMITS, CONTRACT);
  t.strictSame(Object.fromEntries(rowsOf('Limits')), DOCUMENTED, 'the page says the same');
});

t.test('a session is waited for 120 s, a user who is gone for 20 s', async (t) => {
  t.equal(CALL_TIMES.joinWindowMs, 120 * SECOND);
  t.equal(CALL_TIMES.goneMs, 20 * SECOND);
});

t.test('close codes', async (t) => {
  const codes = Object.fromEntries(Object.entries(CLOSE).map(([name, { code }]) => [name, code]));
  t.strictSame(codes, {
    normal: 1000,
    goingAway: 1001,
    unsupportedData: 1003,
    invalidPayload: 1007,
    policy: 1008,
    unauthenticated: 1008,
    slowReader: 1008,
    tooBig: 1009,
    internal: 1011,
    restart: 1012,
  });
  const documented = rowsOf('Close codes').map(([code]) => Number(code));
  t.strictSame(documented, [...new Set(Object.values(codes))].sort(), 'the page names the same');
});

t.test('turns: milliseconds of silence, and what an interruption takes', async (t) => {
  t.strictSame(ENDPOINTING_MS, {
    eager: { complete: 100, likely: 250, open: 450, unfinished: 900 },
    balanced: { complete: 250, likely: 700, open: 1050, unfinished: 1700 },
    relaxed: { complete: 800, likely: 1200, open: 1700, unfinished: 2600 },
  });
  const always = { noise: 'ignore', command: 'interrupt' };
  t.strictSame(INTERRUPTION, {
    low: { ...always, holds: false, words: 4, backchannel: 'ignore', fewWords: 'later' },
    balanced: { ...always, holds: true, words: 2, backchannel: 'ignore', fewWords: 'interrupt' },
    high: { ...always, holds: true, words: 1, backchannel: 'interrupt', fewWords: 'interrupt' },
  });
});

t.test('four words of agreement are a backchannel, five are speech', async (t) => {
  t.equal(overlapOf('yes right okay sure'), 'backchannel');
  t.equal(overlapOf('yes right okay sure great'), 'speech');
  t.equal(verdictOf('yes right okay sure', 'balanced', true), 'ignore');
  t.equal(verdictOf('yes right okay sure great', 'balanced', true), 'interrupt');
});

const pendingItem = (index: number): ConversationItem => ({
  id: `item_${index}`,
  role: 'user',
  status: 'completed',
  parts: [{ type: 'input_text', text: 'a' }],
  unspoken: true,
  untranscribed: undefined,
});

t.test('a realtime session takes 1,024 pending items and refuses the next', async (t) => {
  const conversation = new ConversationItems(() => undefined);
  for (let index = 1; index < 1024; index += 1) conversation.add(pendingItem(index));
  t.ok(conversation.admits(pendingItem(1024), 0), 'the 1,024th');
  conversation.add(pendingItem(1024));
  t.ok(conversation.isFull);
  t.notOk(conversation.admits(pendingItem(1025), 0), 'the 1,025th');
  conversation.change('item_1', (item) => (item.unspoken = false));
  t.ok(conversation.admits(pendingItem(1025), 0), 'once one has been spoken');
});
