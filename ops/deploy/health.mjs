/**
 * The health check of the image: exits with 0 if the gateway in this container is alive. With TLS_CERT it speaks https, whose
 * certificate is that of the public name, so it is not checked.
 */
import http from 'node:http';
import https from 'node:https';

const EVERYWHERE = new Set(['', '0.0.0.0', '::']);
const PATIENCE_MS = 10_000;

const { HOST = '', PORT, TLS_CERT } = process.env;
const address = {
  host: EVERYWHERE.has(HOST) ? '127.0.0.1' : HOST,
  port: PORT || '8080',
  path: '/health/live',
  timeout: PATIENCE_MS,
  rejectUnauthorized: false,
};

const dead = () => process.exit(1);
(TLS_CERT ? https : http)
  .get(address, ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1))
  .on('error', dead)
  .on('timeout', dead);
