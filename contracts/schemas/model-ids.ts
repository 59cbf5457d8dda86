/** Finds the models that clients name by id or alias, with clear errors for unknown ones and those of the other kind. */
import { ServiceError } from '../errors.js';
import {
  findSynthesisModel,
  findTranscriptionModel,
  type SynthesisModel,
  type TranscriptionModel,
} from '../speech/models.js';
import type { Vocabulary } from '../vocabulary.js';

type Vendor = Pick<Vocabulary, 'vendor'>;

/** `param` as the client spells it. */
const notFound = (message: string, param: string): ServiceError =>
  new ServiceError('model_not_found', { message, param });

/** Errors: `model_not_found`. */
export function namedSynthesisModel(id: string, { vendor }: Vendor, param: string): SynthesisModel {
  const model = findSynthesisModel(id, vendor);
  if (model) return model;
  const other = findTranscriptionModel(id, vendor) !== undefined;
  throw notFound(other ? 'This model transcribes; it cannot speak' : 'Unknown model', param);
}

/** Errors: `model_not_found`. */
export function namedTranscriptionModel(id: string, { vendor }: Vendor, param: string): TranscriptionModel {
  const model = findTranscriptionModel(id, vendor);
  if (model) return model;
  const other = findSynthesisModel(id, vendor) !== undefined;
  throw notFound(other ? 'This model speaks; it cannot transcribe' : 'Unknown model', param);
}
