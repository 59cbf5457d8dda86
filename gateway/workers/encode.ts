/**
 * The `encode` child: resampling and encoders, on node-av (docs/architecture.md "Processes"). A job spends its life
 * waiting for speech and holds 0.4 MB, so there are many slots to a child.
 */
import { encodeJobs } from '../../codecs/encode/jobs.js';
import { serveAsChild } from '../../processes/child/child.js';

const SLOTS = 256;
const KEPT_FOR_LIVE = 64;

await serveAsChild({ handlers: encodeJobs, slots: SLOTS, keptForLive: KEPT_FOR_LIVE });
