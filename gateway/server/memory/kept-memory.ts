/**
 * Memory into which the stack's bytes are copied before its callback returns, and which is kept and used again: the system hands out
 * new memory page by page, a millisecond for each MiB, many times longer than the copy itself takes.
 *
 * Invariants: whoever has a part of it is charged for that part, and the memory itself for the rest of what was ever used at once; it
 * goes when it was not used for `keptMs`, or when anybody needs what is left of it. Whoever has a part then keeps that.
 */
import type { Clock } from '../../../contracts/clock.js';
import {
  MeteredMemory,
  type MemoryKind,
  type MemoryLedger,
  type MemoryShare,
} from '../../../contracts/ports/accounts/memory.js';

/** A part of the memory, until `leave` is called, once. */
export interface KeptPart {
  readonly bytes: Buffer;
  leave(): void;
}

interface Area {
  readonly buffer: Buffer;
  readonly share: MemoryShare;
  readonly charged: MeteredMemory;
  /** Bytes from its beginning that have been handed out since it was empty, and the most that ever were. */
  used: number;
  most: number;
  /** Bytes of the parts that are still out. */
  out: number;
}

export interface KeptOptions {
  readonly kind: MemoryKind;
  /** Of all parts at once. */
  readonly mostBytes: number;
  /** How long it is kept unused. */
  readonly keptMs: number;
}

export class KeptMemory {
  #area: Area | undefined;
  #cancel: () => void = () => undefined;

  constructor(
    private readonly memory: MemoryLedger,
    private readonly clock: Clock,
    private readonly options: KeptOptions,
  ) {}

  /** A part of so many bytes, for which its receiver is charged; undefined if there is no place for it. */
  take(size: number): KeptPart | undefined {
    const area = (this.#area ??= this.#open());
    const start = area.used;
    if (start + size > this.options.mostBytes) return undefined;
    this.#cancel();
    area.used += size;
    area.most = Math.max(area.most, area.used);
    area.out += size;
    this.#charge(area);
    return { bytes: area.buffer.subarray(start, start + size), leave: () => this.#leave(area, size) };
  }

  #open(): Area {
    const owner = { kind: this.options.kind, holder: 'landing', isSpare: true };
    const share = this.memory.openShare({ ...owner, evict: () => this.#drop() });
    const buffer = Buffer.allocUnsafeSlow(this.options.mostBytes);
    return { buffer, share, charged: new MeteredMemory(share), used: 0, most: 0, out: 0 };
  }

  #leave(area: Area, size: number): void {
    area.out -= size;
    if (area.out === 0) area.used = 0;
    if (area !== this.#area) return;
    this.#charge(area);
    if (area.out === 0 && area === this.#area)
      this.#cancel = this.clock.after(this.options.keptMs, () => this.#drop());
  }

  #charge({ charged, most, out }: Area): void {
    if (!charged.set(most - out)) this.#drop();
  }

  #drop(): void {
    this.#cancel();
    this.#area?.share.close();
    this.#area = undefined;
  }
}
