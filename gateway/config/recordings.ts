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
    'Days that ended sessions are kept, with transcripts and recordings; 0: for ever.',
  ),
  statsDays: count(
    'STATS_DAYS',
    90,
    [0, 36_500],
    'Days that figures of calls are kept (Start in the console); 0: for ever.',
  ),
  auditDays: count(
    'AUDIT_DAYS',
    365,
    [0, 36_500],
    'Days that the audit trail is kept: who changed, published, deleted what; 0: for ever.',
  ),
  recordingDays: count('RECORDING_DAYS', 0, [0, 36_500], 'Days that recordings are kept; 0: for ever.'),
  recordingsUrl: bucketAddress(
    'RECORDINGS_URL',
    'Bucket for recordings; region, endpoint and credentials come from the AWS_* variables.',
    { shown: 'recordings in DATA_DIR' },
  ),
  recordingsSpoolMb: count(
    'RECORDINGS_SPOOL_MB',
    4096,
    [1, 1_000_000],
    'Megabytes of recordings that may wait in DATA_DIR for an unreachable bucket, for each gateway process.',
  ),
  recordingsRedirect: choice(
    'RECORDINGS_REDIRECT',
    'false',
    ['true', 'false'],
    'Whether downloads are redirected to the bucket, which clients must be able to reach, instead of read through the gateway.',
  ),
};
