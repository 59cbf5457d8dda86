/**
 * The native uWebSockets.js: the packages that may contain it, newest first, and the first of them that loads here.
 * Binaries are loaded by file name, so that no package's JavaScript runs: one package imitates the binding in
 * JavaScript if its binary does not load. docs/http-stacks.md lists which binary is for which Node.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { errorText } from '../../../contracts/errors.js';
import { UWS_ENVIRONMENT, type UwsModule } from './uws.js';

interface BindingPackage {
  readonly name: string;
  /** The folder of its binaries. */
  readonly binaries: string;
}

/** The first package is also where an operator may put another build: the author's own. */
export const BINDING_PACKAGES: readonly BindingPackage[] = [
  { name: 'uWebSockets.js', binaries: '.' },
  { name: 'uWebSockets.js-20.30', binaries: 'binaries' },
];

export interface Binding {
  readonly module: UwsModule;
  /** The version of its package. */
  readonly version: string;
}

const require = createRequire(import.meta.url);
const BINARY = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;

/** A package's folder, searched by path, since packages that export only JavaScript cannot be resolved for it. */
const folderOf = (name: string): string | undefined =>
  require.resolve
    .paths(name)
    ?.map((modules) => path.join(modules, name))
    .find(existsSync);

const versionIn = (folder: string): string =>
  (JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8')) as { version: string }).version;

/** Why a binary does not load, in a few words, since the dynamic linker's message is a line of paths. */
function obstacle(error: unknown): string {
  const message = errorText(error);
  const library = /version `(\w+_[\d.]+)' not found/.exec(message)?.[1];
  return library === undefined ? (message.split('\n')[0] ?? '') : `needs ${library.replace('_', ' ')}`;
}

type Attempt = { readonly binding: Binding } | { readonly reason: string };

function attempt({ name, binaries }: BindingPackage): Attempt {
  const folder = folderOf(name);
  if (folder === undefined) return { reason: `${name} is not installed` };
  const version = versionIn(folder);
  const file = path.join(folder, binaries, BINARY);
  if (!existsSync(file)) return { reason: `${version} has no ${BINARY}` };
  try {
    return { binding: { module: require(file) as UwsModule, version } };
  } catch (error) {
    return { reason: `${version} ${obstacle(error)}` };
  }
}

/** Loads the newest binding that works. Throws an Error that says in one line why none does. */
export function loadBinding(packages = BINDING_PACKAGES): Binding {
  Object.assign(process.env, UWS_ENVIRONMENT);
  const reasons: string[] = [];
  for (const candidate of packages) {
    const tried = attempt(candidate);
    if ('binding' in tried) return tried.binding;
    reasons.push(tried.reason);
  }
  throw new Error(`no uWebSockets.js for Node ${process.version} loads here (${reasons.join('; ')})`);
}
