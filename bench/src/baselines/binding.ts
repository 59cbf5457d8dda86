/** uWebSockets.js, where it is installed: the cheapest server that there is for Node. Baselines fall back to Node's own. */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const require = createRequire(import.meta.url);
const BINARY = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
/** Packages under whose names it is installed, and the folders of their binaries. */
const PLACES = [
  ['uWebSockets.js', '.'],
  ['uWebSockets.js-20.30', 'binaries'],
] as const;

export interface UwsResponse {
  onAborted(listen: () => void): void;
  onData(listen: (chunk: ArrayBuffer, isLast: boolean) => void): void;
  cork(work: () => void): void;
  writeHeader(name: string, value: string): void;
  end(body: Buffer): void;
}

export interface UwsSocket {
  send(message: ArrayBuffer | string | Buffer, isBinary: boolean): void;
}

export interface UwsApp {
  any(route: string, handle: (response: UwsResponse) => void): UwsApp;
  ws(route: string, behaviour: object): UwsApp;
  listen(host: string, port: number, listening: (socket: object | false) => void): UwsApp;
}

export interface Uws {
  App(): UwsApp;
  us_socket_local_port(socket: object): number;
}

/** Undefined where no binary loads here. */
export function loadUws(): Uws | undefined {
  for (const [name, binaries] of PLACES) {
    const folder = require.resolve
      .paths(name)
      ?.map((modules) => path.join(modules, name))
      .find(existsSync);
    try {
      if (folder !== undefined) return require(path.join(folder, binaries, BINARY)) as Uws;
    } catch {
      continue;
    }
  }
  return undefined;
}
