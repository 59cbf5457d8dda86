/**
 * Checks everything that settings name (engines, files, addresses, ports) before anything starts: a start makes a database
 * first, and whoever has misspelt a word should not wait for that.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { startCommand } from '../../contracts/command-line.js';
import { findFfmpegs } from '../../codecs/decode/binaries.js';
import { RANKS_FILE } from '../../engines/tokens/o200k.js';
import { type Config, ConfigError } from '../config.js';
import { parseAllowed } from '../outbound/allow.js';
import { type CertificateFiles, checkCertificate } from '../server/certificate.js';
import { parseProxies } from '../server/client-address.js';
import { checkPort } from '../server/listen-error.js';
import { checkNames } from './check-names.js';
import { engineModels } from './engines.js';
import { checkMedia } from './media-address.js';

/** Errors: `ConfigError` that names the first model file that is missing. */
export function checkModels(config: Config): void {
  const missing = [...engineModels(config), RANKS_FILE].find(
    (file) => !existsSync(join(config.modelsDir, file)),
  );
  if (missing === undefined) return;
  throw new ConfigError(
    `${join(config.modelsDir, missing)} is missing: "${startCommand()}" fetches the models into MODELS_DIR`,
  );
}

/** Gateways that share a port can open one that is in use. */
async function checkPorts(config: Config): Promise<void> {
  if (config.workers === 1) await checkPort(config);
  else if (config.port === 0) throw new ConfigError('WORKERS above 1 needs a PORT of its own');
  if (!config.livekit) await checkMedia(config);
}

/** The files of TLS_CERT and TLS_KEY, which are set together or not at all. */
export const certificateOf = ({ tlsCert, tlsKey }: Config): CertificateFiles | undefined =>
  tlsCert === undefined || tlsKey === undefined ? undefined : { certFile: tlsCert, keyFile: tlsKey };

/** Errors: one that names the variable and what is wrong. */
export async function checkSettings(config: Config): Promise<void> {
  checkModels(config);
  checkNames(config);
  parseAllowed(config.outboundAllow);
  parseProxies(config.trustedProxies);
  findFfmpegs(config.ffmpegPath);
  const certificate = certificateOf(config);
  if (certificate) await checkCertificate(certificate);
  await checkPorts(config);
}
