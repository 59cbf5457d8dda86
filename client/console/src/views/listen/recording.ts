/** The microphone, recorded into a file. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { texts } from '../../texts.js';

async function begin(): Promise<MediaRecorder> {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
  return new MediaRecorder(stream);
}

const silence = (recorder: MediaRecorder): void =>
  recorder.stream.getTracks().forEach((track) => track.stop());

/** `error` is set if there is no microphone, or its use is not allowed. */
export function useRecorder(done: (file: File) => void) {
  const [recording, setRecording] = useState(false);
  const [error, setError] = useState<unknown>();
  const current = useRef<MediaRecorder | undefined>(undefined);
  useEffect(() => () => current.current && silence(current.current), []);
  const start = async (): Promise<void> => {
    setError(undefined);
    try {
      const recorder = (current.current = await begin());
      const pieces: Blob[] = [];
      recorder.ondataavailable = ({ data }) => pieces.push(data);
      recorder.onstop = () => {
        silence(recorder);
        setRecording(false);
        done(new File(pieces, texts.listen.recordingName, { type: recorder.mimeType }));
      };
      recorder.start();
      setRecording(true);
    } catch {
      setError(new Error(texts.listen.noMicrophone));
    }
  };
  return { recording, error, start, stop: () => current.current?.stop() };
}
