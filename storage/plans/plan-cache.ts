/**
 * Contents of plans in this process, each read once and shared by all sessions that run it. A content that is in use is found
 * again even if the cache has dropped it, so that there is never a second copy of it.
 *
 * Invariants: the cache itself keeps at most `bytes`, one larger content aside; each content is charged to its workspace from
 * when it was read until nothing refers to it any more, or until it was evicted.
 */
import { LRUCache } from 'lru-cache';
import { type MemoryLedger, type MemoryShare, mustCharge } from '../../contracts/ports/accounts/memory.js';

/** A content, and its size as JSON text in bytes. */
export interface SizedContent<Content extends object> {
  readonly content: Content;
  readonly bytes: number;
}

interface Held {
  readonly content: WeakRef<object>;
  readonly bytes: number;
  readonly workspaceId: string;
  share: MemoryShare | undefined;
}

export class PlanCache {
  readonly #kept: LRUCache<string, object>;
  /** All contents that exist, also those that only sessions still refer to. */
  readonly #held = new Map<string, Held>();
  readonly #reading = new Map<string, Promise<object>>();
  readonly #gone = new FinalizationRegistry<readonly [key: string, held: Held]>(([key, held]) =>
    this.#forget(key, held),
  );

  constructor(
    private readonly memory: MemoryLedger,
    private readonly bytes: number,
  ) {
    this.#kept = new LRUCache({ maxSize: bytes });
  }

  /**
   * The content with that key, which names its kind as well; `read` is called if there is none. Concurrent calls share one
   * reading. Errors: those of `read`; `memory_exhausted`.
   */
  async get<Content extends object>(
    key: string,
    workspaceId: string,
    read: () => Promise<SizedContent<Content>>,
  ): Promise<Content> {
    const found =
      this.find<Content>(key) ?? (await (this.#reading.get(key) ?? this.#read(key, workspaceId, read)));
    return found as Content;
  }

  /** The content with that key if there is one already. Errors: `memory_exhausted`. */
  find<Content extends object>(key: string): Content | undefined {
    const held = this.#held.get(key);
    const content = held?.content.deref();
    if (!held || !content) return undefined;
    this.#keep(key, content, held);
    return content as Content;
  }

  #read(key: string, workspaceId: string, read: () => Promise<SizedContent<object>>): Promise<object> {
    const reading = (async () => {
      try {
        const { content, bytes } = await read();
        const held = { content: new WeakRef(content), bytes, workspaceId, share: undefined };
        this.#keep(key, content, held);
        this.#held.set(key, held);
        this.#gone.register(content, [key, held], held);
        return content;
      } finally {
        this.#reading.delete(key);
      }
    })();
    this.#reading.set(key, reading);
    return reading;
  }

  /** Errors: `memory_exhausted`. */
  #keep(key: string, content: object, held: Held): void {
    held.share ??= this.#charged(key, held);
    this.#kept.set(key, content, { size: Math.max(1, Math.min(held.bytes, this.bytes)) });
  }

  #charged(key: string, held: Held): MemoryShare {
    const { workspaceId: holder, bytes } = held;
    const evict = (): void => {
      held.share = undefined;
      this.#kept.delete(key);
    };
    const share = this.memory.openShare({ kind: 'plan', holder, evict });
    try {
      mustCharge(share, bytes);
    } catch (error) {
      share.close();
      throw error;
    }
    return share;
  }

  #forget(key: string, held: Held): void {
    held.share?.close();
    if (this.#held.get(key) === held) this.#held.delete(key);
  }
}
