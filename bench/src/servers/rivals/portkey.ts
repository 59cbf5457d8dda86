/**
 * Portkey's gateway. `@hono/node-server` is held at the oldest version that it takes: with the newest one it answers speech
 * with 500.
 */
import path from 'node:path';
import { installed } from '../../packages.js';
import { startProgram } from '../program.js';
import type { Rival } from './rival.js';

const MAIN = 'node_modules/@portkey-ai/gateway/build/start-server.js';

export const portkey: Rival = {
  id: 'portkey',
  async start(engine) {
    const main = path.join(await installed('peers/portkey'), MAIN);
    return startProgram({
      name: 'Portkey 1.15.2',
      headers: { 'x-portkey-provider': 'openai', 'x-portkey-custom-host': `${engine}/v1` },
      start: (port) => ({ command: process.execPath, args: [main, `--port=${port}`, '--headless'] }),
    });
  },
};
