/**
 * The `turns` child, which listens for ends of users' turns (engines/turns). Native code in a process of its own: if it
 * dies, agents go by their tables. One job at a time; few may wait, as what takes longer is of no use.
 */
import { turnJobs } from '../../engines/turns/jobs.js';
import { loadSmartTurn } from '../../engines/turns/smart-turn.js';
import { serveAsChild } from '../../processes/child.js';

const QUEUE = 8;

await serveAsChild({
  handlers: turnJobs(() => loadSmartTurn(process.env.TURN_MODEL ?? '')),
  slots: 1,
  queue: QUEUE,
});
