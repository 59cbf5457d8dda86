/** Kinds of work whose cost is followed as it grows: scenarios whose load can be searched. */
import conversation from './conversation/conversation.js';
import type { Scenario, Search } from './scenario.js';
import speech from './speech/speech.js';
import transcription from './transcription.js';

export interface Searchable extends Pick<Scenario, 'parameters' | 'environment'> {
  readonly search: Search<unknown>;
  /** The reading whose p95 is told. */
  readonly reading: string;
}

function searchable({ name, search, parameters, environment }: Scenario, reading: string): Searchable {
  if (search === undefined) throw new Error(`${name} has no load to search`);
  return { search, parameters, reading, ...(environment && { environment }) };
}

export const SCENARIO_KINDS: Readonly<Record<string, Searchable>> = {
  speech: searchable(speech, 'e2e'),
  transcription: searchable(transcription, 'e2e'),
  calls: searchable(conversation, 'answer'),
};
