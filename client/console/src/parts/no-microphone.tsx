/** Whether this page can have a microphone, and if not, why, and what to set. */
import { useEffect, useState } from 'preact/hooks';
import type { Missing } from '../sound/microphone.js';
import { Marked } from './basics.js';
import { microphoneTexts } from './microphone-texts.js';

/** Not every browser tells of this permission; whoever does not is asked for the microphone itself. */
async function isRefused(): Promise<boolean> {
  const name = 'microphone' as PermissionName;
  const permission = await navigator.permissions?.query({ name }).catch(() => undefined);
  return permission?.state === 'denied';
}

async function look(): Promise<Missing | undefined> {
  if (!navigator.mediaDevices) return 'insecure';
  const devices = await navigator.mediaDevices.enumerateDevices();
  if (!devices.some(({ kind }) => kind === 'audioinput')) return 'none';
  return (await isRefused()) ? 'refused' : undefined;
}

/** Undefined as long as nothing speaks against a microphone. Looks again when devices come or go, and when `on` changes. */
export function useMissingMicrophone(on: unknown): Missing | undefined {
  const [missing, setMissing] = useState<Missing | undefined>();
  useEffect(() => {
    const again = () => void look().then(setMissing, () => undefined);
    again();
    const { mediaDevices } = navigator;
    mediaDevices?.addEventListener('devicechange', again);
    return () => mediaDevices?.removeEventListener('devicechange', again);
  }, [on]);
  return missing;
}

/** The place is there from the start, so that what appears in it is announced. */
export const NoMicrophone = ({ missing }: { readonly missing: Missing | undefined }) => (
  <div role="status">
    {missing && (
      <p class="notice warn">
        <Marked text={`${microphoneTexts.missing[missing]} ${microphoneTexts.still}`} />
      </p>
    )}
  </div>
);
