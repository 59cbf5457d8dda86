/** Finds the GTCRN model in a folder, without the runtime, which only the child may load. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { RECOGNITION_RATE } from '../../contracts/audio.js';
import { onnxMetadata } from '../backends/sherpa/onnx-metadata.js';

/** Checks the kind, because the runtime ends its process on any other, and the rate, because others would be misheard. */
function isGtcrn(file: string): boolean {
  const metadata = onnxMetadata(file);
  return metadata.get('model_type') === 'gtcrn' && metadata.get('sample_rate') === String(RECOGNITION_RATE);
}

/** The model's file; undefined if the folder has none. */
export const gtcrnIn = (folder: string): string | undefined =>
  (existsSync(folder) ? readdirSync(folder) : [])
    .filter((name) => name.endsWith('.onnx'))
    .map((name) => join(folder, name))
    .find(isGtcrn);
