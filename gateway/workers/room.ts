/**
 * The `room` children (design.md "Processes"): agents in rooms of a LiveKit server. The native library leaks and takes
 * many threads a room, so a child holds few rooms, queues none, and makes place for a fresh one after a while.
 * `ROOMS` is what it is told as JSON (gateway/media.ts), `MODELS_DIR` the folder of the model files.
 */
import { createDetectors } from '../../engines/backends/silero/detector.js';
import type { VoiceDetector } from '../../media/ears.js';
import { roomJobs } from '../../media/livekit/serve-room.js';
import { loudnessDetector } from '../../media/loudness.js';
import { Pacer } from '../../media/pacer.js';
import { serveAsChild } from '../../processes/child.js';
import type { RoomSettings } from '../media.js';

const settings = JSON.parse(process.env['ROOMS'] ?? '{}') as RoomSettings;
const { slots, retireAfter, complexity, recordings, detector: kind } = settings;
/** The model is loaded by the first room. */
let voices: (() => VoiceDetector) | undefined;
const detectors = {
  voices: () => (voices ??= createDetectors(process.env['MODELS_DIR'] || undefined))(),
  loudness: loudnessDetector,
};
const detector = detectors[kind];
await serveAsChild({
  handlers: roomJobs({ pacer: new Pacer(), complexity, recordings, detector }),
  slots,
  queue: 0,
  retireAfter,
});
