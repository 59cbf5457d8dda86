/** Captures the microphone as samples. The worklet is a separate file: the page's content policy allows no other. */
import worklet from './capture.worklet.js';
import { closeMicrophone, openMicrophone } from './microphone.js';

export interface Capture {
  readonly stop: () => void;
}

/** Calls `take` with samples at RATE, 100 ms at a time. `device` as of `openMicrophone`. Errors: its own. */
export async function capture(take: (samples: Float32Array) => void, device?: string): Promise<Capture> {
  const stream = await openMicrophone(device);
  const context = new AudioContext();
  let node: AudioWorkletNode | undefined;
  const stop = (): void => {
    // Messages still queued by the worklet are dropped.
    if (node) node.port.onmessage = null;
    closeMicrophone(stream);
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
