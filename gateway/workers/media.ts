/**
 * The `media` children (design.md "Processes"): WebRTC, Opus, pacing and voice activity of the calls that are on them.
 * `MEDIA` is their network as JSON (gateway/media.ts), `MODELS_DIR` the folder of the model files.
 */
import { createDetectors } from '../../engines/backends/silero/detector.js';
import type { VoiceDetector } from '../../media/ears.js';
import { callJobs } from '../../media/embedded/serve-call.js';
import { freePort } from '../../media/embedded/free-port.js';
import { loudnessDetector } from '../../media/loudness.js';
import { Pacer } from '../../media/pacer.js';
import { childPlace, serveAsChild } from '../../processes/child.js';
import type { MediaSettings } from '../media.js';

/** Calls at once: more than a core carries, so that admission refuses before this does. */
const SLOTS = 512;

const settings = JSON.parse(process.env['MEDIA'] ?? '{}') as MediaSettings;
const wanted = settings.basePort === 0 ? 0 : settings.basePort + childPlace().index;
const port = await freePort(wanted, settings.bind);
if (wanted !== 0 && port !== wanted)
  console.error(`UDP port ${wanted} is taken: calls use ${port}, set MEDIA_UDP_PORT to choose another`);
/** The model is loaded by the first call. */
let voices: (() => VoiceDetector) | undefined;
const detectors = {
  voices: () => (voices ??= createDetectors(process.env['MODELS_DIR'] || undefined))(),
  loudness: loudnessDetector,
};
const pacer = new Pacer();
const { complexity, detector: kind, recordings, ...network } = settings;
const detector = detectors[kind];
await serveAsChild({
  handlers: callJobs({ network: { ...network, port }, pacer, complexity, detector, recordings }),
  slots: SLOTS,
});
