/**
 * `node dist/test/chaos/takeover.js [times]`: how long a user hears nothing when the node of the call is killed. LiveKit's own
 * client comes back by itself, through the balancer; from SIGKILL to the agent's voice, in seconds, sorted, and the median.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { AudioStream, type RemoteTrack, Room, RoomEvent } from '@livekit/rtc-node';
import { client, makeAgent } from '../fixtures/agents.js';
import { AUDIBLE } from '../fixtures/caller.js';
import type { Invite } from '../fixtures/conversation.js';
import { until } from '../fixtures/until.js';
import { type Cluster, letGoOfAll, startCluster } from './cluster.js';

const RATE = 24_000;
const times = Number(process.argv[2] ?? 10);

/** When the agent's voice was heard last. */
class Listener {
  readonly room = new Room();
  heardAt = 0;

  constructor() {
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
}

async function once({ postgres, nodes, balancer }: Cluster, agent: string): Promise<number> {
  const { sql } = await postgres.open();
  const { body } = await client(balancer.base)('sessions', { body: { agent_id: agent } });
  const { media_url: url, token, session_id: id } = body as unknown as Invite;
  const listener = new Listener();
  await listener.room.connect(url, token, { autoSubscribe: true, dynacast: false });
  await until('the agent greets', () => listener.heardAt > 0);
  await until('it is silent again', () => performance.now() - listener.heardAt > 1500);
  const [owner] = await sql<{ url: string }[]>`
    select o.url from sessions s join session_owners o on o.process_id = s.owner_id where s.id = ${id}`;
  const node = nodes.find(({ port }) => owner?.url.endsWith(`:${port}`));
  if (!node) throw new Error('no node has the call');
  const killedAt = performance.now();
  await node.kill();
  await until('the agent is back', () => listener.heardAt > killedAt + 200, 120_000);
  const seconds = (listener.heardAt - killedAt) / 1000;
  await listener.room.disconnect();
  await pause(1000);
  await node.start();
  await until('the balancer has it', () => balancer.isReady(node.port));
  return seconds;
}

const figures: number[] = [];
try {
  const cluster = await startCluster(2, '10');
  const agent = await makeAgent(client(cluster.balancer.base), {
    config: { prompt: { first_message_mode: 'fixed', first_message: 'Good day.' } },
  });
  for (let time = 0; time < times; time += 1) {
    figures.push(await once(cluster, agent));
    console.log(`${time + 1}: ${figures.at(-1)?.toFixed(1)} s`);
  }
} finally {
  await letGoOfAll();
}
figures.sort((one, other) => one - other);
console.log(
  `median ${figures[Math.floor(figures.length / 2)]?.toFixed(1)} s of ${figures.length}: ${figures.map((each) => each.toFixed(1)).join(' ')}`,
);
process.exit(0);
