/**
 * npm as set-up uses it: always npm's own client, so that registry, proxy, certificates and credentials are
 * those that npm is configured with. No script of any package is ever run.
 */
import path from 'node:path';
import { authorityHint } from './authorities.mjs';
import { runChild } from './children.mjs';
import { SetupError } from './failure.mjs';
import { ROOT } from './paths.mjs';
import { UNREACHABLE, watchRegistry } from './registry-watch.mjs';

const ALWAYS = [
  '--loglevel=http',
  '--ignore-scripts',
  '--no-audit',
  '--no-fund',
  '--no-update-notifier',
  '--no-progress',
];

/** Two short retries, instead of npm's minutes, before the registry counts as unreachable. */
const RETRIES = ['--fetch-retries=2', '--fetch-retry-mintimeout=1000', '--fetch-retry-maxtimeout=5000'];

/** How much of npm's explanation is shown. */
const MOST_LINES = 12;

const REFUSED = /\b(E401|E403|E404|E429|E5\d\d|ETARGET)\b/;

/** The npm that runs this command, else the one on PATH. */
function npmCommand() {
  const running = process.env.npm_execpath;
  if (running && path.basename(running) === 'npm-cli.js')
    return { command: process.execPath, first: [running] };
  return { command: 'npm', first: [] };
}

async function run(args, { cwd = ROOT, signal, onLine } = {}) {
  const { command, first } = npmCommand();
  try {
    return await runChild(command, [...first, ...args], { cwd, signal, onLine, env: process.env });
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    throw new SetupError('npm was not found on PATH; it comes with Node', { cause: error });
  }
}

/** The address of the registry that npm is configured with; empty if it names none. Throws SetupError. */
export async function registryAddress(cwd) {
  const { npm_config_registry: told } = process.env;
  if (told) return told;
  const { output } = await run(['config', 'get', 'registry'], { cwd });
  return output.find((line) => /^https?:\/\//.test(line)) ?? '';
}

/** The host of the configured registry, without credentials. */
async function registryHost(cwd) {
  const address = await registryAddress(cwd);
  return URL.canParse(address) ? new URL(address).host : 'that npm is configured with';
}

/** npm's own words about what went wrong, without its usage text and its log's name. */
function errorLines(output) {
  const lines = output
    .filter((line) => /^npm (error|ERR!)/.test(line))
    .map((line) => line.replace(/^npm (error|ERR!)\s?/, ''))
    .filter((line) => line.trim() && !/complete log of this run/.test(line));
  const usage = lines.indexOf('Usage:');
  return lines.slice(0, usage < 0 ? MOST_LINES : Math.min(usage - 1, MOST_LINES));
}

const DAMAGED = /\b(EINTEGRITY|Z_[A-Z]+_ERROR|TAR_[A-Z_]+)\b/;
const DISK = /\b(EROFS|ENOSPC|EDQUOT|EACCES|EPERM)\b/;

async function failure(what, output, host) {
  const lines = errorLines(output);
  const text = lines.join('\n');
  const unreachable = UNREACHABLE.exec(text);
  if (unreachable)
    return `${what}: the registry ${host} could not be reached (${unreachable[0]})${authorityHint(text)}`;
  const refused = REFUSED.exec(text);
  if (refused) return `${what}: the registry ${host} refused (${refused[0]})\n${text}`;
  if (DAMAGED.test(text)) return `${what}: the registry ${host} sent a damaged file\n${text}`;
  const disk = DISK.exec(text);
  if (disk) return `${what}: npm cannot write (${disk[0]})\n${text}`;
  return `${what}: npm failed\n${text || output.slice(-12).join('\n')}`;
}

/**
 * Runs `npm <args>` for set-up and returns its output lines; `say` is told of a registry that does not answer. Throws a
 * SetupError that begins with `what` and names the registry's host where that is the cause.
 */
export async function npm(what, args, { cwd = ROOT, signal, say = () => {}, onLine = () => {} } = {}) {
  const host = () => registryHost(cwd);
  const giving = new AbortController();
  let reason;
  const watch = watchRegistry({
    say: async (text) => say(`${what}: the registry ${await host()} ${text}`),
    giveUp: (text) => giving.abort((reason = text)),
  });
  try {
    const { code, output } = await run([...args, ...ALWAYS, ...RETRIES], {
      cwd,
      signal: signal ? AbortSignal.any([signal, giving.signal]) : giving.signal,
      onLine: (line) => {
        watch.line(line);
        onLine(line);
      },
    });
    if (code !== 0) throw new SetupError(await failure(what, output, await host()));
    return output;
  } catch (error) {
    if (reason === undefined) throw error;
    throw new SetupError(`${what}: the registry ${await host()} ${reason}${authorityHint(reason)}`, {
      cause: error,
    });
  } finally {
    watch.end();
  }
}
