/** A gateway with calls under way, and all that it asks as doubles that can fail. */
import { execFileSync, spawnSync } from 'node:child_process';
import { rmdirSync } from 'node:fs';
import { client } from '../../fixtures/platform/agents.js';
import { temporaryFolder } from '../../fixtures/folders.js';
import { EMBEDDED_POSTGRES, MEDIA, TEST_SECRET } from '../../fixtures/gateway.js';
import { type Cluster, startCluster } from '../../fixtures/livekit/cluster.js';
import { PhoneApi } from '../../fixtures/phone/api.js';
import { twilioApi } from '../../fixtures/phone/api-twilio.js';
import { newNumber, SECRET } from '../../fixtures/phone/placed-calls.js';
import { startPostgres } from '../../fixtures/database/postgres.js';
import { type Relay, startRelay } from '../../fixtures/database/relay.js';
import { startReceiver } from '../../fixtures/platform/receiver.js';
import { TurnDouble } from '../../fixtures/media/turn-double.js';
import { run } from '../cluster.js';
import { settingsWith, startDoubles } from '../conversation/doubles/doubles.js';
import type { Surroundings } from '../conversation/faults.js';
import { OWN_ENGINES } from '../conversation/world.js';
import { startBucketDouble } from './bucket-double.js';
import { Door } from './door.js';
import { NightGateway } from './gateway.js';
import { agentOf, Load, type Staff, toolOf, wordsOfCallers } from './load.js';

/** `own`: engines in processes of the gateway's own; `disk`: a data folder of its own size, with Postgres in it; `livekit`: calls are on a LiveKit server. */
export type Place = 'usual' | 'own' | 'disk' | 'livekit';

export const DOORS = ['webhook', 'bucket', 'phone'] as const;
export type Doors = Readonly<Record<(typeof DOORS)[number], Door>>;

export interface Livekit {
  /** The way to the server. */
  readonly relay: Relay;
  /** Has it take the gateway's secret for wrong, or not. */
  refuse(refuses: boolean): void;
}

export interface Night {
  readonly gateway: NightGateway;
  readonly around: Surroundings & { readonly database: Relay };
  readonly doors: Doors;
  /** The data folder, where it has a size of its own. */
  readonly disk: string | undefined;
  readonly livekit: Livekit | undefined;
  /** That clients are told of. */
  readonly turn: TurnDouble;
}

const DISK_SIZE = '300m';

/** A file system of its own; undefined where none may be mounted. */
function mountDisk(): string | undefined {
  const disk = temporaryFolder('night-disk-');
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_SIZE},mode=0711`, 'tmpfs', disk]);
  if (mounted.status !== 0) return undefined;
  run.teardown(() => {
    execFileSync('umount', ['-l', disk]);
    rmdirSync(disk);
  });
  return disk;
}

async function startLivekit(): Promise<Livekit & { readonly env: Record<string, string> }> {
  const folder = temporaryFolder('lk-');
  const cluster: Cluster = await startCluster(folder);
  run.teardown(() => cluster.close());
  const { url, key, secret } = cluster.server;
  const relay = await startRelay(run, url.replace('ws:', 'http:'));
  const env = {
    LIVEKIT_URL: `ws://127.0.0.1:${new URL(relay.url).port}`,
    LIVEKIT_API_KEY: key,
    LIVEKIT_API_SECRET: secret,
    LIVEKIT_ROOM_PROCESSES: '1',
  };
  return { relay, env, refuse: (refuses) => void (cluster.refuses = refuses) };
}

export const ANALYSIS = JSON.stringify({ summary: 'They asked what there is.' });

/** What the models say to whoever analyses a call. */
export function analysesAs({ model, fallback }: Surroundings, answer: string): void {
  for (const { script } of [model, fallback]) script('', () => answer);
}

/** Somebody who orders at every turn, by both kinds of tools. */
function script(around: Surroundings): void {
  for (const { script } of [around.model, around.fallback])
    script('night', (messages) =>
      messages.at(-1)?.role === 'tool' ? 'Yes.' : { calls: { Stock: {}, Order: {} } },
    );
  analysesAs(around, ANALYSIS);
}

/** Instructions that fill most of a small window. */
const INSTRUCTIONS = `[call night] ${'You sell what there is. '.repeat(130)}`;

/** Of tools. */
const PATIENCE = { timeout_seconds: 5 };

async function staffOf(
  base: string,
  { tools, mcp }: Surroundings,
  hook: string,
  phone: string,
  api: PhoneApi,
): Promise<Staff> {
  const ask = client(base);
  const stock = {
    name: 'Stock',
    description: 'What there is',
    method: 'GET',
    url: `${tools.url}/night`,
    arguments: [],
    ...PATIENCE,
  };
  const tool_ids = [
    await toolOf(ask, stock),
    await toolOf(ask, { name: 'shop', tool_type: 'mcp', url: `${mcp.url}/night`, ...PATIENCE }),
  ];
  const talker = await agentOf(ask, {
    prompt: { system_prompt: INSTRUCTIONS, first_message_mode: 'off' },
    tools: { tool_ids },
  });
  const clerk = await agentOf(ask, {
    prompt: { system_prompt: 'You are short.', first_message_mode: 'off' },
    conversation: { record_audio: true },
    webhooks: { post_call: [{ url: hook }] },
  });
  const number = newNumber();
  const credentials = {
    [twilioApi.verifies]: twilioApi.dialect.credentialOf(SECRET),
    ...twilioApi.credentials,
  };
  const made = await ask('phone-numbers', {
    body: { provider: twilioApi.name, phone_number: number, api_url: phone, credentials },
  });
  return { talker, clerk, phone: made.status === 201 ? { number, api } : undefined };
}

/** Resolves once calls are under way; undefined with the reason why the machine has no such place. */
export async function startNight(place: Place): Promise<{ night: Night; load: Load } | string> {
  const disk = place === 'disk' ? mountDisk() : undefined;
  if (place === 'disk' && disk === undefined) return 'no file system can be mounted here';
  const doubles = await startDoubles(run);
  const postgres = await startPostgres(run);
  const database = await startRelay(run, postgres.url);
  const bucket = await startBucketDouble(run);
  const receiver = await startReceiver(run);
  const turn = await TurnDouble.start(run);
  const api = await PhoneApi.start(run as never, twilioApi, SECRET);
  const [webhookDoor, bucketDoor, phoneDoor] = await Promise.all(
    [receiver.url, bucket.url, api.url].map((url) => Door.before(run, url)),
  );
  const livekit = place === 'livekit' ? await startLivekit() : undefined;
  const gateway = await NightGateway.start({
    ...MEDIA,
    ...settingsWith(doubles, { second: true }),
    ...(place === 'own' && OWN_ENGINES),
    ...bucket.env(bucketDoor!.url),
    ICE_SERVERS: turn.servers,
    ...{ SECRETS_KEY: TEST_SECRET, LOG_LEVEL: 'info', START_CHECKS: 'on' },
    ...{ DRAIN_ANNOUNCE_SECONDS: '10', DRAIN_SECONDS: '12' },
    ...(disk === undefined ? { DATABASE_URL: database.url } : { ...EMBEDDED_POSTGRES, DATA_DIR: disk }),
    ...livekit?.env,
  });
  const around = { ...doubles, database, processes: (role: string) => gateway.workers(role) };
  script(around);
  const staff = await staffOf(gateway.base, around, webhookDoor!.url, phoneDoor!.url, api);
  const load = new Load(gateway.base, staff);
  load.begin(await wordsOfCallers());
  const doors = { webhook: webhookDoor!.door, bucket: bucketDoor!.door, phone: phoneDoor!.door };
  return { night: { gateway, around, doors, disk, livekit, turn }, load };
}
