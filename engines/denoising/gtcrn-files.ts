/** Where a folder's GTCRN is, without the runtime, which is for the child alone. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { RECOGNITION_RATE } from '../../contracts/audio.js';
import { onnxMetadata } from '../backends/sherpa/onnx-metadata.js';

/** The runtime ends its process where a model is of another kind; another rate would be heard wrongly. */
function isGtcrn(file: string): boolean {
  const metadata = onnxMetadata(file);
  return metadata.get('model_type') === 'gtcrn' && metadata.get('sample_rate') === String(RECOGNITION_RATE);
}

/** The model's file; undefined where the folder has none. */
export const gtcrnIn = (folder: string): string | undefined =>
  (existsSync(folder) ? readdirSync(folder) : [])
    .filter((name) => name.endsWith('.onnx'))
    .map((name) => join(folder, name))
    .find(isGtcrn);
