/**
 * The `turns` child: end-of-turn detection from audio (engines/turns). Native code in a process of its own: if it
 * dies, agents fall back on their tables.
 */
import { JOB_PLACES } from '../../contracts/limits/job-places.js';
import { turnJobs } from '../../engines/turns/jobs.js';
import { loadSmartTurn } from '../../engines/turns/smart-turn.js';
import { serveAsChild } from '../../processes/child/child.js';

await serveAsChild({
  handlers: turnJobs(() => loadSmartTurn(process.env.TURN_MODEL ?? '')),
  ...JOB_PLACES.turns,
});
