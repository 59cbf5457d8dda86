/** How `doctor` looks at what others reach the gateway by: its port, the ports of media, its certificate. */
import { X509Certificate } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { LIMITS } from '../../contracts/limits.js';
import { mediaPorts } from '../agents/calls/media-settings.js';
import type { Config } from '../config.js';
import { checkCertificate } from '../server/certificate.js';
import { checkPort } from '../server/listen-error.js';
import { certificateOf } from '../wiring/check-settings.js';
import { checkMedia } from '../wiring/media-address.js';
import { type Look, Wrong } from './findings.js';

const EVERYWHERE = new Set(['0.0.0.0', '::', '']);
const ANSWER_MS = 2000;

type Address = Pick<Config, 'host' | 'port' | 'tlsCert'>;

/** The status that a gateway's `/health` says at this address, if one is there. Whose certificate it has does not matter on this machine. */
async function statusAt({ host, port, tlsCert }: Address): Promise<string | undefined> {
  const client = tlsCert === undefined ? http : https;
  const to = {
    host: EVERYWHERE.has(host) ? 'localhost' : host,
    port,
    path: '/health',
    rejectUnauthorized: false,
    timeout: ANSWER_MS,
  };
  const text = await new Promise<string>((resolve, reject) => {
    const request = client.get(to, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.once('end', () => resolve(text)).once('error', reject);
    });
    request.once('error', reject).once('timeout', () => request.destroy(new Error('no answer')));
  });
  const { status, live } = JSON.parse(text) as { readonly status?: unknown; readonly live?: unknown };
  return live === true && typeof status === 'string' ? status : undefined;
}

/** The status of the gateway that runs with these settings; undefined if none does. */
export const runningStatus = (config: Address): Promise<string | undefined> =>
  statusAt(config).catch(() => undefined);

export const portLook = (config: Config, running: string | undefined): Look => ({
  check: 'port',
  setting: 'PORT',
  async look() {
    const { host, port } = config;
    if (running !== undefined) return `a gateway answers on port ${port}: ${running}`;
    await checkPort(config);
    return port === 0 ? 'any free port' : `port ${port} of ${host} is free`;
  },
});

/** Opens a UDP port and closes it. Errors: those of the socket. */
async function bindOnce(port: number, host: string | undefined): Promise<void> {
  const socket = createSocket('udp4');
  try {
    socket.bind(port, host);
    await once(socket, 'listening');
  } finally {
    socket.close();
  }
}

/** The UDP ports that its media workers bind. */
const udpPorts = (config: Config): readonly number[] =>
  Array.from({ length: mediaPorts(config) }, (_, at) => config.mediaUdpPort + at);

async function lookAtUdp(config: Config, running: string | undefined): Promise<string> {
  await checkMedia(config);
  const { mediaUdpPort, mediaHost, mediaPublicAddress } = config;
  const told = mediaPublicAddress === undefined ? '' : `; callers are told ${mediaPublicAddress}`;
  if (mediaUdpPort === 0) return `any free UDP port${told}`;
  const ports = udpPorts(config);
  if (running !== undefined) return `UDP ${ports.join(', ')}, used by the gateway that runs${told}`;
  for (const port of ports)
    await bindOnce(port, mediaHost).catch((error: unknown) => {
      const { code = '' } = error as NodeJS.ErrnoException;
      throw new Wrong(`UDP port ${port} cannot be used (${code}): set MEDIA_UDP_PORT to another one`);
    });
  return `UDP ${ports.join(', ')} ${ports.length > 1 ? 'are' : 'is'} free here${told}; a firewall has to let it in`;
}

export const udpLook = (config: Config, running: string | undefined): Look => ({
  check: 'udp',
  setting: 'MEDIA_UDP_PORT',
  look: () => (config.livekit ? 'calls are carried by the LiveKit server' : lookAtUdp(config, running)),
});

const DAY_MS = 86_400_000;

/** When a certificate ends. Errors: `Wrong` if it has, or soon will. */
function checkDates(certFile: string, now: number): string {
  const { validFrom, validTo } = new X509Certificate(readFileSync(certFile));
  const days = Math.floor((Date.parse(validTo) - now) / DAY_MS);
  if (Date.parse(validFrom) > now)
    throw new Wrong(`The certificate of TLS_CERT is valid from ${validFrom} on`);
  if (days < 0) throw new Wrong(`The certificate of TLS_CERT ended on ${validTo}: renew it`);
  if (days < LIMITS.doctor.certificateDays)
    throw new Wrong(`The certificate of TLS_CERT ends on ${validTo}, in ${days} days: renew it`);
  return `the certificate is valid until ${validTo}`;
}

export const tlsLook = (config: Config, now: () => number): Look => ({
  check: 'tls',
  setting: 'TLS_CERT',
  async look() {
    const files = certificateOf(config);
    if (files) {
      await checkCertificate(files);
      return checkDates(files.certFile, now());
    }
    if (config.publicUrl?.startsWith('https:')) return `a proxy serves ${config.publicUrl}`;
    return 'none: calls only from browsers on this machine, unless TLS_CERT or PUBLIC_URL is set';
  },
});
