/** Another Node process of this machine as its inspector shows it: what it holds after a collection. */
import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';

/** NODE_OPTIONS of a process that is to be looked into: a free port. */
export const INSPECTABLE = '--inspect-port=0';

const DEADLINE_MS = 20_000;
const COLLECTIONS = 3;

interface Inspectable {
  readonly pid: number;
  /** Its stderr so far, where the inspector says on which address it listens. */
  printed(): string;
}

const addressesIn = (printed: string): string[] => printed.match(/ws:\/\/[^\s"\\]+/g) ?? [];

async function addressOf({ pid, printed }: Inspectable): Promise<string> {
  const before = addressesIn(printed()).length;
  process.kill(pid, 'SIGUSR1');
  for (const deadline = performance.now() + DEADLINE_MS; performance.now() < deadline; await pause(50)) {
    const address = addressesIn(printed())[before];
    if (address !== undefined) return address;
  }
  throw new Error(`the inspector of process ${pid} does not listen`);
}

export class Inspector {
  #calls = 0;

  private constructor(
    private readonly pid: number,
    private readonly socket: WebSocket,
  ) {}

  static async of(process: Inspectable): Promise<Inspector> {
    const socket = new WebSocket(await addressOf(process));
    await once(socket, 'open');
    return new Inspector(process.pid, socket);
  }

  /** Resident bytes after a collection. */
  async resident(): Promise<number> {
    for (let round = 0; round < COLLECTIONS; round += 1) await this.#call('HeapProfiler.collectGarbage');
    const status = readFileSync(`/proc/${this.pid}/status`, 'utf8');
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
  }

  close(): void {
    this.socket.terminate();
  }

  #call(method: string): Promise<void> {
    const id = ++this.#calls;
    this.socket.send(JSON.stringify({ id, method }));
    return new Promise((resolve) => {
      const listen = (data: Buffer): void => {
        if ((JSON.parse(String(data)) as { id?: number }).id !== id) return;
        this.socket.off('message', listen);
        resolve();
      };
      this.socket.on('message', listen);
    });
  }
}
