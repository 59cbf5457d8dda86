/** The clients of the run that others have not: who keeps a connection open, and who opens one for each request and tries five times. */
import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { TEST_KEY } from '../../fixtures/gateway.js';
import { type Call, client } from '../../fixtures/platform/agents.js';
import { WRITTEN } from '../load.js';
import { toldBy, type World } from '../world.js';

const ASK_MS = 500;
const TRIES = 5;
const CONNECT_MS = 1000;
const ANSWER_MS = 10_000;
const BODY = JSON.stringify({ text: 'hello', format: 'pcm', sample_rate: 8000 });

/** Answers that came, by the name of the client. */
export type Served = Map<string, number>;

/** One short text spoken: the status of the answer, whose body has arrived whole. */
function speak(base: string, agent: Agent, connectMs: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request(`${base}/v1/tts`, {
      method: 'POST',
      agent,
      headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
    });
    const late = (what: string): void => void asked.destroy(new Error(`${what}: not in time`));
    const unanswered = setTimeout(late, ANSWER_MS, 'an answer');
    const unconnected = setTimeout(late, connectMs, 'a connection');
    asked.once('close', () => [unanswered, unconnected].forEach(clearTimeout));
    asked.once('socket', (socket) => {
      if (!socket.connecting) return clearTimeout(unconnected);
      socket.once('connect', () => clearTimeout(unconnected));
    });
    asked.once('error', reject);
    asked.once('response', (answer) => {
      answer.once('error', reject).once('end', () => resolve(answer.statusCode ?? 0));
      answer.resume();
    });
    asked.end(BODY);
  });
}

const served = (all: Served, name: string): void => void all.set(name, (all.get(name) ?? 0) + 1);

/** The names of these clients. */
export const KEPT = 'kept-alive';
export const TRYING = 'five tries';

/** A client on one connection, which tries nothing twice. */
export async function keep(world: World, all: Served): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (; !world.over; await pause(ASK_MS)) {
    const told = await speak(world.base, agent, ANSWER_MS).catch(toldBy);
    if (told === 200) served(all, KEPT);
    else world.failed(KEPT, told);
  }
  agent.destroy();
}

async function anyOf(base: string): Promise<number | string> {
  let told: number | string = '';
  for (let tries = 0; tries < TRIES && told !== 200; tries += 1) {
    const agent = new Agent();
    told = await speak(base, agent, CONNECT_MS).catch(toldBy);
    agent.destroy();
  }
  return told;
}

/** A client with a connection for each request, a second to open it, and five tries. */
export async function tryAgain(world: World, all: Served): Promise<void> {
  for (; !world.over; await pause(ASK_MS)) {
    const told = await anyOf(world.base);
    if (told === 200) served(all, TRYING);
    else world.failed(TRYING, told);
  }
}

async function* pages(call: Call): AsyncGenerator<readonly { name: string }[]> {
  for (let cursor: string | null = ''; cursor !== null;) {
    const { body } = await call(`agents?page_size=100${cursor && `&cursor=${cursor}`}`);
    yield body['agents'] as { name: string }[];
    cursor = (body['next_cursor'] as string | undefined) ?? null;
  }
}

/** Names that writers have written, as often as they are there. */
export async function kept(base: string): Promise<readonly string[]> {
  const names: string[] = [];
  for await (const page of pages(client(base))) names.push(...page.map(({ name }) => name));
  return names.filter((name) => name.startsWith(WRITTEN));
}
