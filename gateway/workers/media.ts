/**
 * The `media` children (docs/architecture.md "Processes"): WebRTC, Opus, pacing and voice activity of the calls that are on them.
 * `MEDIA` is their network as JSON (gateway/calls/media-settings.ts), `MODELS_DIR` the folder of the model files.
 */
import { JOB_PLACES } from '../../contracts/limits/job-places.js';
import { systemClock } from '../../contracts/clock.js';
import { callerJobs } from '../../media/embedded/caller/serve-caller.js';
import { callJobs } from '../../media/embedded/serve-call.js';
import { holdPort } from '../../media/embedded/udp-port.js';
import { Pacer } from '../../media/pacer.js';
import { phoneJobs } from '../../media/phone/serve-phone.js';
import { childPlace, serveAsChild } from '../../processes/child/child.js';
import type { MediaSettings } from '../calls/media-settings.js';
import { DETECTORS } from './detectors.js';

const settings = JSON.parse(process.env['MEDIA'] ?? '{}') as MediaSettings;
const wanted = settings.basePort === 0 ? 0 : settings.basePort + childPlace().index;
const port = await holdPort(wanted, settings.bind);
if (wanted !== 0 && port !== wanted)
  console.error(
    `UDP port ${wanted} is taken by another process: calls use ${port}. Set MEDIA_UDP_PORT to one that is free and open in the firewall`,
  );
const pacer = new Pacer();
const { complexity, detector: kind, recordings, ...network } = settings;
const detector = DETECTORS[kind];
const parts = { pacer, clock: systemClock, complexity, detector, recordings };
await serveAsChild({
  handlers: {
    ...callJobs({ ...parts, network: { ...network, port } }),
    ...phoneJobs(parts),
    ...callerJobs(pacer),
  },
  ...JOB_PLACES.media,
});
