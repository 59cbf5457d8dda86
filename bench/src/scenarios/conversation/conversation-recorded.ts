/** Conversations with recorded human speech, which give figures of their own beside those of a synthetic voice. */
import type { Step } from '../../calls/dialogue.js';
import type { Recordings } from '../call-load.js';
import type { Context } from '../context.js';
import { measurePart, type Subject, type Trials } from './conversation-parts.js';
import { RECORDED_STEPS, type RecordedPartName } from './conversation-texts.js';
import { type Collection, COLLECTIONS } from './recorded-clips.js';
import { recordedSpeech } from './recorded-speech.js';

/** Collections of recorded speech, and the steps of the conversations with them. */
export interface RecordedSpeech {
  readonly collections: readonly Collection[];
  readonly parts: Readonly<Record<RecordedPartName, readonly Step[]>>;
}

export const RECORDED: RecordedSpeech = { collections: COLLECTIONS, parts: RECORDED_STEPS };

/** The recordings of a collection; undefined if they are not available, and then `figure` is withheld and says why. */
async function found(
  context: Context,
  collection: Collection,
  figure: string,
): Promise<Recordings | undefined> {
  try {
    return await recordedSpeech(collection, context.options.readings);
  } catch (error) {
    const reason = (error as Error).message;
    const withheld = `there is no ${collection.package}, see "Recorded people" in bench/README.md: ${reason}`;
    context.add({ name: figure, subject: 'gateway', unit: '%', n: 0, value: null, withheld });
    return undefined;
  }
}

/** `synthetic`: the other clips of these conversations. The subjects are measured one after the other, part by part. */
export async function measureRecorded(
  context: Context,
  subjects: readonly Subject[],
  trials: Trials,
  { collections, parts }: RecordedSpeech,
  synthetic: Recordings,
): Promise<void> {
  for (const collection of collections) {
    const prefix = `${trials.prefix}.recorded.${collection.name}`;
    const recorded = await found(context, collection, `${prefix}.cut_offs`);
    if (recorded === undefined) continue;
    noteClips(context, recorded);
    for (const [name, steps] of Object.entries(parts))
      for (const subject of subjects)
        await measurePart(context, subject, { ...trials, prefix }, name as RecordedPartName, steps, {
          ...synthetic,
          ...recorded,
        });
  }
}

/** Lists the clips in the report, each with its origin. */
export function noteClips(context: Context, recordings: Recordings): void {
  for (const [name, takes] of Object.entries(recordings))
    context.noteClips(...takes.map(({ text, origin, source }) => ({ name, text, origin, source })));
}
