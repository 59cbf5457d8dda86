/** A LiveKit server, in which an agent and its caller meet. Its program has to be on PATH: no npm package brings it. */
import { spawn } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import type { Invite } from './agents.js';
import { freePort } from './free-port.js';
import { answers, untilReady } from './peers.js';

const PROGRAM = 'livekit-server';
const STARTS_WITHIN_MS = 30_000;
const TOKEN_SECONDS = 3600;

export interface LivekitServer {
  /** WebSocket address. */
  readonly url: string;
  readonly key: string;
  readonly secret: string;
  stop(): Promise<void>;
}

/** Throws Error where it is not installed or does not start. */
export async function startLivekit(): Promise<LivekitServer> {
  const [port, tcpPort, udpPort] = [await freePort(), await freePort(), await freePort()];
  const [key, secret] = ['bench', randomBytes(32).toString('hex')];
  const config = {
    port,
    bind_addresses: ['127.0.0.1'],
    keys: { [key]: secret },
    rtc: {
      udp_port: udpPort,
      tcp_port: tcpPort,
      use_external_ip: false,
      node_ip: '127.0.0.1',
      enable_loopback_candidate: true,
    },
    logging: { level: 'error' },
  };
  const env = { ...process.env, LIVEKIT_CONFIG: JSON.stringify(config) };
  const child = spawn(PROGRAM, [], { env, stdio: 'ignore' });
  const exited = new Promise<unknown>((resolve) => child.once('exit', resolve).once('error', resolve));
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await exited;
  };
  let hasEnded = false;
  void exited.then(() => (hasEnded = true));
  await untilReady(
    `${PROGRAM}, which has to be on PATH,`,
    () => answers(`http://127.0.0.1:${port}`),
    () => hasEnded,
    STARTS_WITHIN_MS,
  ).catch(async (error: unknown) => {
    await stop();
    throw error;
  });
  return { url: `ws://127.0.0.1:${port}`, key, secret, stop };
}

const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');

/** Address and token for a room that is created on joining (https://docs.livekit.io/home/get-started/authentication). */
export function inviteTo({ url, key, secret }: LivekitServer, room: string): Invite {
  const now = Math.floor(Date.now() / 1000);
  const video = { room, roomJoin: true, canPublish: true, canSubscribe: true, canPublishData: true };
  const claims = { iss: key, sub: 'user', nbf: now, exp: now + TOKEN_SECONDS, video };
  const signed = `${encoded({ alg: 'HS256', typ: 'JWT' })}.${encoded(claims)}`;
  const signature = createHmac('sha256', secret).update(signed).digest('base64url');
  return { session_id: room, media_url: url, token: `${signed}.${signature}`, by: 'room' };
}
