/** one-api, with SQLite and its caches on: `one-api` on PATH, or ONE_API. */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import { untilReady } from '../peers.js';
import { startProgram } from '../program.js';
import type { Rival } from './rival.js';

/** Its number of OpenAI's kind of channels. */
const OPENAI = 1;
const CACHED_WITHIN_MS = 15_000;
const NO_LIMIT = '1000000000';

/** Errors: one with its answer. */
async function addChannel(origin: string, token: string, engine: string): Promise<void> {
  const answer = await fetch(`${origin}/api/channel/`, {
    method: 'POST',
    headers: { authorization: token, 'content-type': 'application/json' },
    body: JSON.stringify({
      ...{ name: 'engine', type: OPENAI, key: 'none', base_url: engine },
      ...{ models: 'tts-1,whisper-1', group: 'default', groups: ['default'] },
    }),
  });
  const told = (await answer.json()) as { readonly success?: boolean };
  if (told.success !== true) throw new Error(`one-api takes no channel: ${JSON.stringify(told)}`);
}

/** Whether the channel is in its cache already, which it fills each second. */
const speaks = (origin: string, key: string) => async (): Promise<boolean> => {
  const answer = await fetch(`${origin}/v1/audio/speech`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'tts-1', voice: 'alloy', input: 'A', response_format: 'pcm' }),
  });
  await answer.body?.cancel();
  return answer.status !== 503;
};

export const oneApi: Rival = {
  id: 'one-api',
  start(engine) {
    const [secret, token] = [randomBytes(24).toString('hex'), randomBytes(16).toString('hex')];
    const key = `sk-${secret}`;
    return startProgram({
      name: 'one-api',
      key,
      start: (port, folder) => ({
        command: process.env['ONE_API'] || 'one-api',
        args: ['--port', String(port), '--log-dir', folder],
        env: {
          SQLITE_PATH: path.join(folder, 'one-api.db'),
          INITIAL_ROOT_TOKEN: secret,
          INITIAL_ROOT_ACCESS_TOKEN: token,
          MEMORY_CACHE_ENABLED: 'true',
          SYNC_FREQUENCY: '1',
          BATCH_UPDATE_ENABLED: 'true',
          GLOBAL_API_RATE_LIMIT: NO_LIMIT,
          GLOBAL_WEB_RATE_LIMIT: NO_LIMIT,
        },
      }),
      async prepare(origin) {
        await addChannel(origin, token, engine);
        await untilReady('one-api’s channel', speaks(origin, key), () => false, CACHED_WITHIN_MS);
      },
    });
  },
};
