/**
 * Setup of node-av's low-level synchronous API, shared by encoders and decoder. Loads native code: import
 * it only in child processes. FFmpeg's own log is silenced, since it may quote a file's contents.
 */
import { AV_LOG_QUIET } from 'node-av/constants';
import { Log } from 'node-av/lib';

Log.setLevel(AV_LOG_QUIET);

/** Throws if FFmpeg returned a negative code; passes other results through. */
export function check(result: number, what: string): number {
  if (result < 0) throw new Error(`${what} failed with FFmpeg error ${result}`);
  return result;
}
