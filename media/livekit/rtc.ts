/** LiveKit's client, an optional package with a native library, loaded when the first room is joined. */
import type * as Library from '@livekit/rtc-node';
import { ServiceError } from '../../contracts/errors.js';

export type Rtc = typeof Library;

let loaded: Promise<Rtc> | undefined;

async function load(): Promise<Rtc> {
  // Otherwise it prints every step.
  process.env['NODE_ENV'] ??= 'production';
  try {
    return await import('@livekit/rtc-node');
  } catch (cause) {
    console.error(
      '@livekit/rtc-node, an optional package, is not installed here or not built for this platform',
    );
    throw new ServiceError('transport_failed', { cause });
  }
}

/** Errors: `transport_failed` if it is not installed. */
export const loadRtc = (): Promise<Rtc> => (loaded ??= load());
