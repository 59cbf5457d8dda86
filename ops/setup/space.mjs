/**
 * Whether the disks have room for what steps are about to write, before they begin: npm finds out after a minute and a
 * half, and leaves the disk full.
 */
import fs from 'node:fs';
import path from 'node:path';
import { SetupError } from './failure.mjs';

/** The nearest folder that exists already. */
const existing = (folder) => (fs.existsSync(folder) ? folder : existing(path.dirname(folder)));

/**
 * `needs` are `{ folder, megabytes }`; those on one disk are added up. Throws SetupError that names the folder, what is
 * free and what is needed. A file system that does not tell is taken as it is.
 */
export function checkSpace(needs, { stat = fs.statSync, statfs = fs.statfsSync } = {}) {
  const disks = new Map();
  for (const { folder, megabytes } of needs) {
    const place = existing(folder);
    const disk = stat(place).dev;
    const { wanted } = disks.get(disk) ?? { wanted: 0 };
    disks.set(disk, { place, wanted: wanted + megabytes });
  }
  for (const { place, wanted } of disks.values()) {
    const { bavail, bsize, blocks } = statfs(place);
    const free = Math.floor((bavail * bsize) / 1e6);
    if (blocks > 0 && free < wanted)
      throw new SetupError(`the disk of ${place} has ${free} MB free; set-up needs about ${wanted} MB there`);
  }
}
