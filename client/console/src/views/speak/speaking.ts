/** One synthesis at a time: received, drawn and played as it arrives. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { useAction, useFrames } from '../../hooks.js';
import { LivePlayer, speech, type Word } from '../../sound/live.js';
import { RATE } from '../../sound/pcm.js';
import { peaksOf } from '../../sound/peaks.js';
import { bodyOf, type Wanted } from './requests.js';

/** Samples per peak: 20 ms. */
const PEAK = RATE / 50;

export interface Spoken {
  readonly peaks: readonly number[];
  readonly words: readonly Word[];
  readonly seconds: number;
  /** From the request to the first sound, and to the last, in ms. */
  readonly firstMs: number | undefined;
  readonly allMs: number | undefined;
}

const NOTHING: Spoken = { peaks: [], words: [], seconds: 0, firstMs: undefined, allMs: undefined };

export function useSpeaking() {
  const [spoken, setSpoken] = useState(NOTHING);
  const [time, setTime] = useState(0);
  const [sounding, setSounding] = useState(false);
  const player = useRef<LivePlayer | undefined>(undefined);
  const kept = useRef<readonly Float32Array[]>([]);
  const quiet = () => {
    player.current?.close();
    setSounding(false);
  };
  const begin = (): LivePlayer => {
    quiet();
    setSounding(true);
    return (player.current = new LivePlayer());
  };
  useEffect(() => quiet, []);
  const action = useAction(async (signal, wanted: Wanted) => {
    const live = begin();
    const began = performance.now();
    const passed = () => Math.round(performance.now() - began);
    kept.current = [];
    setSpoken(NOTHING);
    for await (const { samples, words } of speech(bodyOf(wanted), signal)) {
      kept.current = [...kept.current, samples];
      live.add(samples);
      setSpoken((before) => ({
        ...before,
        words,
        peaks: [...before.peaks, ...peaksOf(samples, Math.ceil(samples.length / PEAK))],
        seconds: before.seconds + samples.length / RATE,
        firstMs: before.firstMs ?? passed(),
      }));
    }
    setSpoken((before) => ({ ...before, allMs: passed() }));
  });
  useFrames(sounding, () => {
    setTime(player.current?.time ?? 0);
    if (player.current?.over && !action.busy) quiet();
  });
  const again = () => {
    const live = begin();
    for (const samples of kept.current) live.add(samples);
  };
  const stop = () => {
    action.cancel();
    quiet();
  };
  return { spoken, time, sounding, action, again, stop };
}
