/**
 * Microphones and loudspeakers by the ids of `enumerateDevices()`. A page that has not been allowed to listen gets no
 * ids, so that only what is missing among known ones is surely gone. `default` works in every browser, though only some
 * have a device of that name.
 */
import type { Room as LivekitRoom } from 'livekit-client';
import { SessionError } from './errors.js';

export type DeviceKind = 'audioinput' | 'audiooutput';

export const DEFAULT_DEVICE = 'default';

/** The id of the usual device where none is called so. */
const USUAL = { audioinput: DEFAULT_DEVICE, audiooutput: '' } as const;

/** Errors: `device_change_failed` where it is surely not there. */
export async function checkDevice(kind: DeviceKind, deviceId: string): Promise<{ readonly named: boolean }> {
  const devices = await navigator.mediaDevices.enumerateDevices();
  const ids = devices.filter((device) => device.kind === kind).map((device) => device.deviceId);
  const named = ids.includes(deviceId);
  if (!named && deviceId !== DEFAULT_DEVICE && !ids.includes(''))
    throw new SessionError('device_change_failed', { message: 'The device cannot be used: it is not there' });
  return { named };
}

/** Errors: `device_change_failed`, and what the browser says. */
export async function switchDevice(room: LivekitRoom, kind: DeviceKind, deviceId: string): Promise<void> {
  const { named } = await checkDevice(kind, deviceId);
  // LiveKit takes another device than the one asked for as a failure, which here it is not.
  if (!named && deviceId === DEFAULT_DEVICE) await room.switchActiveDevice(kind, USUAL[kind], false);
  else if (!(await room.switchActiveDevice(kind, deviceId))) throw new SessionError('device_change_failed');
}
