/**
 * Checks that an agent's voice exists and speaks its language, with the engines that sessions use. Done before an agent is
 * published and before a session is created: otherwise the call would be silent.
 */
import { type ErrorCode, ServiceError } from '../../../contracts/errors.js';
import { DEFAULT_SYNTHESIS_MODEL as model } from '../../../contracts/speech/models.js';
import type { Speech } from '../../../contracts/ports/speech/speech.js';
import type { AgentConfig } from '../../../contracts/schemas/agent-config.js';
import type { Problem } from '../../../contracts/schemas/check.js';
import { problem } from './errors.js';

export type VoiceCheck = Pick<Speech, 'checkVoice'>;

const SENTENCES: Readonly<Partial<Record<ErrorCode, (voice: string, language: string) => string>>> = {
  voice_not_found: (voice) => `There is no voice "${voice}"; GET /model lists them`,
  voice_language: (voice, language) => `The voice "${voice}" does not speak "${language}"`,
  language_unavailable: (_, language) => `No configured engine speaks "${language}"`,
  cloning_unavailable: (voice) => `The voice "${voice}" needs an engine that clones, and none is configured`,
};

/** A warning about cues for the delivery that the voice's engine does not know: none are written then. Errors: as below. */
export async function cueWarnings(
  { voice_id: voice, speaking_language: language, expressive }: AgentConfig['voice'],
  workspaceId: string,
  speech: VoiceCheck,
): Promise<string[]> {
  if (!expressive) return [];
  const { styleTags } = await speech.checkVoice({ model, voice, language }, { workspaceId });
  return styleTags
    ? []
    : [`The engine of the voice "${voice}" follows no cues: \`voice.expressive\` has no effect`];
}

/** Warnings about other languages of the agent's calls that its voice does not speak. Errors: `overloaded`. */
export async function languageWarnings(
  { voice_id: voice, speaking_language: own, languages }: AgentConfig['voice'],
  workspaceId: string,
  speech: VoiceCheck,
): Promise<string[]> {
  const others = [...new Set(languages ?? [])].filter((language) => language !== own);
  const warnings = others.map(async (language) => {
    const how = { expressive: false, languages: null, speaking_language: language };
    const problemOf = (voice_id: string) => voiceProblems({ ...how, voice_id }, workspaceId, speech, []);
    const [unspoken] = await problemOf('default');
    if (unspoken) return [`${unspoken.message}: calls do not change to it`];
    const [other] = await problemOf(voice);
    return other ? [`${other.message}: the default voice speaks it`] : [];
  });
  return (await Promise.all(warnings)).flat();
}

/** At most one problem, at `loc`. Errors: `overloaded`. */
export async function voiceProblems(
  { voice_id: voice, speaking_language: language }: AgentConfig['voice'],
  workspaceId: string,
  speech: VoiceCheck,
  loc: Problem['loc'],
): Promise<Problem[]> {
  try {
    await speech.checkVoice({ model, voice, language }, { workspaceId });
    return [];
  } catch (error) {
    const sentence = error instanceof ServiceError ? SENTENCES[error.code] : undefined;
    if (!sentence) throw error;
    return [problem(loc, sentence(voice, language), 'voice')];
  }
}
