/** The scenarios, in the order in which they run. */
import callers from './callers/callers.js';
import codecs from './codecs.js';
import conversation from './conversation/conversation.js';
import conversationPeers from './conversation/conversation-peers.js';
import endedCalls from './ended-calls.js';
import engines from './engines.js';
import fairness from './fairness.js';
import faults from './faults.js';
import growth from './growth.js';
import bargeIn from './barge-in.js';
import joins from './joins.js';
import knowledge from './knowledge/knowledge.js';
import phone from './phone.js';
import platform from './platform.js';
import realtime from './realtime.js';
import rivals from './rivals.js';
import type { Scenario } from './scenario.js';
import speech from './speech/speech.js';
import silentCalls from './silent-calls.js';
import soak from './soak.js';
import { live, streamInput } from './speech/speech-sockets.js';
import startup from './startup.js';
import transcription from './transcription.js';
import upload from './upload.js';
import voices from './voices.js';
import workers from './workers.js';

export const SCENARIOS: readonly Scenario[] = [
  speech,
  rivals,
  live,
  streamInput,
  transcription,
  upload,
  realtime,
  fairness,
  engines,
  voices,
  codecs,
  conversation,
  conversationPeers,
  bargeIn,
  callers,
  joins,
  phone,
  silentCalls,
  endedCalls,
  platform,
  knowledge,
  workers,
  startup,
  faults,
  growth,
  soak,
];
