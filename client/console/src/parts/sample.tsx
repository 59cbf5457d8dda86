/** A sample of a voice beside it: one sounds at a time in the whole page, and can be stopped. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { request } from '../api.js';
import { useAction } from '../hooks.js';
import { sampleIn } from '../samples.js';
import { texts } from '../texts.js';

const { voices } = texts;

export interface Sampled {
  /** Empty for the default voice. */
  readonly id: string;
  readonly title: string;
  readonly languages: readonly string[];
}

/** Silences the sample that sounds, whichever part of the page plays it. */
let silence = (): void => undefined;

export function useSample() {
  /** The voice that is loading or playing. */
  const [current, setCurrent] = useState('');
  const sound = useRef<HTMLAudioElement | undefined>(undefined);
  const address = useRef('');
  const quiet = () => {
    sound.current?.pause();
    URL.revokeObjectURL(address.current);
  };
  useEffect(() => quiet, []);
  const play = async (signal: AbortSignal, { id, languages }: Sampled): Promise<void> => {
    const voice = id === '' ? {} : { reference_id: id };
    const body = { text: sampleIn(languages), ...voice, format: 'mp3', latency: 'low' };
    const file = await (await request('v1/tts', { body, signal })).blob();
    address.current = URL.createObjectURL(file);
    const playing = (sound.current = new Audio(address.current));
    await playing.play();
    await new Promise((over) => (playing.onended = playing.onpause = over));
  };
  const action = useAction(async (signal, voice: Sampled) => {
    setCurrent(voice.id);
    await play(signal, voice);
  });
  const stop = () => {
    action.cancel();
    quiet();
  };
  const run = (voice: Sampled): void => {
    silence();
    silence = stop;
    void action.run(voice);
  };
  return { current: action.busy ? current : undefined, run, stop, error: action.error };
}

export const Hear = ({
  voice,
  hear,
}: {
  readonly voice: Sampled;
  readonly hear: ReturnType<typeof useSample>;
}) => {
  const sounds = hear.current === voice.id;
  return (
    <button
      class="button"
      type="button"
      aria-label={sounds ? voices.stopOne(voice.title) : voices.hearOne(voice.title)}
      onClick={() => (sounds ? hear.stop() : hear.run(voice))}
    >
      {sounds ? voices.stop : voices.hear}
    </button>
  );
};
