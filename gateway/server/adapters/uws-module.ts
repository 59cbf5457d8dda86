/** uWebSockets.js, which is loaded at run time (bindings.ts). */
import type { App, SSLApp, us_listen_socket } from 'uWebSockets.js';

/** The part of the native module that is used. */
export interface UwsModule {
  readonly App: typeof App;
  readonly SSLApp: typeof SSLApp;
  readonly LIBUS_LISTEN_EXCLUSIVE_PORT: number;
  us_listen_socket_close(socket: us_listen_socket): void;
  us_socket_local_port(socket: us_listen_socket): number;
  _cfg(setting: string): void;
}
