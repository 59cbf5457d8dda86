/**
 * The `turns` child: end-of-turn detection from audio (engines/turns). Native code in a process of its own: if it
 * dies, agents fall back on their tables. One job at a time and a short queue, because late answers are useless.
 */
import { turnJobs } from '../../engines/turns/jobs.js';
import { loadSmartTurn } from '../../engines/turns/smart-turn.js';
import { serveAsChild } from '../../processes/child/child.js';

const QUEUE = 8;

await serveAsChild({
  handlers: turnJobs(() => loadSmartTurn(process.env.TURN_MODEL ?? '')),
  slots: 1,
  queue: QUEUE,
});
