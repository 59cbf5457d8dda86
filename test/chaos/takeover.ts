/**
 * `node dist/test/chaos/takeover.js [times] [what]`: how long a user hears nothing after a kill of the process that carries the call.
 * LiveKit's own client comes back by itself; from SIGKILL to the agent's voice, in seconds, sorted, and the median. `what`:
 *
 * - `node` (default): the gateway that has the call, embedded media, clients by the balancer;
 * - `gateway`: the gateway that has the call, in livekit mode, on two LiveKit servers with Redis;
 * - `server`: the LiveKit server that has the room.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { AudioStream, DisconnectReason, type RemoteTrack, Room, RoomEvent } from '@livekit/rtc-node';
import { client, makeAgent } from '../fixtures/platform/agents.js';
import { AUDIBLE } from '../fixtures/calls/caller.js';
import type { Invite } from '../fixtures/conversation/conversation.js';
import { startNodes } from '../fixtures/livekit/nodes.js';
import { until } from '../fixtures/until.js';
import { type Cluster, letGoOfAll, run, startCluster } from './cluster.js';

const RATE = 24_000;
const ASK_MS = 1000;
/** Calls are not taken over in their first ten seconds, in case the call itself is what kills its server. */
const SETTLED_MS = 11_000;

/** Characters of each node's log that are shown with a failure. */
const MOST_LOG = 8000;

/** A user who notes when the agent speaks. */
class Listener {
  readonly room = new Room();
  /** When the agent's voice was heard last. */
  heardAt = 0;

  /** Why its client has given up, if it has. */
  #left: DisconnectReason | undefined;

  constructor() {
    this.room.on(RoomEvent.Disconnected, (reason) => (this.#left = reason));
    this.room.on(RoomEvent.TrackSubscribed, (track) => void this.#listen(track));
  }

  async #listen(track: RemoteTrack): Promise<void> {
    const reader = new AudioStream(track, RATE, 1).getReader();
    for (let step = await reader.read(); !step.done; step = await reader.read()) {
      const { data } = step.value;
      const power = data.reduce((sum, sample) => sum + sample * sample, 0) / Math.max(1, data.length);
      if (Math.sqrt(power) > AUDIBLE) this.heardAt = performance.now();
    }
  }

  /** The room as this user's client sees it, for a failure. */
  get view(): object {
    const { connectionState, localParticipant, remoteParticipants } = this.room;
    const others = [...remoteParticipants.values()].map(({ identity, sid, trackPublications }) => ({
      ...{ identity, sid },
      tracks: [...trackPublications.values()].map(({ sid: track, subscribed }) => ({ track, subscribed })),
    }));
    const left = this.#left === undefined ? undefined : DisconnectReason[this.#left];
    return { connectionState, left, sid: localParticipant?.sid, others };
  }

  /** Asks for an answer; the message is lost without a connection. */
  ask(): void {
    const message = JSON.stringify({ type: 'user.message', text: 'Are you there?' });
    const options = { reliable: true, topic: 'client-event' };
    this.room.localParticipant?.publishData(Buffer.from(message), options).catch(() => undefined);
  }
}

interface Loss {
  readonly cluster: Cluster;
  /** Kills what carries the session's call. */
  kill(session: string): Promise<{ mend(): Promise<void> }>;
  /** Whether the agent speaks by itself once it is back. */
  readonly apologises: boolean;
}

async function killNode({ postgres, nodes, balancer }: Cluster, session: string) {
  const { sql } = await postgres.open();
  const [owner] = await sql<{ url: string }[]>`
    select o.url from sessions s join session_owners o on o.process_id = s.owner_id where s.id = ${session}`;
  const node = nodes.find(({ port }) => owner?.url.endsWith(`:${port}`));
  if (!node) throw new Error('no node has the call');
  await node.kill();
  return {
    async mend() {
      await node.start();
      await until('the balancer has it', () => balancer.isReady(node.port));
    },
  };
}

async function onLivekit() {
  const livekit = await startNodes(run);
  const { url, key, secret } = livekit;
  const settings = { LIVEKIT_URL: url, LIVEKIT_API_KEY: key, LIVEKIT_API_SECRET: secret, LOG_LEVEL: 'info' };
  return { livekit, cluster: await startCluster(2, '10', settings) };
}

const LOSSES: Readonly<Record<string, () => Promise<Loss>>> = {
  async node() {
    const cluster = await startCluster(2, '10');
    return { cluster, kill: (session) => killNode(cluster, session), apologises: true };
  },
  async gateway() {
    const { cluster } = await onLivekit();
    return { cluster, kill: (session) => killNode(cluster, session), apologises: true };
  },
  async server() {
    const { cluster, livekit } = await onLivekit();
    const kill = async (session: string) => {
      const server = await livekit.holder(session);
      await server.stop();
      return { mend: () => server.start() };
    };
    return { cluster, kill, apologises: false };
  },
};

/** Whether another connection of the agent has the call: its process was killed, or gave the first one up. */
const wasTakenOver = ({ nodes }: Cluster, session: string): boolean =>
  nodes.some(({ stderr }) =>
    stderr.split('\n').some((line) => line.includes(session) && line.includes('a call goes on here')),
  );

async function once({ cluster, kill, apologises }: Loss, agent: string): Promise<[number, boolean]> {
  const { body } = await client(cluster.balancer.base)('sessions', { body: { agent_id: agent } });
  const { media_url: url, token, session_id: id } = body as unknown as Invite;
  const listener = new Listener();
  await listener.room.connect(url, token, { autoSubscribe: true, dynacast: false });
  const joinedAt = performance.now();
  await until('the agent greets', () => listener.heardAt > 0);
  await until('it is silent again', () => performance.now() - listener.heardAt > 1500);
  await until('the call has settled', () => performance.now() - joinedAt > SETTLED_MS);
  const killedAt = performance.now();
  const { mend } = await kill(id);
  const asking = setInterval(() => apologises || listener.ask(), ASK_MS);
  await until('the agent is back', () => listener.heardAt > killedAt + 200, 120_000).catch(
    (error: unknown) => {
      console.error(JSON.stringify(listener.view));
      for (const { name, stderr } of cluster.nodes) console.error(`${name}:\n${stderr.slice(-MOST_LOG)}`);
      throw error;
    },
  );
  clearInterval(asking);
  const seconds = (listener.heardAt - killedAt) / 1000;
  await listener.room.disconnect();
  await pause(1000);
  await mend();
  return [seconds, wasTakenOver(cluster, id)];
}

const [times = '10', what = 'node'] = process.argv.slice(2);
const figures: number[] = [];
try {
  const start = LOSSES[what];
  if (!start) throw new Error(`${what} is none of ${Object.keys(LOSSES).join(', ')}`);
  const loss = await start();
  const agent = await makeAgent(client(loss.cluster.balancer.base), {
    config: { prompt: { first_message_mode: 'fixed', first_message: 'Good day.' } },
  });
  for (let time = 0; time < Number(times); time += 1) {
    const [seconds, takenOver] = await once(loss, agent);
    figures.push(seconds);
    console.log(`${time + 1}: ${seconds.toFixed(1)} s${takenOver ? ', by takeover' : ''}`);
  }
} finally {
  await letGoOfAll();
}
figures.sort((one, other) => one - other);
console.log(
  `median ${figures[Math.floor(figures.length / 2)]?.toFixed(1)} s of ${figures.length}: ${figures.map((each) => each.toFixed(1)).join(' ')}`,
);
process.exit(0);
