/** A server that runs already, here or elsewhere. Its processes are not looked at. */
import type { Server } from './server.js';

export interface RemoteOptions {
  readonly name: string;
  /** An origin, or the base of an OpenAI dialect (`http://host/v1`). */
  readonly url: string;
  readonly key?: string | undefined;
  readonly pcmRate?: number | undefined;
}

const OPENAI_PCM_RATE = 24_000;
const BASES = ['/compat/v1', '/v1'];

/** Whether there is a route: anything but 404 and 405, whatever the key is worth. */
async function exists(
  url: string,
  method: 'GET' | 'POST',
  headers: Record<string, string>,
): Promise<boolean> {
  const answer = await fetch(url, { method, headers, ...(method === 'POST' ? { body: '{}' } : {}) });
  await answer.body?.cancel();
  return answer.status !== 404 && answer.status !== 405;
}

async function baseBelow(origin: string, headers: Record<string, string>): Promise<string | undefined> {
  for (const base of BASES)
    if (await exists(`${origin}${base}/audio/speech`, 'POST', headers)) return `${origin}${base}`;
  return undefined;
}

/** Finds out which dialects it speaks. Throws Error where it cannot be reached, or speaks none. */
export async function reachServer({
  name,
  url,
  key = '',
  pcmRate = OPENAI_PCM_RATE,
}: RemoteOptions): Promise<Server> {
  const { origin, pathname } = new URL(url);
  const given = pathname === '/' ? undefined : url.replace(/\/$/, '');
  const headers = {
    'content-type': 'application/json',
    ...(key === '' ? {} : { authorization: `Bearer ${key}` }),
  };
  try {
    const openai = given ?? (await baseBelow(origin, headers));
    const isNative = given === undefined && (await exists(`${origin}/v1/tts`, 'POST', headers));
    if (openai === undefined && !isNative) throw new Error('it speaks no dialect that is known here');
    return { name, origin, key, openai, isNative, pcmRate, stop: async () => {} };
  } catch (error) {
    throw new Error(`${name} at ${url}: ${(error as Error).message}`, { cause: error });
  }
}
