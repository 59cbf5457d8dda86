/**
 * Set-up that encoders and decoder share for node-av's low-level synchronous API. Loads native code:
 * import it in a child process only. FFmpeg's own log is silenced, as it may quote what a file holds.
 */
import { AV_LOG_QUIET } from 'node-av/constants';
import { Log } from 'node-av/lib';

Log.setLevel(AV_LOG_QUIET);

/** Throws where FFmpeg answers with a negative code; passes other results through. */
export function check(result: number, what: string): number {
  if (result < 0) throw new Error(`${what} failed with FFmpeg error ${result}`);
  return result;
}
