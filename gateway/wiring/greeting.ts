/** The text printed when the gateway is ready: the address, the key or its file, a command to paste. */
import { relative } from 'node:path';
import type { FirstKey } from '../../storage/keys/first-key.js';
import type { Config } from '../config.js';
import { urlHost } from './url-host.js';

export interface Ready {
  readonly config: Config;
  readonly port: number;
  readonly firstKey: FirstKey;
}

const MIB = 1024 * 1024;
const EVERYWHERE = new Set(['0.0.0.0', '::', '']);

export function addressOf({ config, port }: Ready): string {
  if (config.publicUrl !== undefined) return config.publicUrl;
  const host = EVERYWHERE.has(config.host) ? 'localhost' : urlHost(config.host);
  return `${config.tlsCert === undefined ? 'http' : 'https'}://${host}:${port}`;
}

const shown = (file: string): string => relative(process.cwd(), file) || file;

/** The line about the key, and a shell expression that yields the key. */
function keyOf(firstKey: FirstKey): { readonly line: string; readonly shell: string } {
  switch (firstKey.state) {
    case 'created':
      return {
        line: `${firstKey.key}   shown this once, kept in ${shown(firstKey.file)}`,
        shell: firstKey.key,
      };
    case 'kept':
      return { line: `in ${shown(firstKey.file)}`, shell: `$(cat '${shown(firstKey.file)}')` };
    case 'absent':
      return {
        line: `none in ${shown(firstKey.file)}; make one with: npm run keys -- create`,
        shell: '<your key>',
      };
    case 'environment':
      return { line: 'as API_KEY says', shell: '$API_KEY' };
  }
}

/** Browsers on other machines cannot join calls without TLS (docs/contract/decisions.md 7). */
const unencrypted = (address: string): readonly string[] =>
  address.startsWith('https://')
    ? []
    : [
        '  calls    unencrypted, by ws://: set TLS_CERT and TLS_KEY, or PUBLIC_URL, for other machines than this',
      ];

export function greeting(ready: Ready): string {
  const { line, shell } = keyOf(ready.firstKey);
  const address = addressOf(ready);
  return [
    '',
    'Speech gateway is ready.',
    `  open     ${address}/console   in a browser, with the key below`,
    `  address  ${address}`,
    `  key      ${line}`,
    ...unencrypted(address),
    `  memory   ${ready.config.memoryBudgetBytes / MIB} MiB for what waits (MEMORY_BUDGET_MB)`,
    '  try      ' +
      `curl -s ${address}/v1/tts -H "Authorization: Bearer ${shell}" -H "Content-Type: application/json" ` +
      `-d '{"text": "Hello, and welcome."}' -o hello.mp3`,
    '',
  ].join('\n');
}
