/**
 * The `encode` child: resampling and encoders, on node-av (docs/architecture.md "Processes").
 */
import { JOB_PLACES } from '../../contracts/limits/job-places.js';
import { encodeJobs } from '../../codecs/encode/jobs.js';
import { serveAsChild } from '../../processes/child/child.js';

await serveAsChild({ handlers: encodeJobs, ...JOB_PLACES.encode });
