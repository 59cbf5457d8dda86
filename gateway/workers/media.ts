/**
 * The `media` children (docs/architecture.md "Processes"): WebRTC, Opus, pacing and voice activity of the calls that are on them.
 * `MEDIA` is their network as JSON (gateway/agents/calls/media-settings.ts), `MODELS_DIR` the folder of the model files.
 */
import { JOB_PLACES, SWOLLEN_MEDIA } from '../../contracts/limits/job-places.js';
import { systemClock } from '../../contracts/clock.js';
import { callerJobs } from '../../media/embedded/caller/serve-caller.js';
import { callJobs } from '../../media/embedded/serve-call.js';
import { offeredJobs } from '../../media/embedded/serve-offered.js';
import { RelayedPort } from '../../media/embedded/relayed-port.js';
import { holdPort } from '../../media/embedded/udp-port.js';
import { Pacer } from '../../media/pacer.js';
import { phoneJobs } from '../../media/phone/serve-phone.js';
import { childPlace, serveAsChild } from '../../processes/child/child.js';
import type { MediaSettings } from '../agents/calls/media-settings.js';
import { DETECTORS, prepare } from './detectors.js';

/** The port of this worker, counted from that of the first. */
const portOf = (base: number): number => (base === 0 ? 0 : base + childPlace().index);

function told(wanted: number, port: number): void {
  if (wanted === 0 || port === wanted) return;
  console.error(
    `UDP port ${wanted} is taken by another process: calls use ${port}. Set MEDIA_UDP_PORT to one that is free and open in the firewall`,
  );
}

const settings = JSON.parse(process.env['MEDIA'] ?? '{}') as MediaSettings;
const wanted = portOf(settings.basePort);
const port = await holdPort(wanted, settings.bind);
told(wanted, port);

/** The port for clients that come by TURN over TCP or TLS. */
async function openRelayed(base: number): Promise<RelayedPort> {
  const relayed = await RelayedPort.open({
    wanted: portOf(base),
    bind: settings.bind,
    to: port,
    clock: systemClock,
  });
  told(portOf(base), relayed.port);
  return relayed;
}

const pacer = new Pacer();
const { complexity, detector: kind, recordings, relayedBase, ...network } = settings;
const relayed = relayedBase === undefined ? {} : { relayed: await openRelayed(relayedBase) };
const detector = DETECTORS[kind];
const parts = { pacer, clock: systemClock, complexity, detector, recordings };
const connecting = { ...parts, network: { ...network, port, ...relayed } };
let ownBytes = Infinity;
const isSwollen = (): boolean => process.memoryUsage.rss() - ownBytes > SWOLLEN_MEDIA.bytes;
await serveAsChild({
  handlers: {
    ...callJobs(connecting),
    ...offeredJobs(connecting),
    ...phoneJobs(parts),
    ...callerJobs(pacer),
  },
  ...JOB_PLACES.media,
  // glibc gives little back of what the WebRTC library has freed: 0.3 MB a connection at once, and V8 keeps its heap.
  idleRetirement: { afterMs: SWOLLEN_MEDIA.idleMs, isDue: isSwollen },
});
prepare(kind);
ownBytes = process.memoryUsage.rss();
