/** Where smart-turn is found: its own module, because settings ask for it and need none of its tables. */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const BINDING = 'onnxruntime_binding.node';
const isModel = (name: string): boolean => /^smart-turn-v3.*\.onnx$/.test(name);

/** Whether the folder has the runtime and the model. */
export const hasSmartTurn = (folder: string): boolean =>
  existsSync(join(folder, BINDING)) && readdirSync(folder).some(isModel);

/** Both files of a folder that has them. */
export const smartTurnIn = (folder: string): { readonly runtime: string; readonly model: string } => ({
  runtime: join(folder, BINDING),
  model: join(folder, readdirSync(folder).find(isModel) ?? ''),
});
