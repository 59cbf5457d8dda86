/** Settings for recordings and records of calls: place and retention. */
import { bucketAddress, choice, count } from './setting.js';

export const RECORDINGS = {
  recordAudioDefault: choice(
    'RECORD_AUDIO_DEFAULT',
    'false',
    ['true', 'false'],
    'Whether new agents record their calls unless their configuration says otherwise.',
  ),
  sessionDays: count(
    'SESSION_DAYS',
    0,
    [0, 36_500],
    'Days that ended sessions are kept, with transcripts and recordings; 0 keeps them.',
  ),
  recordingDays: count('RECORDING_DAYS', 0, [0, 36_500], 'Days that recordings are kept; 0 keeps them.'),
  recordingsUrl: bucketAddress(
    'RECORDINGS_URL',
    'Bucket that recordings are put into; region, endpoint and credentials by the AWS_* variables.',
    { shown: 'recordings in DATA_DIR' },
  ),
  recordingsSpoolMb: count(
    'RECORDINGS_SPOOL_MB',
    4096,
    [1, 1_000_000],
    'Megabytes of recordings that may wait in DATA_DIR for their bucket, for each gateway process.',
  ),
  recordingsRedirect: choice(
    'RECORDINGS_REDIRECT',
    'false',
    ['true', 'false'],
    'Whether downloads are sent to the bucket, which clients must reach, rather than read through the gateway.',
  ),
};
