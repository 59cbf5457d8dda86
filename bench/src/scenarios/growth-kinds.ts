/** Kinds of work whose cost is followed as it grows: scenarios whose load can be searched. */
import { type Phase, requestsIn, secondsOf } from '../measure/phase.js';
import { APPENDS_A_SECOND } from '../programs/realtime.js';
import conversation, { questions } from './conversation/conversation.js';
import phone from './phone.js';
import platform from './platform.js';
import realtime from './realtime.js';
import type { Scenario, Search } from './scenario.js';
import speech from './speech/speech.js';
import { live } from './speech/speech-sockets.js';
import transcription from './transcription.js';

/** How much work a phase was: requests, or seconds of what stays open. */
type Work = (phase: Phase, load: number) => number;

export interface Searchable extends Pick<Scenario, 'parameters' | 'environment'> {
  readonly search: Search<unknown>;
  /** The reading whose p95 is told. */
  readonly reading: string;
  readonly work: Work;
}

function searchable(
  { name, search, parameters, environment }: Scenario,
  reading: string,
  work: Work = requestsIn,
): Searchable {
  if (search === undefined) throw new Error(`${name} has no load to search`);
  return { search, parameters, reading, work, ...(environment && { environment }) };
}

export const SCENARIO_KINDS: Readonly<Record<string, Searchable>> = {
  speech: searchable(speech, 'e2e'),
  live: searchable(live, 'ttfa'),
  transcription: searchable(transcription, 'e2e'),
  calls: {
    ...searchable(conversation, 'answer', (phase, calls) => calls * secondsOf(phase)),
    // From fewer on the curve would take five minutes more.
    search: { ...questions, first: 10 },
  },
  phone: searchable(phone, 'answer', (phase, calls) => calls * secondsOf(phase)),
  sockets: searchable(realtime, 'commit', (phase) => requestsIn(phase) / APPENDS_A_SECOND),
  sessions: searchable(platform, 'e2e'),
};
