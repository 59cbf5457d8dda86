/** Another Node process as its inspector shows it: a collection from outside, and what is in use after it. */
import { WebSocket } from 'ws';
import { until } from '../test/fixtures/until.js';
import { memoryOf } from '../test/fixtures/memory.js';

/** For NODE_OPTIONS of the process: a free port, so that several can be looked at. */
export const INSPECTABLE = '--inspect-port=0';

export interface InUse {
  /** Bytes on V8's heap, and of buffers outside it. */
  readonly heap: number;
  readonly resident: number;
}

/** Where inspectors listen, by what was printed: by the process itself, or by its supervisor in a line of JSON. */
const addressesIn = (printed: string): string[] => printed.match(/ws:\/\/[^\s"\\]+/g) ?? [];

export class Inspected {
  #calls = 0;

  private constructor(
    private readonly pid: number,
    private readonly socket: WebSocket,
  ) {}

  /** `stderr` gives what the process, or its supervisor, has printed so far. */
  static async of(pid: number, stderr: () => string): Promise<Inspected> {
    const others = addressesIn(stderr()).length;
    process.kill(pid, 'SIGUSR1');
    const url = await until('the inspector listens', () => addressesIn(stderr())[others]);
    const socket = new WebSocket(url ?? '');
    await until('the inspector answers', () => socket.readyState === WebSocket.OPEN);
    return new Inspected(pid, socket);
  }

  /** After a collection. */
  async inUse(): Promise<InUse> {
    for (let round = 0; round < 3; round += 1) await this.#call('HeapProfiler.collectGarbage');
    const expression = '(({heapUsed, external}) => heapUsed + external)(process.memoryUsage())';
    const { result } = (await this.#call('Runtime.evaluate', { expression })) as {
      result: { value: number };
    };
    return { heap: result.value, resident: memoryOf(this.pid) };
  }

  close(): void {
    this.socket.terminate();
  }

  #call(method: string, params: object = {}): Promise<unknown> {
    const id = ++this.#calls;
    this.socket.send(JSON.stringify({ id, method, params }));
    return new Promise((resolve) => {
      const listen = (data: Buffer): void => {
        const answer = JSON.parse(String(data)) as { id?: number; result?: unknown };
        if (answer.id !== id) return;
        this.socket.off('message', listen);
        resolve(answer.result);
      };
      this.socket.on('message', listen);
    });
  }
}
