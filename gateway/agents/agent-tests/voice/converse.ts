/**
 * One call of the real agent with a simulated caller, over the real media path: encoded, sent as RTP, decoded, detected,
 * recognised, and the answer back the same way (ops/adr/0037-tests-by-voice.md). Waits for places as calls do.
 */
import { LIMITS } from '../../../../contracts/limits.js';
import type { VoiceTestReport, QueuedTest } from '../../../../contracts/ports/agents/agent-tests.js';
import type { Caller } from '../../../../contracts/ports/accounts/identity.js';
import type {
  NewSession,
  SessionDetail,
  SessionItem,
} from '../../../../contracts/ports/sessions/sessions.js';
import type { Speech, Transcription } from '../../../../contracts/ports/speech/speech.js';
import type { CallerLine, CallerOptions } from '../../../../contracts/ports/agents/test-callers.js';
import { RawJson } from '../../../../contracts/text/raw-json.js';
import type { EndedBy } from '../../../../contracts/schemas/agent-tests.js';
import type { TestedAgentParts, ConversationOutcome } from '../conversed.js';
import { pause } from '../../conversations/record.js';
import type { ConversationTool } from '../../conversations/tools/tool.js';
import { explained, PlayError } from '../errors.js';
import type { SimulatedUser } from '../simulated-user.js';
import { mcpFor, standInFor } from '../stand-ins.js';
import { spoken, VOICE_RMS, wordsOf } from './caller-speech.js';
import { Talk, type Talked } from './talk.js';
import { measured } from './timeline.js';
import { itemsOf, SpanTranscripts } from './transcript.js';

export interface PlacedTestCall {
  readonly sessionId: string;
  readonly line: CallerLine;
  /** Ends the call, and resolves with its record. Idempotent. */
  close(): Promise<SessionDetail | undefined>;
}

export interface VoiceParts {
  readonly speech: Pick<Speech, 'synthesize'>;
  readonly transcription: Pick<Transcription, 'transcribe'>;
  /** Undefined if there is no place for a call now. */
  place(
    session: NewSession,
    agent: Pick<TestedAgentParts, 'models' | 'mcp'> & { standIn(tool: ConversationTool): ConversationTool },
    caller: Omit<CallerOptions, 'workspaceId'>,
  ): Promise<PlacedTestCall | undefined>;
  /** Makes the session part of the scenario's run; false if the scenario was cancelled meanwhile. */
  began(test: QueuedTest, sessionId: string): Promise<boolean>;
  /** Called when the call has ended; removes the session if no run has it. */
  over(test: QueuedTest, sessionId: string): Promise<void>;
}

const LOOK_MS = 1000;
const { placeSeconds } = LIMITS.agentTest.voice;

const late = new Error('the scenario took too long');

/** The session of the call, recorded as other calls are. */
const sessionOf = ({ workspaceId, agent, plan, definition }: QueuedTest): NewSession => ({
  workspaceId,
  agentId: agent.id,
  agentName: agent.name,
  versionNumber: agent.versionNumber,
  source: 'dashboard',
  name: null,
  endUserId: null,
  metadata: new RawJson('{}'),
  overrides: definition.overrides,
  plan: { ...plan, recordAudio: true },
});

const noiseOf = ({ noise_db: level }: NonNullable<QueuedTest['definition']['caller']>): number =>
  level === undefined ? 0 : VOICE_RMS * 10 ** (level / 20);

/** Errors: `PlayError` if no place became free in time; the signal's reason. */
async function placed(
  test: QueuedTest,
  { clock, mcp, models }: TestedAgentParts,
  voice: VoiceParts,
  signal: AbortSignal,
): Promise<PlacedTestCall> {
  const { definition, plan } = test;
  const agent = { models, mcp: mcpFor(definition, plan, mcp), standIn: standInFor(definition) };
  const end = clock.monotonic() + placeSeconds * 1000;
  for (;;) {
    const placing = voice.place(sessionOf(test), agent, { noise: noiseOf(definition.caller ?? {}) });
    const call = await explained('The call could not begin', placing, signal);
    if (call) return call;
    if (clock.monotonic() >= end) throw new PlayError(`No place for a call was free for ${placeSeconds} s`);
    await pause(clock, LOOK_MS);
    signal.throwIfAborted();
  }
}

function talkOf(
  { definition, plan }: QueuedTest,
  user: SimulatedUser,
  line: CallerLine,
  { transcripts, voice, caller }: { transcripts: SpanTranscripts; voice: VoiceParts; caller: Caller },
  signal: AbortSignal,
): Talk {
  const { voice: voiceId = '', pause_ms: pauseMs = 0, interruptions = [] } = definition.caller ?? {};
  const isPlayed = definition.user.goal !== undefined;
  const manner = { voiceId, pauseMs, language: plan.config.voice.speaking_language };
  return new Talk({
    line,
    interruptions,
    most: definition.max_turns,
    wordsOf,
    opens: plan.config.prompt.first_message_mode !== 'off',
    // A scripted caller does not depend on what it hears, so nothing is transcribed for it.
    next: async (turns, spans) =>
      user.next(isPlayed ? itemsOf(await transcripts.lines(turns, spans)) : [], signal),
    speak: (text) => {
      const sound = spoken(text, manner, { speech: voice.speech, caller }, signal);
      return explained('The caller could not speak', sound, signal);
    },
  });
}

const reportOf = async (
  sessionId: string,
  talked: Talked,
  transcripts: SpanTranscripts,
): Promise<VoiceTestReport> => ({
  sessionId,
  transcript: await transcripts.lines(talked.turns, talked.spans),
  measured: measured(talked.turns, talked.spans),
});

const endedByOf = ({ endedBy, reason }: Talked, record: SessionDetail | undefined): EndedBy => {
  if (endedBy) return endedBy;
  if (reason === 'agent_hangup') return 'agent';
  if (reason === 'conversation_timeout' || record?.endedReason === 'timeout') return 'time_limit';
  throw new PlayError('The call broke off');
};

/** Runs the talk until the signal aborts it or the time limit ends the call, which is no error. */
async function inTime(
  call: PlacedTestCall,
  talk: Talk,
  seconds: number,
  { clock }: Pick<TestedAgentParts, 'clock'>,
  signal: AbortSignal,
): Promise<Talked & { readonly isLate: boolean }> {
  const limit = new AbortController();
  const stopTimer = clock.after(seconds * 1000, () => limit.abort(late));
  const either = AbortSignal.any([limit.signal, signal]);
  const stop = (): void => void call.close();
  either.addEventListener('abort', stop, { once: true });
  try {
    const talked = await talk.run();
    signal.throwIfAborted();
    return { ...talked, isLate: limit.signal.aborted };
  } finally {
    stopTimer();
    either.removeEventListener('abort', stop);
  }
}

/** Errors: `PlayError`; those of the user's model, of its voice and of recognition; the signal's reason. */
export async function converseByVoice(
  test: QueuedTest,
  user: SimulatedUser,
  parts: TestedAgentParts & { readonly voice: VoiceParts },
  signal: AbortSignal,
): Promise<ConversationOutcome> {
  const { voice } = parts;
  const { plan, workspaceId, definition } = test;
  const caller: Caller = { workspaceId, keyId: 'test', isCall: true };
  const language = plan.config.voice.speaking_language;
  const transcripts = new SpanTranscripts({ transcription: voice.transcription, caller, language }, signal);
  const call = await placed(test, parts, voice, signal);
  try {
    if (!(await voice.began(test, call.sessionId))) throw new PlayError('The scenario was cancelled');
    const talk = talkOf(test, user, call.line, { transcripts, voice, caller }, signal);
    const talked = await inTime(call, talk, definition.max_seconds, parts, signal);
    const record = await call.close();
    const report = await reportOf(call.sessionId, talked, transcripts);
    const endedBy = talked.isLate ? 'time_limit' : endedByOf(talked, record);
    return { items: record?.items ?? [], endedBy, call: report, heard: heardItems(report, record) };
  } finally {
    await call.close();
    await voice.over(test, call.sessionId);
  }
}

/** Items for rules on words: the words as they were heard, and the tool calls. */
const heardItems = (report: VoiceTestReport, record: SessionDetail | undefined): readonly SessionItem[] => [
  ...itemsOf(report.transcript),
  ...(record?.items ?? []).filter(({ type }) => type !== 'message'),
];
