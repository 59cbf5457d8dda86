/** A microphone or a loudspeaker to choose. Names are told once the page may listen. */
import { useEffect, useState } from 'preact/hooks';
import { useKept } from '../hooks.js';
import { texts } from '../texts.js';
import { Field } from './basics.js';

const { talk } = texts;

const KINDS = { microphone: 'audioinput', speaker: 'audiooutput' } as const;
type Device = keyof typeof KINDS;

/** Some browsers list the usual device under this id, all take it. */
export const USUAL = 'default';

/** Those that can be told apart; looked for again when some come or go, and when `on` changes. */
export function useDevices(on: unknown): readonly MediaDeviceInfo[] {
  const [devices, setDevices] = useState<readonly MediaDeviceInfo[]>([]);
  useEffect(() => {
    const { mediaDevices } = navigator;
    // Missing where the page came neither by HTTPS nor from this machine.
    if (!mediaDevices) return;
    const look = () => void mediaDevices.enumerateDevices().then(setDevices, () => undefined);
    look();
    mediaDevices.addEventListener('devicechange', look);
    return () => mediaDevices.removeEventListener('devicechange', look);
  }, [on]);
  return devices.filter(({ deviceId }) => deviceId !== '' && deviceId !== USUAL);
}

export const DeviceField = ({
  device,
  known,
  value,
  choose,
}: {
  readonly device: Device;
  readonly known: readonly MediaDeviceInfo[];
  readonly value: string;
  readonly choose: (id: string) => void;
}) => {
  const options = known.filter(({ kind }) => kind === KINDS[device]);
  const isKnown = value === USUAL || options.some(({ deviceId }) => deviceId === value);
  return (
    <Field label={talk.devices[device]}>
      {(tied) => (
        <select {...tied} value={value} onChange={({ currentTarget }) => choose(currentTarget.value)}>
          <option value={USUAL}>{talk.devices.usual}</option>
          {!isKnown && <option value={value}>{talk.devices.before}</option>}
          {options.map(({ deviceId, label }, index) => (
            <option key={deviceId} value={deviceId}>
              {label || talk.devices.unnamed(index + 1)}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
};

/** The same in all views, and after a reload. */
export const useMicrophoneChoice = () => useKept<string>('talk.microphone', USUAL);
