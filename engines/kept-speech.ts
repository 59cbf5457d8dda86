/**
 * The sounds that a process keeps of its workspaces, bounded in bytes and in age. Only digests of their texts are held.
 *
 * Invariants: nobody hears the sound of another workspace; each workspace is charged for its own, as spare memory, which goes before
 * anybody pays for want of it; the least recently used sound goes first, of the workspace whose sounds are too large, or of the one that
 * has not used any for longest.
 */
import { createHash } from 'node:crypto';
import type { Clock } from '../contracts/clock.js';
import { LIMITS } from '../contracts/limits.js';
import type { MemoryLedger, MemoryShare } from '../contracts/ports/accounts/memory.js';
import type { KeptSound, KeptSpeech } from '../contracts/ports/speech/kept-speech.js';

const { soundBytes, workspaceBytes, processBytes, noted, ms: KEPT_MS } = LIMITS.keptSpeech;

/** What an entry counts besides its samples. */
const ENTRY_BYTES = 512;
const WORD_BYTES = 128;

interface Entry {
  readonly sound: KeptSound;
  readonly bytes: number;
  readonly madeAt: number;
}

/** The sounds of one workspace, the least recently used first. */
interface Shelf {
  readonly entries: Map<string, Entry>;
  readonly share: MemoryShare;
  bytes: number;
}

const bytesOf = ({ samples, words }: KeptSound): number =>
  samples.byteLength + words.length * WORD_BYTES + ENTRY_BYTES;

const digestOf = (workspaceId: string, key: string): string =>
  createHash('sha256').update(`${workspaceId}\n${key}`).digest('base64');

/** Takes the entry to the end of the map: it was used last. */
function touch<K, V>(map: Map<K, V>, key: K, value: V): void {
  map.delete(key);
  map.set(key, value);
}

const firstOf = <K>(keys: { keys(): Iterator<K> }): K | undefined => {
  const { value, done } = keys.keys().next();
  return done ? undefined : value;
};

export class SpeechShelves implements KeptSpeech {
  /** By workspace, the one that has not used any for longest first. */
  readonly #shelves = new Map<string, Shelf>();
  /** What was said of late, the oldest first. */
  readonly #said = new Set<string>();
  #bytes = 0;
  #isWatched = false;
  /** How often something was found, and was not. */
  readonly found = { hit: 0, miss: 0 };

  constructor(
    private readonly memory: MemoryLedger,
    private readonly clock: Clock,
  ) {}

  /** Bytes of all sounds. */
  get bytes(): number {
    return this.#bytes;
  }

  find(workspaceId: string, key: string): KeptSound | undefined {
    const shelf = this.#shelves.get(workspaceId);
    const digest = digestOf(workspaceId, key);
    const entry = shelf?.entries.get(digest);
    const isFresh = entry !== undefined && this.clock.monotonic() - entry.madeAt < KEPT_MS;
    this.found[isFresh ? 'hit' : 'miss'] += 1;
    if (!shelf || !isFresh) return undefined;
    touch(shelf.entries, digest, entry);
    touch(this.#shelves, workspaceId, shelf);
    return entry.sound;
  }

  isRepeated(workspaceId: string, key: string): boolean {
    const digest = digestOf(workspaceId, key);
    const isKnown = this.#said.delete(digest);
    this.#said.add(digest);
    const oldest = this.#said.size > noted ? firstOf(this.#said) : undefined;
    if (oldest !== undefined) this.#said.delete(oldest);
    return isKnown;
  }

  keep(workspaceId: string, key: string, sound: KeptSound): void {
    const bytes = bytesOf(sound);
    if (bytes > soundBytes) return;
    const digest = digestOf(workspaceId, key);
    const shelf = this.#shelfOf(workspaceId);
    this.#remove(shelf, digest);
    while (shelf.bytes + bytes > workspaceBytes) this.#removeOldest(shelf);
    while (this.#bytes + bytes > processBytes) this.#shrink();
    if (!shelf.share.charge(bytes)) return this.#tidy(workspaceId);
    shelf.entries.set(digest, { sound, bytes, madeAt: this.clock.monotonic() });
    this.#count(shelf, bytes);
    this.#watch();
  }

  /** Forgets everything: other engines speak now. */
  forget(): void {
    for (const workspaceId of [...this.#shelves.keys()]) this.#drop(workspaceId);
    this.#said.clear();
  }

  #shelfOf(workspaceId: string): Shelf {
    const known = this.#shelves.get(workspaceId);
    const owner = { kind: 'audio', holder: workspaceId, isSpare: true } as const;
    const shelf = known ?? {
      entries: new Map<string, Entry>(),
      share: this.memory.openShare({ ...owner, evict: () => this.#drop(workspaceId) }),
      bytes: 0,
    };
    touch(this.#shelves, workspaceId, shelf);
    return shelf;
  }

  #count(shelf: Shelf, bytes: number): void {
    shelf.bytes += bytes;
    this.#bytes += bytes;
  }

  #remove(shelf: Shelf, digest: string): void {
    const entry = shelf.entries.get(digest);
    if (!entry) return;
    shelf.entries.delete(digest);
    shelf.share.release(entry.bytes);
    this.#count(shelf, -entry.bytes);
  }

  #removeOldest(shelf: Shelf): void {
    const oldest = firstOf(shelf.entries);
    if (oldest !== undefined) this.#remove(shelf, oldest);
  }

  /** Makes room at the cost of whoever has not used any for longest. */
  #shrink(): void {
    const workspaceId = firstOf(this.#shelves);
    const shelf = workspaceId === undefined ? undefined : this.#shelves.get(workspaceId);
    if (workspaceId === undefined || !shelf) return;
    this.#removeOldest(shelf);
    this.#tidy(workspaceId);
  }

  #drop(workspaceId: string): void {
    const shelf = this.#shelves.get(workspaceId);
    if (!shelf) return;
    this.#shelves.delete(workspaceId);
    this.#bytes -= shelf.bytes;
    shelf.share.close();
  }

  /** Lets an empty shelf go. */
  #tidy(workspaceId: string): void {
    if (this.#shelves.get(workspaceId)?.entries.size === 0) this.#drop(workspaceId);
  }

  /** Looks after what is too old, as long as anything is kept. */
  #watch(): void {
    if (this.#isWatched) return;
    this.#isWatched = true;
    this.clock.after(KEPT_MS, () => {
      this.#isWatched = false;
      const now = this.clock.monotonic();
      for (const [workspaceId, shelf] of [...this.#shelves]) {
        const old = [...shelf.entries].filter(([, { madeAt }]) => now - madeAt >= KEPT_MS);
        for (const [digest] of old) this.#remove(shelf, digest);
        this.#tidy(workspaceId);
      }
      if (this.#shelves.size > 0) this.#watch();
    });
  }
}
