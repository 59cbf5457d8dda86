/** What a caller heard of the agent, counted in the received audio: utterances, with their words and the silences between them. */
import { AUDIBLE, type Caller, CALLER_RATE } from '../../fixtures/calls/caller.js';
import { atRecognitionRate } from '../../../engines/resampling.js';
import { readTones } from './doubles/speech.js';

const FRAME_MS = 20;
/** Silence within one utterance: between two sentences that follow each other. */
const WITHIN_MS = 350;

export interface Utterance {
  /** Milliseconds of `performance.now()`. */
  readonly from: number;
  readonly to: number;
  /** Its words; empty if it was cut off in the middle of its only sentence. */
  readonly text: string;
}

interface Sound {
  readonly first: number;
  readonly last: number;
}

/** Stretches of sound, by the numbers of their frames. */
function soundsIn({ heard }: Caller, since: number): readonly Sound[] {
  const sounds: { first: number; last: number }[] = [];
  heard.forEach(({ at, level }, number) => {
    if (at < since || level <= AUDIBLE) return;
    const present = sounds.at(-1);
    const before = present && heard[present.last]?.at;
    if (present && before !== undefined && at - before <= WITHIN_MS) present.last = number;
    else sounds.push({ first: number, last: number });
  });
  return sounds;
}

async function wordsOf({ pcm }: Caller, { first, last }: Sound): Promise<string> {
  async function* samples(): AsyncGenerator<Int16Array> {
    yield* pcm.slice(Math.max(0, first - 2), last + 6);
  }
  return readTones(atRecognitionRate(samples(), CALLER_RATE));
}

/** All that was heard since that moment. */
export async function utterancesOf(caller: Caller, since: number): Promise<readonly Utterance[]> {
  const at = (frame: number): number => caller.heard[frame]?.at ?? since;
  return Promise.all(
    soundsIn(caller, since).map(async (sound) => ({
      from: at(sound.first),
      to: at(sound.last) + FRAME_MS,
      text: await wordsOf(caller, sound),
    })),
  );
}
