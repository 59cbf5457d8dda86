/**
 * smart-turn v3 (pipecat, BSD-2-Clause) on ONNX Runtime: an encoder of Whisper's smallest kind that decides by the sound
 * whether a speaker has finished. Both are in one folder, where `npm run models` puts them (ops/models/smart-turn.json).
 */
import { createRequire } from 'node:module';
import { BANDS, featuresOf, FRAMES } from './features.js';
import { smartTurnIn } from './smart-turn-files.js';

/** Input and output values of the runtime. */
class Tensor {
  readonly location = 'cpu';

  constructor(
    readonly type: string,
    readonly data: Float32Array,
    readonly dims: readonly number[],
  ) {}
}

interface Session {
  readonly inputMetadata: readonly { readonly name: string }[];
  readonly outputMetadata: readonly { readonly name: string }[];
  loadModel(path: string, options: object): void;
  run(
    inputs: Readonly<Record<string, Tensor>>,
    outputs: Readonly<Record<string, null>>,
    options: object,
  ): Readonly<Record<string, Tensor>>;
}

interface Runtime {
  initOrtOnce(logLevel: number, tensor: typeof Tensor, isMainThread: boolean): void;
  readonly InferenceSession: new () => Session;
}

const ERRORS = 3;
/** One thread: more would slow the recogniser down by as much as they gain here. */
const OPTIONS = { intraOpNumThreads: 1, interOpNumThreads: 1, executionMode: 'sequential' };

function openSession(folder: string): Session {
  const files = smartTurnIn(folder);
  const runtime = createRequire(import.meta.url)(files.runtime) as Runtime;
  runtime.initOrtOnce(ERRORS, Tensor, true);
  const session = new runtime.InferenceSession();
  session.loadModel(files.model, OPTIONS);
  return session;
}

/** The probability that the speaker of samples at RECOGNITION_RATE has finished. */
export type SmartTurn = (samples: Int16Array) => number;

/** Errors: anything wrong with the files. Native code, so it needs a process of its own. */
export function loadSmartTurn(folder: string): SmartTurn {
  const session = openSession(folder);
  const [input = '', output = ''] = [session.inputMetadata[0]?.name, session.outputMetadata[0]?.name];
  return (samples) => {
    const features = new Tensor('float32', featuresOf(samples), [1, BANDS, FRAMES]);
    const probability = session.run({ [input]: features }, { [output]: null }, {})[output]?.data[0];
    if (probability === undefined || !(probability >= 0 && probability <= 1))
      throw new Error('smart-turn gave no probability');
    return probability;
  };
}
