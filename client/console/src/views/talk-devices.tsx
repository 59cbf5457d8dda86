/** The microphone and the loudspeaker of calls: can be chosen before a call and changed during it. */
import type { SoundOptions } from '../../../src/room.js';
import type { AgentSession } from '../../../src/session.js';
import { useKept } from '../hooks.js';
import { DeviceField, useDevices, useMicrophoneChoice, USUAL } from '../parts/devices.js';

export function useChosenDevices() {
  const [microphone, setMicrophone] = useMicrophoneChoice();
  const [speaker, setSpeaker] = useKept<string>('talk.speaker', USUAL);
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
  // The session reports failures by its own event.
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
