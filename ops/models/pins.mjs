/**
 * Trust on first use: the digest of what was fetched for an item whose digest the catalogue does not know. A later fetch
 * of the same address must bring the same bytes. Kept when a model is removed.
 */
import { writeAtomically } from '../setup/stamps.mjs';
import { pinsFile, readJson } from './places.mjs';

const read = () => readJson(pinsFile()) ?? {};

/** The pinned SHA-256 of an address; undefined at the first fetch. */
export const pinOf = (address) => read()[address]?.sha256;

/** Pins digests by address. */
export function pin(digests) {
  const first = new Date().toISOString();
  const added = Object.fromEntries(
    Object.entries(digests).map(([address, sha256]) => [address, { sha256, first }]),
  );
  writeAtomically(pinsFile(), `${JSON.stringify({ ...read(), ...added }, null, 2)}\n`);
}
