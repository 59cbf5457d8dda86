/** What a workspace, a visitor or the whole installation may use. */
import { LIMITS } from '../../contracts/limits.js';
import { count, list, optionalCount } from './setting.js';

export const LIMITED = {
  concurrency: count(
    'CONCURRENCY',
    LIMITS.workspace.concurrency,
    [1, 1_000_000],
    'Speech jobs that requests and sockets of a workspace may run at once, over all processes (429 beyond); calls are not counted.',
  ),
  callsPerWorkspace: optionalCount(
    'CALLS_PER_WORKSPACE',
    'Calls that a workspace may have at once, on all nodes (429 beyond).',
    { shown: 'any number, but a share of CALL_PLACES' },
  ),
  phoneCallsPerDay: optionalCount(
    'PHONE_CALLS_PER_DAY',
    'Calls that agents of a workspace may try to place in a day of UTC, refused requests included (429 beyond).',
    { shown: 'any number' },
  ),
  phoneCallsAtOnce: optionalCount(
    'PHONE_CALLS_AT_ONCE',
    'Placed calls that a workspace may have at once, ringing ones included (429 beyond).',
    { shown: 'any number' },
  ),
  quotaCharacters: optionalCount(
    'QUOTA_SYNTHESIS_CHARACTERS',
    'Characters that a workspace may have spoken per month (402 beyond).',
  ),
  quotaTranscriptionSeconds: optionalCount(
    'QUOTA_TRANSCRIPTION_SECONDS',
    'Seconds of audio that it may have transcribed per month.',
  ),
  quotaConversationSeconds: optionalCount(
    'QUOTA_CONVERSATION_SECONDS',
    'Seconds that its calls may last per month.',
  ),
  publicSessionsPerAddress: count(
    'PUBLIC_SESSIONS_PER_IP',
    LIMITS.session.publicPerMinute.ip,
    [0, 1_000_000],
    'Sessions per minute that one IP address may start without a key.',
  ),
  publicSessionsPerAgent: count(
    'PUBLIC_SESSIONS_PER_AGENT',
    LIMITS.session.publicPerMinute.agent,
    [0, 1_000_000],
    'Sessions per minute that may be started with one agent without a key.',
  ),
  memoryBudgetMb: optionalCount(
    'MEMORY_BUDGET_MB',
    'MiB of memory for what waits (bodies, audio, answers), in all gateway processes (503 beyond); at least 64 for each of WORKERS.',
    { shown: 'half of the memory above 450 MiB' },
  ),
  spoolMb: count(
    'SPOOL_MB',
    4096,
    [256, 1_048_576],
    'MiB on disk for large uploads in progress of one gateway process, in DATA_DIR/spool (503 beyond).',
  ),
  outboundAllow: list(
    'OUTBOUND_ALLOW',
    [],
    'Private hosts, addresses or networks that tools, webhooks and models of agents may reach: crm.lan:8443, 10.0.0.0/8.',
  ),
};
