/**
 * Waits for the engines of this process: every scheduler adds to it, and the child reports it to its callers. Short audio
 * counts twice: as a whole for its place, and for the model (engines/short-audio-queue.ts).
 */
import { WaitTally } from '../../contracts/time/wait-tally.js';

export const engineWaits = new WaitTally();
