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
