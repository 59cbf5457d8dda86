/** Refuses a realtime client in band: clients show nothing of a refused upgrade. */
import { CLOSE } from '../../../../contracts/close-codes.js';
import type { Socket, SocketEvents } from '../../../server/port.js';
import { toldOf } from './faults.js';
import { ServerEvents } from './server-events.js';

const BAD_REQUEST = 400;

/** Reports the error in band, then closes with 1008. */
export const refusing =
  (error: unknown, generationId: string, ended: (status: number) => void) =>
  (socket: Socket): SocketEvents => {
    const told = toldOf(error);
    new ServerEvents(socket, generationId).error(told, null);
    socket.close({ code: CLOSE.policy.code, reason: told.message });
    return { message: () => undefined, closed: () => ended(BAD_REQUEST) };
  };
