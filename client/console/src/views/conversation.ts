/** The state of a running conversation, built from the session's events for the view. */
import { useRef, useState } from 'preact/hooks';
import type { SessionEvents } from '../../../src/events.js';
import type { SessionRequest } from '../../../src/place.js';
import type { SoundOptions } from '../../../src/room.js';
import { AgentSession } from '../../../src/session.js';
import type { ClientTools } from '../../../src/tools.js';
import { optionName } from '../form/words.js';
import { type Line, withLine } from '../parts/lines.js';
import { type Missing, missingBy } from '../sound/microphone.js';
import { texts } from '../texts.js';

export type Speaker = keyof typeof texts.talk.speakers;

export type Turn = SessionEvents['turnCompleted'];

export interface Conversation {
  readonly session: AgentSession | undefined;
  readonly status: SessionEvents['statusChange']['status'];
  readonly mode: SessionEvents['modeChange']['mode'];
  readonly lines: readonly Line<Speaker>[];
  readonly turns: readonly Turn[];
  /** Text for screen readers, without lines that still change: these would be read again and again. */
  readonly aloud: string;
  readonly over: string;
  /** Why the call could not have the microphone that it asked for. */
  readonly missing: Missing | undefined;
  /** Id of the call's record, once the call has begun. */
  readonly sessionId: string | undefined;
}

const NOTHING: Conversation = {
  session: undefined,
  status: 'disconnected',
  mode: 'listening',
  lines: [],
  turns: [],
  aloud: '',
  over: '',
  missing: undefined,
  sessionId: undefined,
};

type Change = (before: Conversation) => Partial<Conversation>;

/** An error that wraps the browser's own keeps it as its cause. */
const reasonOf = (cause: unknown): unknown =>
  cause instanceof Error && cause.cause !== undefined ? cause.cause : cause;

let counted = 0;

function follow(session: AgentSession, change: (to: Change) => void): void {
  const { talk } = texts;
  const line = (speaker: Speaker, text: string, id = `line-${(counted += 1)}`) =>
    change(({ lines }) => ({ lines: withLine(lines, { id, speaker, text }) }));
  session.on('statusChange', ({ status }) => change(() => ({ status })));
  session.on('connect', ({ sessionId }) => change(() => ({ sessionId })));
  session.on('modeChange', ({ mode }) => change(() => ({ mode })));
  session.on('userTranscript', ({ segmentId, text }) => line('user', text, segmentId));
  session.on('agentResponseDelta', ({ segmentId, text }) => line('agent', text, segmentId));
  session.on('agentResponse', ({ segmentId, text }) => line('agent', text, segmentId));
  session.on('message', ({ role, text }) => change(() => ({ aloud: talk.speakers[role] + text })));
  session.on('languageChange', ({ language }) =>
    line('tool', talk.spokenIn(optionName('language', language))),
  );
  session.on('agentChange', ({ agentName }) => line('tool', talk.handedOver(agentName)));
  session.on('toolCallStarted', ({ toolName, input }) => line('tool', talk.toolStarted(toolName, input)));
  session.on('toolCallCompleted', ({ toolName, output }) =>
    line('tool', talk.toolCompleted(toolName, output)),
  );
  session.on('toolCallFailed', ({ toolName, error }) => line('tool', talk.toolFailed(toolName, error)));
  session.on('turnCompleted', (turn) => change(({ turns }) => ({ turns: [...turns, turn] })));
  session.on('error', ({ code, message, cause }) => {
    line('error', message);
    const missing = code === 'mic_permission_denied' ? { missing: missingBy(reasonOf(cause)) } : {};
    change(() => ({ aloud: message, ...missing }));
  });
  session.on('disconnect', ({ reason }) => change(() => ({ over: talk.over(reason) })));
}

/** One conversation at a time; a new one starts with an empty state. */
export function useConversation() {
  const [state, setState] = useState(NOTHING);
  const current = useRef<AgentSession | undefined>(undefined);
  const change = (to: Change): void => setState((before) => ({ ...before, ...to(before) }));
  const start = (request: SessionRequest, sound: SoundOptions, tools: ClientTools = {}): void => {
    const session = (current.current = new AgentSession({ session: request, tools, ...sound }));
    setState({ ...NOTHING, session });
    follow(session, (to) => current.current === session && change(to));
    // Failures are reported by the `error` event.
    session.start().catch(() => undefined);
  };
  const write = async (text: string, audio: boolean): Promise<void> => {
    await current.current?.sendText(text, { audio });
    change(({ lines }) => ({
      lines: withLine(lines, { id: `line-${(counted += 1)}`, speaker: 'user', text }),
    }));
  };
  return { state, start, write, end: () => void current.current?.end() };
}
