/** Other gateways and bare proxies, as rows: each is started in front of the same double of a speech engine. */
import type { Server } from '../server.js';

export interface Rival {
  /** How figures name it: `rivals.ROW.over.ID`. */
  readonly id: string;
  /** Passes OpenAI's dialect on to `engine`, an address without a path. Throws Error where it cannot be had here, or does not start. */
  start(engine: string): Promise<Server>;
}
