/**
 * The `denoise` child: noise reduction of speech before transcription (engines/denoising). Native code in a process
 * of its own: if it dies, the original audio is transcribed.
 */
import { JOB_PLACES } from '../../contracts/limits/job-places.js';
import { loadGtcrn } from '../../engines/denoising/gtcrn.js';
import { denoiseJobs } from '../../engines/denoising/jobs.js';
import { serveAsChild } from '../../processes/child/child.js';

await serveAsChild({
  handlers: denoiseJobs(() => loadGtcrn(process.env.DENOISER ?? '')),
  ...JOB_PLACES.denoise,
});
