/** The text printed when the gateway is ready: the address, the key or its file, a command to paste. */
import { relative, sep } from 'node:path';
import { commandLine } from '../../contracts/command-line.js';
import type { FirstKey } from '../../storage/keys/first-key.js';
import type { Config } from '../config.js';
import { naturalVoice } from './natural-voice.js';
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

/** As it is typed in the working directory; outside of it the whole path, which means the same everywhere. */
export function shown(file: string, from = process.cwd()): string {
  const here = relative(from, file);
  return here === '' || here.split(sep)[0] === '..' ? file : here;
}

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
        line: `none in ${shown(firstKey.file)}; make one with: ${commandLine('keys', 'create')}`,
        shell: '<your key>',
      };
    case 'environment':
      return { line: 'the value of API_KEY', shell: '$API_KEY' };
  }
}

/** Browsers on other machines cannot join calls without TLS (docs/contract/decisions.md 7). */
const unencrypted = (address: string): readonly string[] =>
  address.startsWith('https://')
    ? []
    : ['  calls    only from browsers on this machine. For others set TLS_CERT and TLS_KEY, or PUBLIC_URL'];

/** At the first start, if nothing but what came with it speaks. */
function betterVoice({ config, firstKey }: Ready): readonly string[] {
  const isPlain = config.models.tts.length === 0 && config.ttsEngines.includes('flite');
  const offer = firstKey.state === 'created' && isPlain ? naturalVoice() : undefined;
  if (offer === undefined) return [];
  return [`  voices   a natural one: ${offer}; it tells whether this machine is quick enough for calls`];
}

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
    ...betterVoice(ready),
    '',
  ].join('\n');
}
