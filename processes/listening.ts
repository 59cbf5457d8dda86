/**
 * Whether somebody listens on a Unix socket. Unlike a process id, that tells of programs in other containers as well, which
 * share the folder but not the list of processes.
 */
import { connect } from 'node:net';

export const isListening = (path: string): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(path);
    const answer = (listening: boolean) => (): void => {
      socket.destroy();
      resolve(listening);
    };
    socket.once('connect', answer(true)).once('error', answer(false));
  });
