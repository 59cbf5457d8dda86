/**
 * What the frames of one workspace may take of a turn of the event loop, whatever the number of its sockets; before a key is known, those
 * of one address.
 */
import { LRUCache } from 'lru-cache';
import { TurnShare } from '../../../contracts/time/loop-turn.js';

/** A client that sends as fast as it can, in pieces of the usual size, needs less for what one read brings. */
const TURN_MS = 8;

/** Holders that are remembered; a forgotten one has a new share, in a turn of as many others. */
const REMEMBERED = 4096;

export class FrameTurns {
  readonly #shares = new LRUCache<string, TurnShare>({ max: REMEMBERED });

  of(holder: string): TurnShare {
    const known = this.#shares.get(holder);
    if (known) return known;
    const made = new TurnShare(TURN_MS);
    this.#shares.set(holder, made);
    return made;
  }
}
