/** The needs of a transport, what it gives, and the parts with which every call works, whatever carries it. */
import type { Clock } from '../../../contracts/clock.js';
import type { Log } from '../../../contracts/log.js';
import type { Admission } from '../../../contracts/ports/accounts/identity.js';
import type { Keeper } from '../../../contracts/ports/parts.js';
import type { KeptSpeech } from '../../../contracts/ports/speech/kept-speech.js';
import type { Speech, Transcription } from '../../../contracts/ports/speech/speech.js';
import type { PhoneDialling } from '../../../contracts/ports/phone/placed-calls.js';
import type { PhoneNumbers } from '../../../contracts/ports/phone/phone.js';
import type { NodeFigures } from '../../../contracts/ports/calls/nodes.js';
import type { SocketCalls } from '../../../contracts/ports/calls/socket-calls.js';
import type { SessionTransport } from '../../../contracts/ports/calls/transport.js';
import type { TurnsInUse } from '../../../contracts/ports/speech/turns.js';
import type { TurnModelInChild } from '../../../engines/turns/model-in-child.js';
import type { OwnNode } from '../../../storage/nodes.js';
import type { Children } from '../children.js';
import type { Config } from '../../config.js';
import type { CallMetrics } from '../../agents/calls/call-metrics.js';
import { ChatCalls } from '../../agents/calls/chat-calls.js';
import { createChatTokens } from '../../agents/calls/chat-tokens.js';
import type { CallParts } from '../../agents/calls/owned-call.js';
import type { TestCallParts } from '../../agents/calls/test-calls.js';
import { SpokenLines } from '../../agents/conversations/spoken-lines.js';
import type { openPlatform } from '../platform.js';
import type { HeldRecordings } from '../../agents/recordings/recordings.js';
import type { Metrics } from '../../server/system/metrics.js';
import type { Dialect } from '../../server/port.js';
import type { OpenSessions } from '../sessions.js';

export interface TransportOptions {
  readonly config: Config;
  readonly children: Pick<Children, 'pool'>;
  readonly sessions: Pick<OpenSessions, 'runs' | 'phone'>;
  readonly platform: Awaited<ReturnType<typeof openPlatform>>;
  readonly speech: Speech;
  readonly keptSpeech: KeptSpeech;
  readonly transcription: Transcription;
  readonly turns: TurnsInUse & Pick<TurnModelInChild, 'answers'>;
  readonly recordings: Pick<HeldRecordings, 'began'>;
  readonly admission: Pick<Admission, 'check' | 'use'>;
  /** Socket on which other processes of the installation relay signalling frames of this process's sessions. */
  readonly address: string;
  readonly processId: string;
  readonly installation: string;
  readonly node: Pick<OwnNode, 'held' | 'known' | 'list' | 'look'>;
  readonly keeper: Keeper;
  readonly clock: Clock;
  readonly log: Log;
}

export interface OpenTransport extends SessionTransport {
  readonly dialects: readonly Dialect[];
  /** Places phone calls. */
  readonly dialling: PhoneDialling;
  /** Phone numbers that receive calls by this transport. */
  readonly numbers: PhoneNumbers;
  /** This process's calls, which simulated callers can join; undefined in livekit mode. */
  readonly testable: Pick<TestCallParts, 'calls' | 'lines' | 'held'> | undefined;
  /** Calls by one WebSocket; undefined in livekit mode. */
  readonly socketCalls: SocketCalls | undefined;
  /** Figures of this process for other nodes. */
  figures(): NodeFigures;
  addMetrics(metrics: Metrics): void;
  /** Refuses new conversations, telephone calls once `refuses` settles, and ends those still running when `until` settles. */
  stop(until: Promise<unknown>, refuses: Promise<unknown>): Promise<void>;
  close(): Promise<void>;
}

/** The parts that every call works with. */
export function callParts(
  { config, sessions, platform, keptSpeech, ...rest }: TransportOptions,
  metrics: CallMetrics,
): CallParts {
  const { models } = platform;
  rest.log.info(models.named, 'agents think with');
  return {
    ...rest,
    held: rest.node.held,
    drafts: config.llmDrafts === 'on',
    metrics,
    models,
    lines: new SpokenLines(keptSpeech),
    tokens: platform.tokens,
    runs: sessions.runs,
    knowledge: platform.knowledge,
    outbound: platform.outbound,
    credentials: platform.tools,
    mcp: platform.mcp,
    agents: platform.versions,
  };
}

/** Chats of this process, whatever carries its calls. */
export const openChats = (parts: CallParts, { platform, admission }: TransportOptions): ChatCalls =>
  new ChatCalls({ ...parts, admission, chatTokens: createChatTokens(platform.secrets.key('chats')) });
