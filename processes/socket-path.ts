/** Where sockets may lie: the system keeps their paths in a short, fixed field. */
import { join } from 'node:path';

const LONGEST = process.platform === 'linux' ? 107 : 103;

/** Throws where the system could not take the path. */
export function checkSocketPath(path: string): void {
  const bytes = Buffer.byteLength(path);
  if (bytes <= LONGEST) return;
  throw new Error(
    `The socket path ${path} has ${bytes} bytes, the system takes ${LONGEST}: choose a shorter folder`,
  );
}

/** Which child of its role has that socket. */
export const indexOf = (socketPath: string): number => Number(/-(\d+)\.sock$/.exec(socketPath)?.[1] ?? 0);

/** The socket of one child of a role. */
export const socketOf = (folder: string, role: string, index: number): string =>
  join(folder, `${role}-${index}.sock`);
