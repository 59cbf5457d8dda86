/**
 * The native uWebSockets.js. Its binary is loaded by file name, so that no package's JavaScript runs; where only a glibc that is
 * too old is in the way, an adapted copy is loaded (adapted-copy.ts). docs/http-stacks.md lists which binary is for which machine.
 */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { errorText } from '../../../contracts/errors.js';
import { adaptedCopy, temporaryCache } from './adapted-copy.js';
import { UWS_ENVIRONMENT } from './uws.js';
import type { UwsModule } from './uws-module.js';

export interface Binding {
  readonly module: UwsModule;
  /** The version of its package. */
  readonly version: string;
  /** True if it is the copy for an older glibc. */
  readonly isAdapted: boolean;
}

export interface BindingOptions {
  /** The folder for an adapted copy, whose parent exists; absent or unusable: a private one for temporary files. */
  readonly cacheFolder?: string | undefined;
  /** The package that holds the binaries. Its folder is also where an operator may put another build: the author's own. */
  readonly name?: string;
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

/** What a binary needs and the machine has not; undefined if something else is wrong. */
const missing = (error: unknown): string | undefined =>
  /version `(\w+_[\d.]+)' not found/.exec(errorText(error))?.[1];

/** Why a binary does not load, in a few words, since the dynamic linker's message is a line of paths. */
function obstacle(error: unknown): string {
  const version = missing(error);
  return version === undefined
    ? (errorText(error).split('\n')[0] ?? '')
    : `needs ${version.replace('_', ' ')}`;
}

const load = (file: string): UwsModule => require(file) as UwsModule;

/** Loads the copy out of the first folder that can hold it. Throws an Error with the reason of each. */
function loadCopy(file: string, folders: readonly string[]): UwsModule {
  const reasons = new Set<string>();
  for (const folder of folders)
    try {
      return load(adaptedCopy(file, folder));
    } catch (error) {
      reasons.add(obstacle(error));
    }
  throw new Error([...reasons].join('; '));
}

function loadFrom(file: string, folders: readonly string[]): Omit<Binding, 'version'> {
  try {
    return { module: load(file), isAdapted: false };
  } catch (error) {
    if (missing(error)?.startsWith('GLIBC_') !== true) throw new Error(obstacle(error));
    try {
      return { module: loadCopy(file, folders), isAdapted: true };
    } catch (second) {
      throw new Error(`${obstacle(error)}; no adapted copy: ${errorText(second)}`);
    }
  }
}

/** Throws an Error whose message is the reason why it does not load, in one line. */
function find(name: string, folders: readonly string[]): Binding {
  const folder = folderOf(name);
  if (folder === undefined) throw new Error(`${name} is not installed`);
  const version = versionIn(folder);
  const file = path.join(folder, BINARY);
  if (!existsSync(file)) throw new Error(`${version} has no ${BINARY}`);
  try {
    return { ...loadFrom(file, folders), version };
  } catch (error) {
    throw new Error(`${version} ${errorText(error)}`);
  }
}

/** Loads the binding. Throws an Error that says in one line why it does not load. */
export function loadBinding({ cacheFolder, name = 'uWebSockets.js' }: BindingOptions = {}): Binding {
  Object.assign(process.env, UWS_ENVIRONMENT);
  try {
    return find(name, [...(cacheFolder === undefined ? [] : [cacheFolder]), temporaryCache()]);
  } catch (error) {
    throw new Error(`no uWebSockets.js for Node ${process.version} loads here (${errorText(error)})`);
  }
}
