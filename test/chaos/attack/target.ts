/** The gateway that is attacked: its keys, its processes, and what they use. */
import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { randomIds } from '../../../contracts/ids.js';
import { openDatabase } from '../../../storage/postgres/database.js';
import { createKey } from '../../../storage/keys/keys.js';
import { type Call, client, makeAgent } from '../../fixtures/platform/agents.js';
import { commandOf, familyOf } from '../../fixtures/processes/family.js';
import { type Gateway, startGateway, TEST_KEY, TEST_SECRET } from '../../fixtures/gateway.js';
import { type Model, said, startModel } from '../../fixtures/chat/model.js';
import { type OwnPostgres, startPostgres } from './postgres.js';
import { memoryOf } from '../../fixtures/processes/resources.js';

const KEY_ROLES = ['full', 'speech', 'read'] as const;
type KeyRole = (typeof KEY_ROLES)[number];
const TICKS_A_SECOND = 100;

export interface Target {
  readonly gateway: Gateway;
  readonly base: string;
  /** Full key of the victim's workspace. */
  readonly victim: string;
  /** Keys of the attacker's, which is another one. */
  readonly keys: Readonly<Record<KeyRole, string>>;
  /** The attacker's requests below /v1/agent, with its full key. */
  readonly attacker: Call;
  /** The attacker's public agent. */
  readonly agent: string;
  stop(): Promise<void>;
}

async function keysOf(url: string): Promise<Target['keys']> {
  const { sql, close } = await openDatabase({ url, connections: 1 });
  try {
    const workspaceId = randomIds.next('workspace');
    await sql`insert into workspaces ${sql({ id: workspaceId, name: 'Attacker' })}`;
    const made = KEY_ROLES.map(async (role) => {
      const { key } = await createKey(sql, randomIds, { workspaceId, name: role, role, expiresAt: null });
      return [role, key] as const;
    });
    return Object.fromEntries(await Promise.all(made)) as Target['keys'];
  } finally {
    await close();
  }
}

/** Characters of one answer: nearly as many as are taken. */
const LONG_ANSWER = 'and so it goes '.repeat(6500);

/** Whoever writes a long message gets a long answer. */
const answerTo: Parameters<Model['answer']>[0] = (messages) =>
  said(messages).length > 1000 ? wholly(LONG_ANSWER) : 'Good morning.';

/** An answer in one piece: the attackers' processor has other things to do. */
const wholly =
  (content: string) =>
  (response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const piece = { choices: [{ delta: { content } }] };
    response.end(`data: ${JSON.stringify(piece)}\n\ndata: [DONE]\n\n`);
  };

/** `env`: settings besides the usual ones of tests. */
export async function startTarget(env: Readonly<Record<string, string>>): Promise<Target> {
  const postgres: OwnPostgres = await startPostgres();
  const model = await startModel();
  model.answer(answerTo);
  const stopAround = async (): Promise<void> => {
    await model.stop();
    await postgres.stop();
  };
  const gateway = await startGateway({
    DATABASE_URL: postgres.url,
    LLM_BASE_URL: model.url,
    SECRETS_KEY: TEST_SECRET,
    LOG_LEVEL: 'error',
    PUBLIC_SESSIONS_PER_IP: '1000',
    PUBLIC_SESSIONS_PER_AGENT: '1000',
    ...env,
  }).catch(async (error: unknown) => {
    await stopAround();
    throw error;
  });
  const keys = await keysOf(postgres.url);
  const attacker = client(gateway.base, keys.full);
  const change = { public_enabled: true, allowed_origins: ['https://www.example.com'] };
  return {
    ...{ gateway, base: gateway.base, victim: TEST_KEY, keys, attacker },
    agent: await makeAgent(attacker, { change }),
    async stop() {
      await gateway.stop();
      await stopAround();
    },
  };
}

/** What a process of the gateway is for, by its command line. */
const roleOf = (pid: number): string => {
  const [, worker, role] = /workers\/([a-z-]+)\.js ([a-z-]+)/.exec(commandOf(pid)) ?? [];
  return role ?? worker ?? (/postgres/.test(commandOf(pid)) ? 'postgres' : 'gateway');
};

/** Resident bytes of its processes, by what they are for. */
export type Resident = ReadonlyMap<string, number>;

export function residentOf({ gateway }: Target): Resident {
  const sizes = new Map<string, number>();
  for (const pid of familyOf(gateway.pid)) {
    try {
      const role = roleOf(pid);
      sizes.set(role, (sizes.get(role) ?? 0) + memoryOf(pid));
    } catch {
      // It has just ended.
    }
  }
  return sizes;
}

export const totalOf = (resident: Resident): number =>
  [...resident.values()].reduce((sum, size) => sum + size, 0);

/** What grew most, as "stt +120 MiB, encode +3 MiB". */
export const growthOf = (before: Resident, after: Resident): string =>
  [...after]
    .map(([role, size]) => ({ role, grown: Math.round((size - (before.get(role) ?? 0)) / 1024 / 1024) }))
    .filter(({ grown }) => grown > 0)
    .sort((one, other) => other.grown - one.grown)
    .slice(0, 3)
    .map(({ role, grown }) => `${role} +${grown} MiB`)
    .join(', ');

/** Processor seconds that its first process, which with one of WORKERS is the gateway itself, has used. */
export function processorOf({ gateway }: Target): number {
  const fields = readFileSync(`/proc/${gateway.pid}/stat`, 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / TICKS_A_SECOND;
}

/** Its child processes by what they run: `encode`, `media`, `gateway` …, each with its numbers. */
export function partsOf({ gateway }: Pick<Target, 'gateway'>): ReadonlyMap<string, readonly number[]> {
  const parts = new Map<string, number[]>();
  for (const pid of familyOf(gateway.pid)) {
    const [, worker, role] = /workers\/([a-z-]+)\.js ([a-z-]+)/.exec(commandOf(pid)) ?? [];
    if (worker === undefined || role === undefined || worker === 'decode-once') continue;
    parts.set(role, [...(parts.get(role) ?? []), pid]);
  }
  return parts;
}
