/** The microphone, for whoever listens to it, and why there is none. */
import { microphoneTexts } from '../parts/microphone-texts.js';

export type Missing = keyof typeof microphoneTexts.missing;

/** Names of browsers' errors about microphones; any other is a refusal. */
const CAUSES: Readonly<Record<string, Missing>> = {
  NotFoundError: 'none',
  NotReadableError: 'inUse',
  AbortError: 'inUse',
};

/** Why a microphone that was asked for did not come. */
export const missingBy = (cause: unknown): Missing =>
  window.isSecureContext ? (CAUSES[(cause as Error | undefined)?.name ?? ''] ?? 'refused') : 'insecure';

/** `device`: an id; if it is missing, another device is used. Errors: one that says why there is no microphone, and what to do. */
export async function openMicrophone(device?: string): Promise<MediaStream> {
  try {
    return await navigator.mediaDevices.getUserMedia({ audio: device ? { deviceId: device } : true });
  } catch (cause) {
    throw new Error(microphoneTexts.missing[missingBy(cause)], { cause });
  }
}

export const closeMicrophone = (stream: MediaStream): void =>
  stream.getTracks().forEach((track) => track.stop());
