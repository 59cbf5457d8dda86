/**
 * LiveKit's agents-js as a peer: an agent of its quick start, as its users run it, in rooms of a LiveKit server. It hears and
 * speaks with the engines of a gateway, in OpenAI's dialect, and so differs in how it takes turns alone.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { installed } from '../packages.js';
import { freePort } from './free-port.js';
import type { LivekitServer } from './livekit.js';
import { untilReady } from './peers.js';
import type { Server } from './server.js';

const STARTS_WITHIN_MS = 60_000;

export interface AgentsJs {
  /** How figures name it. */
  readonly name: string;
  stop(): Promise<void>;
}

const isHealthy = (origin: string) => (): Promise<boolean> =>
  fetch(origin).then(
    ({ ok, body }) => body?.cancel().then(() => ok) ?? ok,
    () => false,
  );

/** `model`: the address of a language model, with its /v1. Throws Error where it cannot be installed or does not start. */
export async function startAgentsJs(
  { url, key, secret }: LivekitServer,
  speech: Pick<Server, 'openai' | 'key'>,
  model: string,
): Promise<AgentsJs> {
  const cwd = await installed('peers/agents-js');
  const port = await freePort();
  const child = spawn(process.execPath, ['agent.js', 'start'], {
    cwd,
    // It has children of its own, which end with the group.
    detached: true,
    env: {
      ...process.env,
      NODE_OPTIONS: '',
      NODE_ENV: 'production',
      LOG_LEVEL: 'error',
      LIVEKIT_URL: url,
      LIVEKIT_API_KEY: key,
      LIVEKIT_API_SECRET: secret,
      WORKER_PORT: String(port),
      MODEL_URL: model,
      SPEECH_URL: speech.openai ?? '',
      SPEECH_KEY: speech.key,
    },
    stdio: 'ignore',
  });
  const exited = once(child, 'exit');
  const stop = async (): Promise<void> => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
    await exited;
  };
  try {
    const hasEnded = (): boolean => child.exitCode !== null;
    await untilReady('agents-js', isHealthy(`http://127.0.0.1:${port}`), hasEnded, STARTS_WITHIN_MS);
  } catch (error) {
    await stop();
    throw error;
  }
  return { name: 'agents-js', stop };
}
