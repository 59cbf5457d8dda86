/**
 * smart-turn v3 (pipecat, BSD-2-Clause) on ONNX Runtime: an encoder of Whisper's smallest kind that tells from the sound
 * whether a speaker has finished. Both lie in one folder, as `npm run models` has put them there (ops/models/smart-turn.json).
 */
import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { BANDS, featuresOf, FRAMES } from './features.js';

const BINDING = 'onnxruntime_binding.node';
const isModel = (name: string): boolean => /^smart-turn-v3.*\.onnx$/.test(name);

/** Whether the folder has all that it takes. */
export const hasSmartTurn = (folder: string): boolean =>
  existsSync(join(folder, BINDING)) && readdirSync(folder).some(isModel);

/** What the runtime takes and gives. */
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
/** One thread: what it would gain by more it would take from the recogniser. */
const OPTIONS = { intraOpNumThreads: 1, interOpNumThreads: 1, executionMode: 'sequential' };

function openSession(folder: string): Session {
  const runtime = createRequire(import.meta.url)(join(folder, BINDING)) as Runtime;
  runtime.initOrtOnce(ERRORS, Tensor, true);
  const session = new runtime.InferenceSession();
  session.loadModel(join(folder, readdirSync(folder).find(isModel) ?? ''), OPTIONS);
  return session;
}

/** Tells of samples at RECOGNITION_RATE how probable it is that the speaker has finished. */
export type SmartTurn = (samples: Int16Array) => number;

/** Errors: whatever is wrong with the files. Native code: for a process of its own. */
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
