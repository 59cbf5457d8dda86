/** Clients that create agents, synthesise texts, idle on realtime sockets, and wait for deliveries. */
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import type { Sql } from '../../storage/postgres/sql.js';
import { TEST_KEY } from '../fixtures/gateway.js';
import type { Delivered } from './record.js';
import { toldBy, type World } from './world.js';

const WRITE_MS = 200;
/** The name under which a write is found again. */
export const WRITTEN = 'chaos-write-';

/** Creates agents one after the other. None is retried, so each may exist at most once. */
export async function write(world: World, writer: number): Promise<void> {
  for (let number = 0; !world.over; number += 1) {
    const name = `${WRITTEN}${writer}-${number}`;
    const answer = await world.ask('agents', { body: { name } });
    world.writes.push({ name, acknowledged: answer?.status === 201 });
    await pause(WRITE_MS);
  }
}

/** Speech as PCM. */
export const speech = (base: string, text: string, sampleRate: number): Promise<Response> =>
  fetch(`${base}/v1/tts`, {
    method: 'POST',
    headers: { authorization: `Bearer ${TEST_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ text, format: 'pcm', sample_rate: sampleRate }),
  });

const SPEAK_MS = 1000;
const LONG_TEXT = 'all of it is to be heard. '.repeat(40);
const SPEECH_RATE = 16_000;
const CUT = 'an answer that began was cut off';

/** Synthesises a long text again and again: an answer that begins must be complete. */
export async function listen(world: World): Promise<void> {
  for (let whole: number | undefined; !world.over; await pause(SPEAK_MS)) {
    const answer = await speech(world.base, LONG_TEXT, SPEECH_RATE).catch((error: unknown) => toldBy(error));
    if (typeof answer !== 'object' || !answer.ok) {
      world.failed('speech', typeof answer === 'object' ? answer.status : answer);
      continue;
    }
    const bytes = await answer.arrayBuffer().then(
      (body) => body.byteLength,
      () => undefined,
    );
    if (bytes === undefined) world.failed('speech', 'ECONNRESET');
    else if (bytes === (whole ??= bytes)) world.heard += 1;
    else world.failed('speech', CUT);
  }
}

const SAY_MS = 4000;
/** A server silent for this long is gone. */
const SILENT_MS = 20_000;
const AGAIN_MS = 500;
const CLEAR = JSON.stringify({ type: 'input_audio_buffer.clear' });

/** One connection, until it or the load ends. Returns why it ended, unless the client closed it. */
function connection(world: World): Promise<number | string | undefined> {
  const socket = new WebSocket(`${world.base.replace('http', 'ws')}/compat/v1/realtime`, {
    headers: { authorization: `Bearer ${TEST_KEY}` },
  });
  let heard = performance.now();
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      if (world.over) socket.close(1000);
      if (performance.now() - heard > SILENT_MS) end('stalled');
      else if (socket.readyState === WebSocket.OPEN) socket.send(CLEAR);
    }, SAY_MS);
    const end = (told: number | string | undefined): void => {
      clearInterval(timer);
      socket.terminate();
      resolve(told);
    };
    socket.on('message', () => (heard = performance.now()));
    socket.once('unexpected-response', (_, response) => end(response.statusCode ?? 0));
    socket.on('error', (error) => end(toldBy(error)));
    socket.once('close', (code) => end(world.over ? undefined : code));
  });
}

export async function rest(world: World): Promise<void> {
  while (!world.over) {
    const told = await connection(world);
    if (told === undefined) return;
    world.failed('realtime socket', told);
    await pause(AGAIN_MS);
  }
}

const BATCHES_A_SECOND = 4;

/** Puts deliveries into the outbox as ending sessions do; committed ones must arrive. */
export async function promise(world: World, sql: Sql, url: string, aSecond: number): Promise<Delivered[]> {
  const promised: Delivered[] = [];
  const [workspace] = await sql`select workspace_id as id from api_keys limit 1`;
  const owner = workspace?.['id'] as string;
  for (let number = 0; !world.over; number += 1) {
    const ids = Array.from({ length: aSecond / BATCHES_A_SECOND }, (_, index) => `chaos_${number}_${index}`);
    const bodies = ids.map((id) => JSON.stringify({ session_id: id }));
    await sql.begin(async (tx) => {
      await tx`
        insert into sessions (id, workspace_id, agent_id, agent_name, config_hash, source, timezone, metadata,
          overrides, expires_at, max_duration_seconds)
        select id, ${owner}, 'agent_1', 'A', '', 'api_key', 'UTC', '{}', '{}', now(), 60 from unnest(${ids}::text[]) as i (id)`;
      await tx`
        insert into deliveries (workspace_id, session_id, agent_id, event, url, body)
        select ${owner}, id, 'agent_1', 'call.ended', ${url}, body
        from unnest(${ids}::text[], ${bodies}::text[]) as d (id, body)`;
    });
    promised.push(...ids.map((id, index) => ({ id, body: bodies[index] ?? '' })));
    await pause(1000 / BATCHES_A_SECOND);
  }
  return promised;
}
