/**
 * When a partial transcript of a stretch is made. Each one reads the stretch from its beginning, and is most of what a recogniser costs,
 * so there are few where nobody waits for the words while they are spoken.
 */
import { RECOGNITION_RATE } from '../../../../contracts/audio.js';
import type { Stretch } from './stretch.js';

interface Distances {
  /** Seconds of audio before the first one, and the least before each next one. */
  readonly first: number;
  readonly least: number;
  /** Or so much of what the last one read, if that is more: the longer a stretch is, the further they are apart. */
  readonly growth: number;
}

const DISTANCES = {
  /** Words may interrupt an agent, withdraw its answer, or be shown as they are spoken. */
  awaited: { first: 0.6, least: 0.6, growth: 0.5 },
  /** The user has the floor, and may have made but a noise: soon nothing waits for that any more. Most questions are over before. */
  wordless: { first: 2.4, least: 0.6, growth: 0.25 },
  /** The user has the floor, and speaks: whether they still say something. */
  spoken: { first: 2.4, least: 2.4, growth: 1 },
} satisfies Readonly<Record<string, Distances>>;

/** The longest stretch that gets any: interruptions are judged by their start. */
const LONGEST = 12 * RECOGNITION_RATE;

type Heard = Pick<Stretch, 'samples' | 'interimAt' | 'isAwaited' | 'text'>;

function distancesOf({ isAwaited, text }: Heard): Distances {
  if (isAwaited) return DISTANCES.awaited;
  return text === '' ? DISTANCES.wordless : DISTANCES.spoken;
}

/** Whether the next partial transcript is due. */
export function isInterimDue(heard: Heard): boolean {
  const { samples, interimAt } = heard;
  const { first, least, growth } = distancesOf(heard);
  const distance = Math.max((interimAt === 0 ? first : least) * RECOGNITION_RATE, interimAt * growth);
  return samples - interimAt >= distance && samples <= LONGEST;
}
