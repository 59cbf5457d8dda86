/**
 * Microphones and loudspeakers by the ids of `enumerateDevices()`. A page that may not use the microphone gets empty
 * ids, so a device certainly does not exist only if the ids are known. `default` works in every browser, though only
 * some list a device with that id.
 */
import type { Room as LivekitRoom } from 'livekit-client';
import { SessionError } from './errors.js';

export type DeviceKind = 'audioinput' | 'audiooutput';

export const DEFAULT_DEVICE = 'default';

/** The id of the default device in browsers that list none as `default`. */
const USUAL = { audioinput: DEFAULT_DEVICE, audiooutput: '' } as const;

/** `named`: whether a device with that id is listed. Errors: `device_change_failed` if it certainly does not exist. */
export async function checkDevice(kind: DeviceKind, deviceId: string): Promise<{ readonly named: boolean }> {
  const devices = await navigator.mediaDevices.enumerateDevices();
  const ids = devices.filter((device) => device.kind === kind).map((device) => device.deviceId);
  const named = ids.includes(deviceId);
  if (!named && deviceId !== DEFAULT_DEVICE && !ids.includes(''))
    throw new SessionError('device_change_failed', { message: 'The device cannot be used: it is not there' });
  return { named };
}

/** Errors: `device_change_failed`; those of the browser. */
export async function switchDevice(room: LivekitRoom, kind: DeviceKind, deviceId: string): Promise<void> {
  const { named } = await checkDevice(kind, deviceId);
  // LiveKit reports a failure if the device in use has another id, which is no failure here.
  if (!named && deviceId === DEFAULT_DEVICE) await room.switchActiveDevice(kind, USUAL[kind], false);
  else if (!(await room.switchActiveDevice(kind, deviceId))) throw new SessionError('device_change_failed');
}
