/** Which of its models a service with our own API is asked for. */
import { DEFAULT_SYNTHESIS_MODEL, type SynthesisModel } from '../../../contracts/speech/models.js';
import type { RemoteSettings } from '../remote/settings.js';

/** Called for a model that the service is not asked for, at the first request for it. */
export type Unlisted = (model: SynthesisModel) => void;

/**
 * The model for each request: the one that the client named, if the operator's list has it; else the configured one, which also
 * stands for our default model, since most requests name none.
 */
export function modelChoice(
  { ttsModel, ttsModels = [] }: Pick<RemoteSettings, 'ttsModel' | 'ttsModels'>,
  unlisted: Unlisted,
): (asked: SynthesisModel | undefined) => string {
  const told = new Set<SynthesisModel>();
  return (asked = DEFAULT_SYNTHESIS_MODEL) => {
    if (asked === DEFAULT_SYNTHESIS_MODEL) return ttsModel;
    if (ttsModels.includes(asked)) return asked;
    if (!told.has(asked)) unlisted(asked);
    told.add(asked);
    return ttsModel;
  };
}
