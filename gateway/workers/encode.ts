/**
 * The `encode` child: resampling and encoders, on node-av (docs/architecture.md "Processes").
 */
import { JOB_PLACES } from '../../contracts/limits/job-places.js';
import { encodeJobs } from '../../codecs/encode/jobs.js';
import { serveAsChild } from '../../processes/child/child.js';

/** A stream leaves about 10 KiB in the heaps of its libraries, so a child is replaced, when it is idle, before that is 50 MB. */
const RETIRE_AFTER = 5000;

await serveAsChild({ handlers: encodeJobs, ...JOB_PLACES.encode, retireAfter: RETIRE_AFTER });
