/** The microphone, recorded into a file. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { closeMicrophone, openMicrophone } from '../../sound/microphone.js';
import { texts } from '../../texts.js';

/** `error` is set if there is no microphone, or its use is not allowed. */
export function useRecorder(done: (file: File) => void) {
  const [recording, setRecording] = useState(false);
  const [error, setError] = useState<unknown>();
  const current = useRef<MediaRecorder | undefined>(undefined);
  useEffect(() => () => current.current && closeMicrophone(current.current.stream), []);
  const start = async (): Promise<void> => {
    setError(undefined);
    try {
      const recorder = (current.current = new MediaRecorder(await openMicrophone()));
      const pieces: Blob[] = [];
      recorder.ondataavailable = ({ data }) => pieces.push(data);
      recorder.onstop = () => {
        closeMicrophone(recorder.stream);
        setRecording(false);
        done(new File(pieces, texts.listen.recordingName, { type: recorder.mimeType }));
      };
      recorder.start();
      setRecording(true);
    } catch (failure) {
      setError(failure);
    }
  };
  return { recording, error, start, stop: () => current.current?.stop() };
}
