/** LiteLLM's proxy, one worker: `litellm` on PATH, or LITELLM (`pip install 'litellm[proxy]'`). */
import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { startProgram } from '../program.js';
import type { Rival } from './rival.js';

const STARTS_WITHIN_MS = 120_000;

/** YAML is a superset of JSON. */
const configOf = (engine: string): string =>
  JSON.stringify({
    model_list: ['tts-1', 'whisper-1'].map((model) => ({
      model_name: model,
      litellm_params: { model: `openai/${model}`, api_base: `${engine}/v1`, api_key: 'none' },
    })),
  });

export const litellm: Rival = {
  id: 'litellm',
  start(engine) {
    const key = `sk-${randomBytes(24).toString('hex')}`;
    return startProgram({
      name: 'LiteLLM',
      key,
      startsWithinMs: STARTS_WITHIN_MS,
      async start(port, folder) {
        const config = path.join(folder, 'config.yaml');
        await writeFile(config, configOf(engine));
        return {
          command: process.env['LITELLM'] || 'litellm',
          args: ['--config', config, '--host', '127.0.0.1', '--port', String(port), '--num_workers', '1'],
          env: { LITELLM_LOG: 'ERROR', LITELLM_LOCAL_MODEL_COST_MAP: 'True', LITELLM_MASTER_KEY: key },
        };
      },
    });
  },
};
