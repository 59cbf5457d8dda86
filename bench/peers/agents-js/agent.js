/**
 * An agent of LiveKit's agents-js with everything as it comes, but for where it hears, thinks and speaks: at the servers that the
 * load tests name. Its recogniser gets whole utterances, as the gateway's socket takes no turn detection of OpenAI's; the
 * detectors of voice and of ends of turns are those that the package brings.
 */
import { fileURLToPath } from 'node:url';
import { cli, defineAgent, ServerOptions, voice } from '@livekit/agents';
import { LLM, STT, TTS } from '@livekit/agents-plugin-openai';

const { SPEECH_URL, SPEECH_KEY, MODEL_URL, WORKER_PORT } = process.env;

export default defineAgent({
  entry: async (job) => {
    const speech = { baseURL: SPEECH_URL, apiKey: SPEECH_KEY };
    const session = new voice.AgentSession({
      stt: new STT({ ...speech, model: 'whisper-1', useRealtime: false }),
      llm: new LLM({ baseURL: MODEL_URL, apiKey: 'none', model: 'bench' }),
      tts: new TTS({ ...speech, model: 'tts-1', voice: 'alloy' }),
    });
    await job.connect();
    await session.start({
      agent: new voice.Agent({ instructions: 'You answer questions.' }),
      room: job.room,
    });
  },
});

if (process.argv[1] === fileURLToPath(import.meta.url))
  cli.runApp(
    new ServerOptions({
      agent: fileURLToPath(import.meta.url),
      host: '127.0.0.1',
      port: Number(WORKER_PORT),
      numIdleProcesses: 1,
      initializeProcessTimeout: 60_000,
      // It starts and is given every call, on a machine that is busy, too: a server gives none to who says that it is.
      loadFunc: async () => 0,
    }),
  );
