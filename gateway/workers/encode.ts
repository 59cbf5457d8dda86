/**
 * The `encode` child: resampling and encoders, on node-av (docs/architecture.md "Processes"). A job spends its life
 * waiting for speech and holds 0.4 MB, so there are many slots to a child.
 */
import { encodeJobs } from '../../codecs/encode/jobs.js';
import { serveAsChild } from '../../processes/child/child.js';

const SLOTS = 256;
/** A stream leaves about 10 KiB in the heaps of its libraries, so a child is replaced, when it is idle, before that is 50 MB. */
const RETIRE_AFTER = 5000;

await serveAsChild({ handlers: encodeJobs, slots: SLOTS, retireAfter: RETIRE_AFTER });
