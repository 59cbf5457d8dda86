/**
 * The `room` children (docs/architecture.md "Processes"): agents in rooms of a LiveKit server. The native library leaks and takes
 * many threads per room, so a child holds few rooms, queues none, and is replaced after a while; a workspace alone may have all of them.
 * `ROOMS` holds its settings as JSON (gateway/agents/calls/media-settings.ts), `MODELS_DIR` the folder of the model files.
 */
import { systemClock } from '../../contracts/clock.js';
import { roomJobs } from '../../media/livekit/serve-room.js';
import { Pacer } from '../../media/pacer.js';
import { serveAsChild } from '../../processes/child/child.js';
import type { RoomSettings } from '../agents/calls/media-settings.js';
import { DETECTORS, prepare } from './detectors.js';

const settings = JSON.parse(process.env['ROOMS'] ?? '{}') as RoomSettings;
const { slots, retireAfter, complexity, recordings, detector: kind } = settings;
const detector = DETECTORS[kind];
await serveAsChild({
  handlers: roomJobs({ pacer: new Pacer(), clock: systemClock, complexity, recordings, detector }),
  slots,
  queue: 0,
  share: 1,
  retireAfter,
});
prepare(kind);
