/**
 * Calls whose signalling the gateway forwards unread to a media worker (docs/contract/transport.md "Embedded mode").
 * Invariant: a client that sends faster than the worker reads loses its connection, not its call.
 */
import type {
  CallObserver,
  JoinableCall,
  JoinableCalls,
  JoinableOptions,
  SignalConnect,
  SignalEnd,
  SignalLink,
} from '../../contracts/ports/calls/calls.js';
import { MeteredMemory, pieceOf } from '../../contracts/ports/accounts/memory.js';
import type { JobRunner } from '../../contracts/ports/jobs.js';
import { CALL_JOB, type CallArgs, type SignalReport } from '../wire.js';
import { WorkerCall } from '../worker-call.js';

/** Most bytes of commands that may wait for the worker when a client's frame is added. */
const MOST_SIGNAL_BYTES = 2 * 1024 * 1024;

/** A client's connection, and what its frames that wait are charged to. */
interface Connected {
  readonly link: SignalLink;
  readonly metered: MeteredMemory;
}

class EmbeddedCall extends WorkerCall<SignalReport> implements JoinableCall {
  readonly #links = new Map<number, Connected>();
  #link = 0;

  constructor(
    private readonly media: JobRunner,
    protected override readonly options: JoinableOptions,
    observer: CallObserver,
  ) {
    super(options, observer);
  }

  protected reports(): AsyncIterable<unknown> {
    const { sessionId, user, agent, record, part } = this.options;
    const args: CallArgs = { sessionId, user, agent, record, part };
    return this.media.runJob(CALL_JOB, args, this.run);
  }

  connect(how: SignalConnect, link: SignalLink): SignalEnd {
    const number = ++this.#link;
    if (this.over) link.close();
    else this.#links.set(number, { link, metered: new MeteredMemory(link.memory) });
    const ready = this.#introduce(number, how).catch(() => link.close());
    /** Bytes of frames that came before the connection was introduced. */
    let early = 0;
    return {
      receive: (frame) => {
        early += pieceOf(frame.length);
        if (early > MOST_SIGNAL_BYTES) return link.close();
        void ready.then(() => {
          early -= pieceOf(frame.length);
          this.#signal(number, frame);
        });
      },
      closed: () => {
        this.#links.delete(number);
        void ready.then(() => this.tell({ op: 'gone', link: number }));
      },
    };
  }

  /** Forwards a frame, or closes the connection if too much is waiting. */
  #signal(number: number, frame: Uint8Array | string): void {
    const connected = this.#links.get(number);
    if (!connected) return;
    const { link, metered } = connected;
    const waiting = this.waitingBytes;
    const bytes = waiting + pieceOf(frame.length);
    if (waiting > 0 && (bytes > MOST_SIGNAL_BYTES || !metered.set(bytes))) link.close();
    else this.tell({ op: 'signal', link: number, frame });
  }

  async #introduce(link: number, { version, query, from }: SignalConnect): Promise<void> {
    const token = await this.options.rotatedToken();
    this.tell({ op: 'connect', link, version, query: query.toString(), from, token });
  }

  protected take(report: SignalReport): void {
    const link = this.#links.get(report.link)?.link;
    if (report.on === 'signal') link?.send(report.frame);
    else link?.close();
  }

  protected closed(): void {
    for (const { link } of this.#links.values()) link.close();
    this.#links.clear();
  }
}

/** `media`: the pool of media workers; a call stays on the worker that it began on. */
export const createEmbeddedCalls = (media: JobRunner, observer: CallObserver): JoinableCalls => ({
  openCall: (options) => new EmbeddedCall(media, options, observer),
});
