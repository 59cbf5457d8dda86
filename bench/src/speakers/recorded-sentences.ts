/** The recorded people of the conversation scenario, as callers who say statements. */
import { wordsOf } from '../audio/level.js';
import { COLLECTIONS, type Collection } from '../scenarios/conversation/recorded-clips.js';
import { recordedSpeech } from '../scenarios/conversation/recorded-speech.js';
import type { Source, Speaker } from './speaker.js';

/** Which collection is said in which list: none in both. */
const OF_LIST = { judged: 'readings', tuning: 'address' } as const;

async function speakerOf(collection: Collection, given: string | undefined): Promise<Speaker> {
  const { sentence = [] } = await recordedSpeech(collection, given);
  const byText = new Map(sentence.map((recorded) => [recorded.text, wordsOf(recorded.pcm)]));
  return {
    name: collection.name,
    source: `${collection.speech}, ${collection.package}`,
    origin: 'recorded',
    version: collection.package,
    pitch: 0,
    texts: { statements: [...byText.keys()] },
    async say(text) {
      const samples = byText.get(text);
      if (samples === undefined) throw new Error(`"${text}" was not recorded`);
      return samples;
    },
  };
}

/** `folder`: of the readings, where they are no package of the system. */
export async function recordedSentencesSource(
  list: keyof typeof OF_LIST,
  folder: string | undefined,
): Promise<Source> {
  const collection = COLLECTIONS.find(({ name }) => name === OF_LIST[list])!;
  const name = 'Recorded sentences';
  try {
    return { name, speakers: [await speakerOf(collection, folder)] };
  } catch (error) {
    return { name, speakers: [], missing: `no ${collection.package}: ${(error as Error).message}` };
  }
}
