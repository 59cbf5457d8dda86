/**
 * The `denoise` child: noise reduction of speech before transcription (engines/denoising). Native code in a process
 * of its own: if it dies, the original audio is transcribed.
 */
import { loadGtcrn } from '../../engines/denoising/gtcrn.js';
import { denoiseJobs } from '../../engines/denoising/jobs.js';
import { serveAsChild } from '../../processes/child/child.js';

/** Streams at once, each with a model of its own: about 5 MB. */
const SLOTS = 8;
const KEPT_FOR_LIVE = 4;

await serveAsChild({
  handlers: denoiseJobs(() => loadGtcrn(process.env.DENOISER ?? '')),
  slots: SLOTS,
  keptForLive: KEPT_FOR_LIVE,
});
