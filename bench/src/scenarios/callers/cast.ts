/** Who calls: the speakers of all sources that this machine has, and what is missing. */
import type { Server } from '../../servers/server.js';
import { espeakSource } from '../../speakers/espeak.js';
import { festivalSource } from '../../speakers/festival.js';
import { addedSource, fliteSource } from '../../speakers/gateway-voices.js';
import { ownSource } from '../../speakers/own-recordings.js';
import { recordedPartsSource } from '../../speakers/recorded-parts.js';
import { recordedSentencesSource } from '../../speakers/recorded-sentences.js';
import type { Source, Speaker, Texts } from '../../speakers/speaker.js';

/** Synthetic voices that call, the first ones of all: more would take longer than fifteen minutes. */
const MOST_VOICES = 8;

export interface Cast {
  readonly speakers: readonly Speaker[];
  /** A line for each source that is missing or of which some are left out. */
  readonly remarks: readonly string[];
}

export interface Wanted {
  readonly list: 'judged' | 'tuning';
  readonly texts: Texts;
  readonly checkout: string;
  /** Folder of the user's own recordings. */
  readonly own: string | undefined;
  /** Folder of recorded readings, as `--readings` says. */
  readonly readings: string | undefined;
}

/** `server` has the voices of Flite and of added models. */
export async function castOf(
  server: Server,
  { list, texts, checkout, own, readings }: Wanted,
): Promise<Cast> {
  const voices: readonly Source[] = [
    await addedSource(server, checkout),
    await fliteSource(server, checkout),
    festivalSource(),
    await espeakSource(checkout),
  ];
  const people: readonly Source[] = [
    recordedPartsSource(texts),
    await recordedSentencesSource(list, readings),
    ...(own === undefined ? [] : [ownSource(own)]),
  ];
  const all = voices.flatMap(({ speakers }) => speakers);
  const left = all.slice(MOST_VOICES).map(({ name }) => name);
  const missing = [...voices, ...people].flatMap(({ name, missing: why }) =>
    why === undefined ? [] : [`no ${name}: ${why}`],
  );
  return {
    speakers: [...all.slice(0, MOST_VOICES), ...people.flatMap(({ speakers }) => speakers)],
    remarks: [
      ...missing,
      ...(left.length === 0 ? [] : [`left out, as eight voices call: ${left.join(', ')}`]),
    ],
  };
}
