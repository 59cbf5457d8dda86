/**
 * uWebSockets.js, where it is installed: the cheapest server that there is for Node. A checkout's gateway loads it on an older
 * glibc, too. Baselines fall back to Node's own.
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const require = createRequire(import.meta.url);
const NAME = 'uWebSockets.js';
const BINARY = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
/** The gateway's way to it, in a checkout that is compiled. */
const LOADER = 'dist/gateway/server/adapters/bindings.js';

export interface UwsResponse {
  onAborted(listen: () => void): void;
  onData(listen: (chunk: ArrayBuffer, isLast: boolean) => void): void;
  cork(work: () => void): void;
  writeHeader(name: string, value: string): void;
  end(body: Buffer): void;
}

export interface UwsRequest {
  getUrl(): string;
  getHeader(name: string): string;
}

export interface UwsSocket {
  send(message: ArrayBuffer | string | Buffer, isBinary: boolean): void;
}

export interface UwsApp {
  any(route: string, handle: (response: UwsResponse, request: UwsRequest) => void): UwsApp;
  ws(route: string, behaviour: object): UwsApp;
  listen(host: string, port: number, listening: (socket: object | false) => void): UwsApp;
}

export interface Uws {
  App(): UwsApp;
  us_socket_local_port(socket: object): number;
}

interface Loader {
  loadBinding(): { readonly module: Uws };
}

/** `modules`: the folder that it is installed in. */
async function loadFrom(modules: string): Promise<Uws> {
  const loader = path.join(modules, '..', LOADER);
  if (!existsSync(loader)) return require(path.join(modules, NAME, BINARY)) as Uws;
  const { loadBinding } = (await import(pathToFileURL(loader).href)) as Loader;
  return loadBinding().module;
}

/** Undefined where no binary loads here. */
export async function loadUws(): Promise<Uws | undefined> {
  const modules = require.resolve.paths(NAME)?.find((folder) => existsSync(path.join(folder, NAME)));
  if (modules === undefined) return undefined;
  try {
    return await loadFrom(modules);
  } catch {
    return undefined;
  }
}
