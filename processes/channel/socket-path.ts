/** Paths of Unix sockets: the system keeps them in a short field of fixed length. */
import { join } from 'node:path';

/** Longest path of a Unix socket, in bytes. */
export const LONGEST = process.platform === 'linux' ? 107 : 103;

/** Throws if the path is too long for the system. */
export function checkSocketPath(path: string): void {
  const bytes = Buffer.byteLength(path);
  if (bytes <= LONGEST) return;
  throw new Error(
    `The socket path ${path} has ${bytes} bytes, the system takes ${LONGEST}: choose a shorter folder`,
  );
}

/** The index within its role of the child with that socket. */
export const indexOf = (socketPath: string): number => Number(/-(\d+)\.sock$/.exec(socketPath)?.[1] ?? 0);

/** The socket of one child of a role. */
export const socketOf = (folder: string, role: string, index: number): string =>
  join(folder, `${role}-${index}.sock`);
