/**
 * The `espeak` child: eSpeak NG is under the GPL-3, so it runs in this process and no other. It is loaded
 * before the child takes work, and warmed up behind that; Japanese loads its dictionary when it is first
 * spoken.
 */
import { JOB_PLACES } from '../../contracts/limits/job-places.js';
import { createEspeak } from '../../engines/backends/espeak/index.js';
import { engineWaits } from '../../engines/scheduling/engine-waits.js';
import { speechJobs } from '../../engines/serve-speech.js';
import { serveAsChild } from '../../processes/child/child.js';

const espeak = await createEspeak();
await serveAsChild({
  engineWaits,
  handlers: speechJobs({ tts: [espeak], stt: [] }),
  ...JOB_PLACES.espeak,
});
const hello = { text: 'Hello.', voice: 'en-us', language: 'en', speed: 1, timing: true } as const;
for await (const event of espeak.synthesize(hello, new AbortController().signal)) void event;
