/** Sends inputs to a gateway with a probe, and reads how long they held its event loop. */
import { connect } from 'node:net';
import { request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { BUILT } from '../../../contracts/places.js';
import { temporaryFolder } from '../../fixtures/folders.js';
import { startGateway, type Gateway } from '../../fixtures/gateway.js';
import type { Input } from './inputs.js';

/** How long an answer is read, once it has begun, and awaited before. */
const READ_MS = 300;
const ANSWER_MS = 5000;
const TRIES = 3;
const QUIET_MS = 50;

export interface Probed {
  readonly gateway: Gateway;
  /** The longest turn of the loop since the last call, in milliseconds of processor time. */
  longest(): Promise<number>;
}

export async function startProbed(env: Record<string, string> = {}): Promise<Probed> {
  const path = join(temporaryFolder('probe-'), 'probe');
  const probe = new URL('test/chaos/loop/probe.js', BUILT).href;
  const gateway = await startGateway({
    WORKERS: '1',
    ...env,
    NODE_OPTIONS: `--import=${probe}`,
    LOOP_PROBE: path,
  });
  const longest = (): Promise<number> =>
    new Promise((resolve, reject) => {
      let told = '';
      const socket = connect(path).setEncoding('latin1');
      socket.on('data', (text: string) => (told += text));
      socket.on('error', reject).on('close', () => resolve(Number(told)));
    });
  return { gateway, longest };
}

/** Sends one request; resolves with its status once the answer has been read for a while. */
export function send(
  { base, authorization }: Gateway,
  method: string,
  path: string,
  input: Input,
  body: Buffer,
): Promise<number> {
  return new Promise((resolve) => {
    const headers = { ...authorization, 'content-type': input.type, 'content-length': body.length };
    const asked = request(base + path, { method, headers, agent: false });
    const over = (status: number): void => {
      clearTimeout(late);
      asked.destroy();
      resolve(status);
    };
    const late = setTimeout(() => over(0), ANSWER_MS);
    asked.on('error', () => over(0));
    asked.on('response', (response) => {
      const status = response.statusCode ?? 0;
      setTimeout(() => over(status), READ_MS).unref();
      response.on('end', () => over(status)).on('error', () => over(status));
      response.resume();
    });
    asked.end(body);
  });
}

export interface Hold {
  readonly ms: number;
  readonly status: number;
}

/** The hold of one input: the best of three tries, or the first that is below `enoughMs`. */
export async function holdOf(
  { gateway, longest }: Probed,
  method: string,
  path: string,
  input: Input,
  enoughMs: number,
): Promise<Hold> {
  const body = input.body();
  let best: Hold = { ms: Infinity, status: 0 };
  for (let tried = 0; tried < TRIES && best.ms > enoughMs; tried += 1) {
    await pause(QUIET_MS);
    await longest();
    const status = await send(gateway, method, path, input, body);
    await pause(QUIET_MS);
    const ms = await longest();
    if (ms < best.ms) best = { ms, status };
  }
  return best;
}
