/** A field to choose a microphone or a loudspeaker. Browsers give names only once the page may use the microphone. */
import { useEffect, useState } from 'preact/hooks';
import { useKept } from '../hooks.js';
import { texts } from '../texts.js';
import { Field } from './basics.js';

const { talk } = texts;

const KINDS = { microphone: 'audioinput', speaker: 'audiooutput' } as const;
type Device = keyof typeof KINDS;

/** Id of the system's default device: some browsers list it, all accept it. */
export const USUAL = 'default';

/** The devices that can be told apart; listed again when devices come or go, and when `on` changes. */
export function useDevices(on: unknown): readonly MediaDeviceInfo[] {
  const [devices, setDevices] = useState<readonly MediaDeviceInfo[]>([]);
  useEffect(() => {
    const { mediaDevices } = navigator;
    // Missing unless the page came over HTTPS or from this machine.
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

/** The chosen microphone, shared by all views and kept across reloads. */
export const useMicrophoneChoice = () => useKept<string>('talk.microphone', USUAL);
