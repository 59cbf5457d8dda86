/** The microphone and the loudspeaker of calls: chosen before, changed during one. Names are told once the page may listen. */
import { useEffect, useState } from 'preact/hooks';
import type { SoundOptions } from '../../../src/room.js';
import type { AgentSession } from '../../../src/session.js';
import { useKept } from '../hooks.js';
import { Field } from '../parts/basics.js';
import { texts } from '../texts.js';

const { talk } = texts;

const KINDS = { microphone: 'audioinput', speaker: 'audiooutput' } as const;
type Device = keyof typeof KINDS;

/** Some browsers list the usual device under this id, all take it. */
const USUAL = 'default';

/** Those that can be told apart; looked for again when some come or go, and when `on` changes. */
function useDevices(on: unknown): readonly MediaDeviceInfo[] {
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

const DeviceField = ({
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

export function useChosenDevices() {
  const [microphone, setMicrophone] = useKept('talk.microphone', USUAL);
  const [speaker, setSpeaker] = useKept('talk.speaker', USUAL);
  const options: SoundOptions = {
    ...(microphone !== USUAL && { microphone: { deviceId: microphone } }),
    ...(speaker !== USUAL && { speaker: { deviceId: speaker } }),
  };
  return { microphone, speaker, setMicrophone, setSpeaker, options };
}

export function DeviceFields({
  chosen: { microphone, speaker, setMicrophone, setSpeaker },
  session,
  connected,
}: {
  readonly chosen: ReturnType<typeof useChosenDevices>;
  readonly session: AgentSession | undefined;
  readonly connected: boolean;
}) {
  const known = useDevices(connected);
  // The session tells by its own event what has failed.
  const failed = () => undefined;
  const useMicrophone = (id: string) => {
    setMicrophone(id);
    if (connected) void session?.useMicrophone(id).catch(failed);
  };
  const useSpeaker = (id: string) => {
    setSpeaker(id);
    if (connected) void session?.useSpeaker(id).catch(failed);
  };
  return (
    <>
      <DeviceField device="microphone" known={known} value={microphone} choose={useMicrophone} />
      <DeviceField device="speaker" known={known} value={speaker} choose={useSpeaker} />
    </>
  );
}
