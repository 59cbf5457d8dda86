/**
 * What waits for the engines of this process: every scheduler adds to it, and the child tells its callers. Short audio is
 * told of twice: as a whole for its place, and for the model (short-audio-queue.ts).
 */
import { WaitTally } from '../../contracts/wait-tally.js';

export const engineWaits = new WaitTally();
