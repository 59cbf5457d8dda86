/** What a session makes of the news of its call (session.ts): the voice of both sides, their words, and the messages to its client. */
import { ServiceError } from '../../../contracts/errors.js';
import type { CallNews, SocketCall } from '../../../contracts/ports/calls/socket-calls.js';
import type { PlainObject } from '../../../contracts/schemas/plain-object.js';
import { Fault } from '../protocol-a/realtime/faults.js';
import { bringTyped } from './client-events.js';
import type { SessionState } from './state.js';

/** What a call is closed with, as its client reads it. */
const LONGEST = 'conversation_timeout';

export interface NewsHost extends SessionState {
  readonly call: SocketCall | undefined;
  /** What the agent does. */
  state: string;
  /** Why the call has ended, if it was told. */
  endedFor: string | undefined;
  /** Tells all connections. */
  refuse(error: unknown): void;
}

type NewsHandlers = {
  readonly [On in CallNews['on']]: (news: Extract<CallNews, { readonly on: On }>) => void;
};

const handlersOf = (host: NewsHost): NewsHandlers => ({
  voice: ({ active, at }) => {
    if (active && host.call) bringTyped(host, host.call);
    host.turns.voice(active, host.answers.isActive, at);
  },
  made: (news) => host.answers.made(news),
  // This client gets the words as they are heard.
  written: () => undefined,
  playing: (news) => host.answers.hears(news),
  heard: (news) => host.answers.heard(news),
  cleared: () => {
    if (host.answers.isActive && !host.answers.isCancelled) host.turns.interrupted();
    host.answers.cleared();
  },
  resumed: () => host.turns.resumed(),
  state: ({ state }) => {
    host.state = state;
    if (state === 'listening') host.answers.rests();
    else host.answers.begin();
  },
  text: ({ text: { speaker, text, final } }) => {
    if (speaker === 'agent') host.answers.words(text);
    else if (final) host.turns.words(text);
  },
  message: ({ message }) => MESSAGES[String(message['type'])]?.(host, message),
});

/** Messages that this client is told of in another form; the others are not for it. */
const MESSAGES: Readonly<Record<string, (host: NewsHost, message: PlainObject) => void>> = {
  'client_tool.call': (host, { callId, toolName, params }) => {
    host.calls.add(String(callId));
    host.answers.call(String(callId), String(toolName), params as PlainObject);
  },
  error: (host, { code }) =>
    host.refuse(
      new ServiceError('engine_failed', { message: `The agent could not answer: ${String(code)}` }),
    ),
  'message.dropped': (host, { reason }) =>
    host.refuse(new ServiceError('rate_limited', { message: `An event had no effect: ${String(reason)}` })),
  'session.ended': (host, { reason }) => {
    host.endedFor = String(reason);
    if (reason === LONGEST) host.refuse(new Fault('session_expired'));
  },
};

/** Takes the news of the call of that session. */
export function newsOf(host: NewsHost): (news: CallNews) => void {
  const handlers = handlersOf(host);
  return (news) => (handlers[news.on] as (news: CallNews) => void)(news);
}
