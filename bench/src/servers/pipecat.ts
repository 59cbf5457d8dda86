/**
 * Pipecat as a peer: an agent of its quick start, as its users run it, whom callers reach by its SmallWebRTC transport. It hears and
 * speaks with the engines of a gateway, in OpenAI's dialect, and so differs in how it takes turns alone.
 */
import { fileURLToPath } from 'node:url';
import type { Invite } from './agents.js';
import { startProgram } from './program.js';
import type { Server } from './server.js';

const AGENT = fileURLToPath(new URL('../../../peers/pipecat/agent.py', import.meta.url));
/** It imports half a thousand modules, and a model. */
const STARTS_WITHIN_MS = 120_000;

/** `model`: the address of a language model, with its /v1. Throws Error where it is not installed or does not start. */
export const startPipecat = (speech: Pick<Server, 'openai' | 'key'>, model: string): Promise<Server> =>
  startProgram({
    name: 'Pipecat',
    startsWithinMs: STARTS_WITHIN_MS,
    start: (port) => ({
      command: process.env['PIPECAT'] || 'python3',
      args: [AGENT, '--transport', 'webrtc', '--host', '127.0.0.1', '--port', String(port)],
      env: { MODEL_URL: model, SPEECH_URL: speech.openai ?? '', SPEECH_KEY: speech.key },
    }),
  });

/** Where a caller's offer is answered. */
export const inviteToPipecat = ({ origin }: Pick<Server, 'origin'>, call: string): Invite => ({
  session_id: call,
  media_url: `${origin}/api/offer`,
  token: '',
  by: 'offer',
});
