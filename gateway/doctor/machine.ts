/** How `doctor` looks at the machine: its disks, its memory, its clock, and what it reaches by HTTPS. */
import { X509Certificate } from 'node:crypto';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { dirname } from 'node:path';
import { EnvHttpProxyAgent, request } from 'undici';
import { errorText } from '../../contracts/errors.js';
import { LIMITS } from '../../contracts/limits.js';
import { isUnknownAuthority } from '../../contracts/parts/outcome-of.js';
import type { Config } from '../config.js';
import { groupLimit } from '../config/memory-budget.js';
import { type Look, Wrong } from './findings.js';

const MB = 1_000_000;
const MIB = 1024 * 1024;

/** The nearest folder above that is there. */
const existing = (folder: string): string =>
  existsSync(folder) || folder === dirname(folder) ? folder : existing(dirname(folder));

function checkWritable(folder: string): void {
  try {
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    throw new Wrong(`${folder} cannot be written to (${code}): set DATA_DIR to another folder`);
  }
}

export const diskLook = ({ dataDir }: Config): Look => ({
  check: 'disk',
  setting: 'DATA_DIR',
  async look() {
    const folder = existing(dataDir);
    checkWritable(folder);
    const { bavail, bsize } = await statfs(folder);
    const text = `${Math.floor((bavail * bsize) / MB)} MB free for ${dataDir}`;
    if (bavail * bsize >= LIMITS.doctor.diskBytes) return text;
    throw new Wrong(`Only ${text}: make room, or set DATA_DIR to another disk`);
  },
});

export const memoryLook = (bytes = Math.min(totalmem(), groupLimit())): Look => ({
  check: 'memory',
  look() {
    const text = `${Math.floor(bytes / MIB)} MiB`;
    if (bytes >= LIMITS.doctor.memoryBytes) return text;
    throw new Wrong(
      `${text} is too little for all built-in engines: give it ${LIMITS.doctor.memoryBytes / MIB} MiB ` +
        '(the limit of the container or the service), or have speech elsewhere by TTS_ENGINES and STT_ENGINES',
    );
  },
});

/** What an HTTPS server answered when it was asked something small. */
export interface Outside {
  readonly host: string;
  /** Its time of day, in milliseconds since the epoch, and how long its answer took. */
  readonly date?: number | undefined;
  readonly tookMs?: number | undefined;
  /** Why it did not answer. */
  readonly error?: unknown;
}

/** Asks the server at `url` for its headers, by a proxy if the environment names one. Never rejects. */
export async function askOutside(url: string): Promise<Outside> {
  const { host } = new URL(url);
  const dispatcher = new EnvHttpProxyAgent();
  const from = performance.now();
  try {
    const signal = AbortSignal.timeout(LIMITS.partCheck.answerMs);
    const { headers, body } = await request(url, { method: 'HEAD', dispatcher, signal });
    await body.dump();
    const date = Date.parse(String(headers['date']));
    return { host, tookMs: performance.now() - from, ...(Number.isFinite(date) && { date }) };
  } catch (error) {
    return { host, error };
  } finally {
    await dispatcher.destroy();
  }
}

/** `isNeeded`: whether something is still to be fetched from there. */
export const outboundLook = (outside: Outside | undefined, isNeeded: boolean): Look => ({
  check: 'outbound',
  setting: 'HTTPS_PROXY',
  look() {
    if (!outside) return 'not looked at: npm, which knows the registry, was not found';
    const { host, error } = outside;
    if (error === undefined) return `${host} answers`;
    // The row of authorities says so.
    if (isUnknownAuthority(error)) return `${host} can be reached`;
    const why = `${host} cannot be reached (${errorText(error)})`;
    if (!isNeeded) return `${why}; nothing here needs it but adding models and updates`;
    throw new Wrong(`${why}, and models are still to be fetched from there`);
  },
});

const CA = 'NODE_EXTRA_CA_CERTS';

function checkAuthorities(file: string): string {
  try {
    const pem = readFileSync(file, 'utf8');
    // Throws if the first one is none.
    const first = new X509Certificate(pem).subject.replaceAll('\n', ', ');
    const more = pem.split('BEGIN CERTIFICATE').length - 2;
    return `${first}${more > 0 ? ` and ${more} more are` : ' is'} trusted as well (${CA})`;
  } catch {
    throw new Wrong(`${file} is no readable certificate in PEM`);
  }
}

/** `fromFile`: the variables of the file `.env`, which come too late for this one. */
export const authoritiesLook = (outside: Outside | undefined, fromFile: readonly string[]): Look => ({
  check: 'ca',
  setting: CA,
  look() {
    if (fromFile.includes(CA)) throw new Wrong(`${CA} has no effect in .env: set it in the environment`);
    if (outside && isUnknownAuthority(outside.error))
      throw new Wrong(
        `${outside.host} has a certificate of an authority that Node does not know, as behind a proxy that inspects TLS: ` +
          `set ${CA} to the PEM file of that authority`,
      );
    const file = process.env[CA];
    return file ? checkAuthorities(file) : 'the authorities that Node knows';
  },
});

export const clockLook = (outside: Outside | undefined, now: () => number): Look => ({
  check: 'clock',
  look() {
    const { date, host, tookMs = 0 } = outside ?? {};
    if (date === undefined) return `${new Date(now()).toISOString()}; compared with nothing`;
    const away = now() - date;
    const seconds = Math.round(Math.abs(away) / 1000);
    if (Math.abs(away) <= LIMITS.doctor.clockMs + tookMs) return `as at ${host}`;
    throw new Wrong(
      `It is ${seconds} s ${away > 0 ? 'ahead of' : 'behind'} ${host}: tokens and certificates go by it; synchronise it (timedatectl set-ntp true)`,
    );
  },
});
