/**
 * Waits for the engines of this process: every scheduler adds to it, and the child reports it to its callers. Short audio
 * counts twice: as a whole for its place, and for the model (engines/short-audio-queue.ts).
 */
import { WaitCounter } from '../../contracts/time/wait-counter.js';

export const engineWaits = new WaitCounter();
