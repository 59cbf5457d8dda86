/** What waits for the engines of this process: every scheduler adds to it, and the child tells its callers. */
import { WaitTally } from '../../contracts/wait-tally.js';

export const engineWaits = new WaitTally();
