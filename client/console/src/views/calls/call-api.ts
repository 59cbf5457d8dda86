/** Reading a call and its recording (docs/contract/platform.md 6.7). */
import { ask } from '../../api.js';
import type { Call, Recording } from './record.js';

export const callPath = (id: string): string => `v1/agent/sessions/${encodeURIComponent(id)}`;

export interface KnownCall {
  readonly call: Call;
  readonly recording: Recording | undefined;
}

/** Errors: those of `ask`. */
export async function readCall(id: string, signal: AbortSignal): Promise<KnownCall> {
  const call = await ask<Call>(callPath(id), { signal });
  const recording = call.recorded ? await ask<Recording>(`${callPath(id)}/recording`, { signal }) : undefined;
  return { call, recording };
}
