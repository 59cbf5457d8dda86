/**
 * The numbers of the contract, written a second time as in its documents. Other tests read the product's own constants and
 * would follow a change; here a changed number fails until the contract is changed, too.
 */
import { readFileSync } from 'node:fs';
import { CHECKOUT } from '../../../contracts/places.js';
import t from '../../fixtures/tap.js';
import { DECLARED_RATE } from '../../../codecs/decode/limits.js';
import { MOST_UNCLEAR_TURNS, TIMES } from '../../../actors/agent/times.js';
import { INTERRUPTION, overlapOf, verdictOf } from '../../../actors/agent/turns/interruption.js';
import { ENDPOINTING_MS } from '../../../actors/agent/turns/endpointing.js';
import { type ConversationItem, ConversationItems } from '../../../actors/realtime-items.js';
import { CALL_TIMES } from '../../../contracts/limits/call-times.js';
import { CLOSE } from '../../../contracts/close-codes.js';
import { ONLINE_TIMES } from '../../../contracts/limits/online-times.js';
import { JOB_PLACES, SWOLLEN_MEDIA } from '../../../contracts/limits/job-places.js';
import { LIMITS } from '../../../contracts/limits.js';
import { PIECE_BYTES, UNBOUNDED_SHARE } from '../../../contracts/ports/accounts/memory.js';
import { MOST_HOST } from '../../../gateway/outbound/guard.js';
import { CONTRACT, ONLINE } from '../../fixtures/contract-numbers.js';
import { KiB, MiB, MINUTE, SECOND } from '../../fixtures/contract-numbers/units.js';
import { exactly } from '../../fixtures/exactly.js';

const number = (value: number): string => value.toLocaleString('en-US');
const size = (bytes: number): string => (bytes < MiB ? `${bytes / KiB} KiB` : `${bytes / MiB} MiB`);
const seconds = (ms: number): string => `${ms / SECOND} s`;
const megabytes = (bytes: number): string => `${bytes / 1_000_000} MB`;
const span = ({ min, max }: { min: number; max: number }): string => `${number(min)} to ${number(max)}`;

const {
  agent,
  agentChat,
  postCallWebhook,
  conversationInit: init,
  analysis,
  session,
  stats,
  audit,
  keys,
  tool,
  mcp,
  body,
  realtime,
  languageModel,
  agentTest,
  phone,
  unauthenticated,
  refused,
  statements,
  document,
  embedding,
  knowledge,
  keptSpeech,
  sentenceLength,
  socket,
} = CONTRACT;
const { publicPerMinute: perMinute } = session;
const { filler, voice, recogniser, model } = ONLINE;

/** The rows of docs/contract/limits.md "Limits": item, limit. */
const DOCUMENTED = {
  'agent `name`, `description`': `${span(agent.name)}, ${number(agent.description)} characters`,
  '`system_prompt`': `${number(agent.systemPromptLength)} characters and ${number(agent.systemPromptTokens)} tokens`,
  'an agent as a whole when it is published, previewed or tested: its configuration and its tools': `${size(agent.planBytes)} of JSON`,
  'tool with an effect: voice without words that holds it back, calls that run beside the conversation': `${TIMES.wordlessMs / SECOND} s, ${session.callsBesideSpeech}`,
  'MCP: a stream that breaks off before its answer': `resumed ${mcp.resumes} times, after ${mcp.resumeMs.min / SECOND} to ${mcp.resumeMs.max / SECOND} s each`,
  'MCP: a named session that the server refuses (4xx)': 'begun anew once',
  'database: a list, read or search': `${statements.readMs / SECOND} s (\`LIMITS.statements\`)`,
  'database: statements of a workspace at once, in each gateway process; that wait; how long one waits': `2; ${statements.waiting} reads and ${statements.waiting} changes; ${statements.waitMs / SECOND} s`,
  'database: statements of a client that has gone': 'none',
  "knowledge: attached sources that are part of the agent's instructions": `${size(knowledge.wholeBytes)} together`,
  'knowledge: a file `.md` or `.txt`; `.pdf` or `.html`, its text, pages of a PDF, elements of a page that are open at once': `${megabytes(knowledge.sourceBytes)}; ${megabytes(document.bytes)}, ${megabytes(document.textBytes)}, ${document.pages}, ${document.depth}`,
  'knowledge: reading a PDF or web page, in a process for each; those that wait': `${seconds(document.timeMs)}, ${size(document.memoryBytes)}; ${document.queue}`,
  'knowledge: words of a question that are looked up, passages that are ranked, the best of these that are weighed': `the ${knowledge.words} rarest, ${number(knowledge.candidates)}, ${knowledge.weighed}`,
  'knowledge: a search during a call, turns included': `${statements.inCallMs} ms`,
  'knowledge by meaning: attached passages without pgvector': number(embedding.passages),
  'knowledge by meaning: of the time of a search; questions at the model at once, and waiting, in each process': `${100 * embedding.timeShare} %; ${embedding.asked}, ${embedding.waiting}`,
  'knowledge by meaning: passages of one request to the model, its answer': `${embedding.batch}; ${seconds(embedding.passagesMs)}, ${size(embedding.answerBytes)}, vectors of ${number(embedding.dimensions)} numbers`,
  'conversation that a language model is told': `\`LLM_CONTEXT_TOKENS\` without ${number(languageModel.answerTokens)} for the answer; ${number(languageModel.conversationTokens)} tokens if unset`,
  'requests that a language model refuses as too long': `${languageModel.shortened} for one answer, each with less of the conversation`,
  'one sentence of a text for the default voice': `${number(sentenceLength)} characters`,
  'what still arrives of a refused body, and is dropped so that the refusal reaches its client': `${size(refused.bytes)}; ${refused.ms / SECOND} s, with pauses of ${refused.idleMs / SECOND} s; after a 408 ${refused.lateMs / SECOND} s`,
  'connections that do so at once': `${refused.connections.perAddress} of an address, ${number(refused.connections.total)} of a process`,
  'in a call: silence until a filler; while tools run; until the next one': `${seconds(filler.silenceMs)} after the caller's voice, typed line or key; ${seconds(filler.toolMs)}; ${seconds(filler.againMs)} after the end of the last one`,
  'in a call: audio of a voice, at first and between two pieces': `${seconds(voice.audioMs)}; ${seconds(voice.aloneMs)} where no other engine speaks the language`,
  'in a call: a transcript': `${seconds(recogniser.wordsMs)}; ${seconds(recogniser.aloneMs)} and half the length of the audio where no other engine hears the language`,
  'in a call: voice without words that the agent asks about; how often in a row': `${seconds(TIMES.unclearMs)}; ${MOST_UNCLEAR_TURNS} times`,
  'language model that is tried out: its first word; the whole answer': `${seconds(languageModel.trial.firstMs)}; ${seconds(languageModel.trial.wholeMs)}`,
  'in a call: the first spoken word of the language model; the next one, or a whole tool call': `${seconds(model.firstWordMs)}, or ${seconds(model.firstOfTwoMs)} where there is a second model (\`LLM_FIRST_WORD_SECONDS\`); ${seconds(model.betweenMs)}`,
  'in a call: words of the language model that a caller waits for in vain, before they talk on or leave':
    seconds(model.vainMs),
  'in a call: a finished sentence that waits for the next words': seconds(ONLINE.sentenceMs),
  'in a call: speech of an agent that is kept, as it was said before: characters of a piece; bytes of one sound, of a workspace, of a process; how long; pieces that are remembered as said': `${keptSpeech.pieceLength}; ${size(keptSpeech.soundBytes)}, ${size(keptSpeech.workspaceBytes)}, ${size(keptSpeech.processBytes)}; ${keptSpeech.ms / MINUTE} minutes; ${number(keptSpeech.noted)}`,
  'in a call: answers in a row that fail': `${ONLINE.failures}`,
  'a typed line (`user.message`, `lk.chat`)': `${number(session.typedLength)} characters`,
  'a message of a chat; messages of a user in one chat': `${number(agentChat.message)} characters; ${agentChat.messages}`,
  'chats of a workspace at once': number(agentChat.atOnce),
  'one answer in a chat, tools included; what of it waits for its client': `${agentChat.answerMs / MINUTE} minutes; ${size(agentChat.waitingBytes)}`,
  'a chat: without a message; in all': `${agentChat.idleMs / MINUTE} minutes; ${agentChat.seconds / 3600} hours`,
  'typed lines, keys, `user.activity`, `user.interrupt` of a call': `${session.clientMessages.burst} at once, ${session.clientMessages.perSecond} a second`,
  "a message of a client's data channel; a text stream: bytes, time, at once": '64 KiB; 64 KiB, 30 s, 8',
  'room left in the data folder; of it, kept for starting the embedded Postgres on a full disk': `${size(CONTRACT.storage.freeBytes)}; ${size(CONTRACT.storage.reserveBytes)}`,
  'frames of one socket that wait for later turns of the event loop, beyond the 8 ms of one that all of its workspace have, or for a large one that is copied': `${number(socket.waiting.frames)}; ${size(socket.waiting.bytes)}`,
  'WebSockets after one that was closed for too many frames, of the same workspace (of the same address, where the handshake has no key), but for those of calls: wait of their handshake; those that wait': `${seconds(socket.flood.pauseMs)}; ${socket.flood.held}`,
  'frames of one socket that wait while a large one is read, or another one is looked into': `${number(socket.waiting.frames)}; ${size(socket.waiting.bytes)}`,
  'a text in a frame, audio apart': `${socket.textLength / MiB} Mi characters are read`,
  'first messages': `${number(agent.firstMessage)} characters each`,
  '`filler_message`': `${agent.filler} characters`,
  '`recovery_message`': `${agent.recovery} characters`,
  '`conversation.outbound.voicemail.message`; with its variables, where it is said as it is': `${number(agent.voicemailMessage)} characters; ${number(phone.voicemail.max)}`,
  '`transfer_agents`': `${agent.transferAgents}; descriptions ${agent.transferDescription} characters`,
  'agents that a call may reach, hand-overs': `${session.agents}, ${session.transfers}`,
  'turns in a post-call event': `the last ${session.deliveredTurns}`,
  '`voice_id`': `${agent.voiceId} characters`,
  '`max_duration_seconds`': span(agent.maxDurationSeconds),
  '`hangup_after_seconds`': span(agent.hangupAfterSeconds),
  'argument of a tool: the values that it may have': `${tool.argumentChoices} of ${tool.argumentChoice} characters`,
  'agent’s own language model': `address ${span(agent.llm.baseUrl)}, name ${span(agent.llm.model)}, key ${span(agent.llm.apiKey)} characters`,
  'widget: `agent_name`, `greeting`, `proactive_message`, `consent_text`': `${agent.widget.agentName}, ${agent.widget.greeting}, ${agent.widget.proactiveMessage}, ${number(agent.widget.consentText)} characters`,
  'widget: `text_contents`': `${agent.widget.texts} of ${agent.widget.text} characters, with names \`${agent.widget.textNamePattern}\``,
  'post-call webhooks': `${postCallWebhook.count}; address ${span(postCallWebhook.url)}, secret ${postCallWebhook.secret} characters`,
  'question before a call (`conversation_init`): `timeout_seconds`, its answer': `${span(init.timeoutSeconds)} (${init.timeoutSeconds.default}), ${size(init.answerBytes)}`,
  'deliveries that are sent again': `${postCallWebhook.redeliveries.perDelivery} times each, ${postCallWebhook.redeliveries.perMinute} of a workspace a minute`,
  'deliveries that are sent again by one request': `one request of a workspace at a time; ${postCallWebhook.redeliveries.atOnce} wait at once`,
  'attempts of a delivery': `${postCallWebhook.retryMs.length + 1} in a day: 1 s, 5 s, 30 s, 2 min, 10 min, 1 h, 6 h and 16 h apart, each up to a tenth longer`,
  'pause that a webhook asks for (`Retry-After` of a 429 or 503)': '1 h',
  'failures of a webhook in a row': `${postCallWebhook.failing.after}`,
  'deliveries to a webhook that is back': `one at once, one more after each ${postCallWebhook.back.growsAfter} that it took, ${postCallWebhook.back.atOnce} at most; ${postCallWebhook.back.perSecond} a second`,
  'delivery that waits for a webhook that fails': `${postCallWebhook.longestMs / MINUTE / 60} h`,
  'deliveries under way, of a workspace': `${postCallWebhook.atOnce} in all processes, ${postCallWebhook.atOnce - postCallWebhook.spare} to one webhook`,
  'analysis: data fields, criteria, summary prompt': `${analysis.dataFields}, ${analysis.criteria}, ${number(analysis.summaryPrompt)} characters`,
  'names in the analysis': `\`${analysis.namePattern}\`, descriptions ${analysis.description} characters`,
  'session `name`, `metadata`, dynamic variables': `${session.name} characters, ${size(session.metadataBytes)}, ${session.dynamicVariables}`,
  'MCP servers of an agent': `${mcp.servers}`,
  'MCP: tools in a call, listing at its beginning, one answer': `${mcp.tools}, ${mcp.listMs / SECOND} s, ${size(mcp.replyBytes)}`,
  'tool `timeout_seconds`, of those that the agent waits for, test capture': `${span(tool.timeoutSeconds)} (${tool.timeoutSeconds.default}), ${tool.waitedSeconds}, ${size(tool.testCaptureBytes)}`,
  'search for spoken words; how much of a session is searched': `${session.search} characters; the first ${number(session.searchedLength)} characters`,
  'audit trail: names of fields, a name, the same again': `${audit.fields}, ${audit.text} characters, ${audit.againMs / MINUTE} min`,
  'keys that keys make: a name, a body, valid ones of a workspace': `${keys.name.max} characters, ${size(keys.bodyBytes)}, ${number(keys.valid)}`,
  'figures of calls: steps of one answer': number(stats.points),
  'tests: scenarios and suites of an agent, scenarios of a run': `${agentTest.scenarios}, ${agentTest.suites}, ${agentTest.perRun}`,
  'tests: scripted lines, checks, mocks of a scenario': `${agentTest.lines.max}, ${agentTest.checks}, ${agentTest.mocks}`,
  'tests: `max_turns`, `max_seconds`': `${span(agentTest.turns)} (${agentTest.turns.default}), ${span(agentTest.seconds)} (${agentTest.seconds.default})`,
  'tests: a pattern; how much of an answer it is matched with': `${agentTest.pattern.max} characters and ${agentTest.patternSteps} steps, ${number(agentTest.patternText)} characters`,
  'tests: unfinished runs of a workspace': `${agentTest.openRuns}`,
  'tests: stored runs of an agent': `${agentTest.keptRuns}`,
  'tests: scenarios played at once': `${agentTest.atOnce.process} a process, ${agentTest.atOnce.workspace} a workspace`,
  'tests by voice: calls of a process at once, waiting for a place': `${agentTest.voice.atOnce}, ${agentTest.voice.placeSeconds} s`,
  'tests by voice: interruptions, a pause, pauses of a line': `${agentTest.voice.interruptions}, ${number(agentTest.voice.pause.max)} ms, ${number(agentTest.voice.pauses)} ms`,
  'phone numbers of a workspace': `${phone.perWorkspace}`,
  "numbers of `sip`: addresses that calls come from, one of them, the carrier's server": `${phone.sipAddresses}, ${span(phone.sipAddress)}, ${phone.sipServer} characters`,
  'phone: a webhook, one message of a stream': `${size(unauthenticated.bodyBytes)}, ${size(phone.frameBytes)}`,
  'phone: messages of a stream': `${phone.messages.perSecond} a second, ${number(phone.messages.burst)} at once`,
  'phone: time for a provider to close a stream that has ended': `${phone.byeMs / SECOND} s`,
  'phone: keys that are reported together': `${phone.keys}, or those before \`#\` or a pause of ${phone.keysMs / SECOND} s`,
  'phone: keys that an agent sends at once': `${phone.sentKeys}`,
  "placed calls: the language model's message for an answering machine": `${seconds(phone.messageMs)}, ${number(phone.voicemail.max)} characters`,
  "placed calls: the provider's report of who has answered": seconds(phone.detectionMs),
  'placed calls: an `Idempotency-Key` of `/phone-calls` is remembered': `${phone.idempotencyKeptMs / (60 * MINUTE)} h`,
  'placed calls: `max_ring_seconds`, `Idempotency-Key`': `${span(phone.ring)} (${phone.ring.default}), ${span(phone.idempotencyKey)} characters`,
  'placed calls: `voicemail.message`': `${span(phone.voicemail)} characters`,
  "placed calls: one request to the provider's API, its answer": `${phone.apiMs / SECOND} s, ${size(phone.apiAnswerBytes)}`,
  "placed calls: the provider's report of the end": `${phone.reportMs / SECOND} s after the ring, or the end of the session`,
  'transfers: ring, briefing of the colleague': `${phone.transferRing} s, ${phone.briefing} characters and our own sentences`,
  'transfers: time for the language model to write the briefing': `${phone.briefingMs / SECOND} s`,
  'transfers: time for the colleague to decide': `${phone.consultMs / SECOND} s`,
  'body: platform': size(body.platform),
  'body: native synthesis, protocol A speech and chat': size(body.nativeSynthesis),
  'body: protocol B': size(body.protocolB),
  'body: transcription; its audio': `${size(body.transcription)}; ${size(CONTRACT.transcription.audioBytes)} and ${CONTRACT.transcription.decodedMs / MINUTE} minutes`,
  'a gap in the time stamps of an audio file (MP4, WebM, MPEG, AVI, FLV, WMA)': `${CONTRACT.transcription.gapMs / MINUTE} minutes`,
  'audio tracks of a file': `${CONTRACT.transcription.tracks}`,
  headers: size(CONTRACT.http.headerBytes),
  'delay of the event loop, on average': `${CONTRACT.http.shedDelayMs} ms (\`SHED_DELAY_MS\`)`,
  'WebSocket frame': `${size(CONTRACT.socket.frameBytes)}; on \`/rtc\` ${size(CONTRACT.socket.rtcFrameBytes)}`,
  'before a key, token or signature is known: a body; its fields or nodes, fields of a query': `${size(unauthenticated.bodyBytes)}; ${number(unauthenticated.parts)}`,
  'a WebSocket that authenticates by its first message: one frame and its nodes, time until then': `${size(unauthenticated.frameBytes)} and ${number(unauthenticated.parts)}, ${unauthenticated.socketMs / SECOND} s`,
  'WebSockets that have not authenticated: of an address, of all': `${unauthenticated.sockets.perAddress}, ${unauthenticated.sockets.total}`,
  'media streams with a proven handshake that have not begun: of a call or number, of all': `${unauthenticated.provenSockets.perAddress}, ${number(unauthenticated.provenSockets.total)}`,
  'realtime: text of one item': size(realtime.itemTextBytes),
  'realtime: pending items (text not spoken, audio not transcribed)': number(realtime.pendingItems),
  'realtime: audio that waits, in the buffer and in items': size(realtime.bufferedAudioBytes),
  'a piece that waits (audio, text of an item, frame, flush), however small': `counts ${PIECE_BYTES} bytes`,
  'realtime: finished items that can be read': `the newest ${number(realtime.finishedItems)}`,
  'an agent by realtime: functions of its client, their JSON, a description': `${CONTRACT.agentRealtime.tools}, ${size(CONTRACT.agentRealtime.toolsBytes)}, ${number(CONTRACT.agentRealtime.toolDescription)} characters`,
  'an agent by realtime: items that can be read': `the newest ${CONTRACT.agentRealtime.items}, ${size(CONTRACT.agentRealtime.itemBytes)} of text`,
  'an agent by realtime: typed texts that no answer was asked for yet; all texts of a client': `${CONTRACT.agentRealtime.typedItems}; ${size(CONTRACT.agentRealtime.broughtBytes)}`,
  "an agent by protocol B: the result of a client's tool, as JSON": size(CONTRACT.agentRealtime.resultBytes),
  'an agent by realtime, and by protocol B: audio that waits to be heard': size(
    CONTRACT.agentRealtime.audioBytes,
  ),
  'an agent by realtime: a client that sends no `session.update`; one that has': `${CONTRACT.agentRealtime.setUpMs.first / SECOND} s; ${CONTRACT.agentRealtime.setUpMs.next} ms`,
  'an agent by WebRTC: the offer; the session beside it': `${size(CONTRACT.agentRealtime.offerBytes)}; ${size(CONTRACT.agentRealtime.offerSessionBytes)}`,
  'an agent by WebRTC: until the data channel is open': `${CONTRACT.agentRealtime.channelMs / SECOND} s`,
  'an agent by WebRTC: offers whose data channel is not open yet': `${CONTRACT.agentRealtime.waitingOffers.perWorkspace} of a workspace, ${CONTRACT.agentRealtime.waitingOffers.total} of a process`,
  'a call of an agent by realtime: who watches it': String(CONTRACT.agentRealtime.watchers),
  'a call of an agent by WebRTC that another process has, and that has not begun: how long it is looked for': `${CONTRACT.agentRealtime.watchedMs / SECOND} s`,
  '`stream-input`: buffered text': size(CONTRACT.streamInput.bufferedTextBytes),
  'realtime transcription (B): buffered audio': size(CONTRACT.realtimeTranscription.bufferedAudioBytes),
  'one connection of server-sent events, or one WebSocket': `${number(CONTRACT.socket.connectionMs / SECOND)} s; not calls`,
  'an answer of the bucket of recordings; on top of it for a body; what it has to do itself, such as to make one object of all parts': `${CONTRACT.recording.bucket.answerMs / SECOND} s; a second for each ${CONTRACT.recording.bucket.bytesPerSecond / 1000} kB; ${CONTRACT.recording.bucket.workMs / MINUTE} minutes`,
  'a cheap question to a model, a remote engine, the bucket or a server of `ICE_SERVERS`, at the start and while it fails': `${CONTRACT.partCheck.answerMs / SECOND} s, every ${CONTRACT.partCheck.againMs / SECOND} s`,
  'a model that is added by the console: fetched, checked, put in place': `${CONTRACT.models.addMs / MINUTE} minutes`,
  'first byte of an answer': `${CONTRACT.http.firstByteMs / MINUTE} minutes`,
  'a remote voice in the middle of an answer': `${CONTRACT.remote.stallMs / SECOND} s without a byte`,
  'speech that a remote engine encodes itself ([pass-through](../engines.md#formats-that-are-passed-on))': `texts of ${number(CONTRACT.remote.passedText)} characters, ${size(CONTRACT.remote.passedBytes)}`,
  'a remote engine: voices that it lists, one frame of its socket': `${number(CONTRACT.remote.voices)}, ${size(CONTRACT.remote.socketFrameBytes)}`,
  'a remote recogniser: words to expect that it is told, their characters, and bytes of all': (
    [
      ['`prompt`', 'prompt'],
      ['`keyterms`', 'keyterms'],
      ['while somebody speaks', 'liveKeyterms'],
      ['`keyterm` and `keywords`', 'keyterm'],
    ] as const
  )
    .map(([field, name]) => {
      const { terms, characters, bytes } = CONTRACT.remote.expected[name];
      return `${field} ${terms}, ${characters}, ${number(bytes)}`;
    })
    .join('; '),
  "a remote recogniser: the agent's last words that it is told": `${CONTRACT.remote.expected.beforeCharacters} characters`,
  'a recogniser that hears while somebody speaks: to its transcript after the end, without more audio': `${recogniser.wordsMs / SECOND} s, ${recogniser.idleMs / SECOND} s`,
  'a remote engine: sockets that are open before a call needs them': `${CONTRACT.remote.spareSockets.most}, ${CONTRACT.remote.spareSockets.ms / SECOND} s`,
  'a remote engine that refuses, without the body of its refusal': `${CONTRACT.remote.stallMs / SECOND} s`,
  'one of several addresses of a remote engine, after a failure': `${CONTRACT.remote.ejection.initialMs / SECOND} s, doubling to ${CONTRACT.remote.ejection.maxMs / SECOND} s; or its \`Retry-After\``,
  'running work during a drain': `${CONTRACT.http.drainMs / SECOND} s, calls \`DRAIN_SECONDS\`; hurried: ${CONTRACT.http.hurriedDrainMs / SECOND} s`,
  'one answer of the language model': `${number(languageModel.answerLength)} characters, ${languageModel.calls} tool calls, ${size(languageModel.streamBytes)} of stream, ${size(languageModel.eventBytes)} without a whole event`,
  'what a language model thought, for its tool calls': `${number(languageModel.thoughts)} characters, ${number(languageModel.thoughtDetails)} of details`,
  'a body of JSON or MessagePack: lists and objects within each other, `metadata` included; values': `${body.depth}; 100,000`,
  'all fields of a form together, without its files': size(CONTRACT.http.multipartFieldsBytes),
  'JSON with audio: one text; everything but strings of 64 KiB and more': `${size(body.text)}; ${size(body.shortStrings)}`,
  'what waits in memory, of all workspaces (bodies, audio, texts, held answers)':
    '`MEMORY_BUDGET_MB` ([memory.md](../operate/memory.md))',
  'large uploads in progress on disk, of one gateway process': '4 GiB (`SPOOL_MB`)',
  "an audio file's declared sample rate (WAV, Wave64, FLAC, CAF, AIFF, AU, Ogg)": `${DECLARED_RATE.min / 1000} kHz to ${DECLARED_RATE.max / 1_000_000} MHz`,
  'host name in a URL that the gateway is to call (tools, webhooks, redirects)': `${MOST_HOST} characters`,
  'slow uploads': `under ${size(CONTRACT.http.uploadBytesPerSecond)}/s`,
  'memory that a media worker holds beyond that of its start; how long it has carried nothing by then': `${size(SWOLLEN_MEDIA.bytes)}; ${SWOLLEN_MEDIA.idleMs / SECOND} s`,
  'return of a client whose node has died': `${CALL_TIMES.returnMs / SECOND} s`,
  'calls at once at a gateway process': 'any number (`CALL_PLACES`)',
  'clients by TURN over TCP or TLS of one media worker, with tie-breaker 0 ([network.md](../operate/network.md#nat-and-turn))': `${CONTRACT.ice.relayed.ways}, ${CONTRACT.ice.perConnection} of a call`,
  'calls at once in a workspace, on all nodes':
    'any number (`CALLS_PER_WORKSPACE`, `workspaces limits --calls`); with other workspaces, its share of `CALL_PLACES` ([who goes first](../operate/fair-admission.md#calls))',
  'speech jobs at once in a workspace, those of calls apart': `${CONTRACT.workspace.concurrency} (\`CONCURRENCY\`)`,
  'jobs that wait for one process of a role': `${JOB_PLACES.stt.queue} live, ${JOB_PLACES.stt.queue} others; \`turns\` ${JOB_PLACES.turns.queue}`,
  'prompts whose tokens are counted or wait for it, in one process': `${CONTRACT.tokenQueue}`,
  'public sessions a minute': `${perMinute.ip} an address, ${perMinute.agent} an agent`,
  'refused public requests a minute': `${perMinute.refused} an address and gateway process`,
};

const page = readFileSync(new URL('docs/contract/limits.md', CHECKOUT), 'utf8');

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

t.test('a media worker that holds much without a call is replaced', async (t) => {
  exactly(t, SWOLLEN_MEDIA, { idleMs: 30 * SECOND, bytes: 16 * MiB });
});

t.test('somebody on the line waits no longer than the contract says', async (t) => {
  t.strictSame(ONLINE_TIMES, ONLINE);
  exactly(t, TIMES, {
    fillerMs: ONLINE.filler.toolMs,
    fillerLeastMs: ONLINE.filler.leastMs,
    fillerAgainMs: ONLINE.filler.againMs,
    fillerHeardMs: ONLINE.filler.heardMs,
    wordlessMs: 3 * SECOND,
    unclearMs: 0.5 * SECOND,
  });
});

t.test('a session is waited for 120 s, a user who is gone for 20 s', async (t) => {
  t.equal(CALL_TIMES.joinWindowMs, 120 * SECOND);
  t.equal(CALL_TIMES.goneMs, 20 * SECOND);
});

t.test('close codes', async (t) => {
  const codes = Object.fromEntries(Object.entries(CLOSE).map(([name, { code }]) => [name, code]));
  t.strictSame(codes, {
    normal: 1000,
    replaced: 1000,
    goingAway: 1001,
    unsupportedData: 1003,
    invalidPayload: 1007,
    policy: 1008,
    unauthenticated: 1008,
    flooded: 1008,
    slowReader: 1008,
    tooBig: 1009,
    internal: 1011,
    restart: 1012,
    memory: 1013,
  });
  const documented = rowsOf('Close codes').map(([code]) => Number(code));
  t.strictSame(documented, [...new Set(Object.values(codes))].sort(), 'the page names the same');
});

t.test('turns: milliseconds of silence, and what an interruption takes', async (t) => {
  t.strictSame(ENDPOINTING_MS, {
    eager: { complete: 100, likely: 330, open: 530, unfinished: 980 },
    balanced: { complete: 230, likely: 620, open: 1150, unfinished: 1800 },
    relaxed: { complete: 800, likely: 1280, open: 1780, unfinished: 2680 },
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
  const conversation = new ConversationItems(() => undefined, UNBOUNDED_SHARE);
  for (let index = 1; index < 1024; index += 1) conversation.add(pendingItem(index));
  t.ok(conversation.admits(pendingItem(1024), 0), 'the 1,024th');
  conversation.add(pendingItem(1024));
  t.ok(conversation.isFull);
  t.notOk(conversation.admits(pendingItem(1025), 0), 'the 1,025th');
  conversation.change('item_1', (item) => (item.unspoken = false));
  t.ok(conversation.admits(pendingItem(1025), 0), 'once one has been spoken');
});
