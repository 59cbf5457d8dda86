/** Captures the microphone as samples. The worklet is a separate file: the page's content policy allows no other. */
import { texts } from '../texts.js';
import worklet from './capture.worklet.js';

export interface Capture {
  readonly stop: () => void;
}

/** `device`: an id; if it is missing, another device is used. Errors: one that says why there is no microphone. */
async function microphone(device: string | undefined): Promise<MediaStream> {
  try {
    return await navigator.mediaDevices.getUserMedia({ audio: device ? { deviceId: device } : true });
  } catch {
    throw new Error(texts.listen.noMicrophone);
  }
}

/** Calls `take` with samples at RATE, 100 ms at a time. Errors: those of `microphone`. */
export async function capture(take: (samples: Float32Array) => void, device?: string): Promise<Capture> {
  const stream = await microphone(device);
  const context = new AudioContext();
  let node: AudioWorkletNode | undefined;
  const stop = (): void => {
    // Messages still queued by the worklet are dropped.
    if (node) node.port.onmessage = null;
    for (const track of stream.getTracks()) track.stop();
    if (context.state !== 'closed') void context.close();
  };
  try {
    // If the user took long to allow the microphone, the click no longer counts, and the context is suspended.
    void context.resume();
    await context.audioWorklet.addModule(new URL(worklet, import.meta.url));
    node = new AudioWorkletNode(context, 'capture', { numberOfOutputs: 0 });
    node.port.onmessage = ({ data }) => take(data as Float32Array);
    context.createMediaStreamSource(stream).connect(node);
    return { stop };
  } catch (error) {
    stop();
    throw error;
  }
}
