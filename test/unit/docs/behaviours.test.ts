/**
 * Behaviours of the contract (docs/contract/) are found by one search for the contract's own word: it stands in few sources, and in that
 * of the behaviour.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CHECKOUT } from '../../../contracts/places.js';
import t from '../../fixtures/tap.js';

/** Files that a search may find before nobody looks through them. */
const MOST = 12;
const PRODUCT = ['actors', 'codecs', 'contracts', 'engines', 'gateway', 'media', 'processes', 'storage'];

const CALLS = 'gateway/agents/conversations';
const PLATFORM = 'gateway/dialects/platform';
const [A, B] = ['gateway/dialects/protocol-a', 'gateway/dialects/protocol-b'];

/** What is promised, the word of the contract, and the source that keeps the promise. */
const BEHAVIOURS: readonly (readonly [promise: string, word: string, file: string])[] = [
  ['loudness is brought to one level', 'normalize_loudness', 'codecs/gain.ts'],
  ['volume is changed in decibels', 'prosody', 'codecs/gain.ts'],
  ['an option that changes nothing is taken', 'early_stop_threshold', 'contracts/schemas/native-options.ts'],
  ['sampling is bounded', 'repetition_penalty', 'contracts/schemas/native-options.ts'],
  ['a voice is named by its id', 'reference_id', 'contracts/schemas/native-options.ts'],
  ['speech as server-sent events', 'stream_format', 'contracts/options/protocol-a.ts'],
  ['who speaks is not told apart', 'diarize', 'contracts/options/protocol-a.ts'],
  ['words that the recogniser should know', 'keyterms', 'contracts/options/protocol-b.ts'],
  ['formats are named with rate and bitrate', 'opus_48000', 'contracts/options/protocol-b.ts'],
  ['answers carry the id of their request', 'x-request-id', `${A}/index.ts`],
  ['an answer is cut where it was heard', 'conversation.item.truncate', `${A}/realtime/item-changes.ts`],
  ['a session is set up by its client', 'session.update', `${A}/realtime/session.ts`],
  ['keys for browsers', 'client_secrets', 'storage/keys/client-secrets.ts'],
  ['tokens that are used once', 'single-use-token', `${B}/tokens.ts`],
  ['characters come with their times', 'with-timestamps', `${B}/timed-speech.ts`],
  ['a stream says that it is over', 'isFinal', `${B}/sockets/server-frames.ts`],
  ['commits that come too fast', 'commit_throttled', `${B}/realtime/errors.ts`],
  ['words come while they are said', 'partial_transcript', `${B}/realtime/server-frames.ts`],
  ['several texts on one socket', 'multi-stream-input', `${B}/sockets/multi-stream-input.ts`],
  ['a call by a signed address', 'signed_url', `${B}/agents/rows.ts`],
  ['spans belong to the caller’s trace', 'traceparent', 'gateway/server/tracing/trace.ts'],
  ['a call is placed once', 'idempotency-key', `${PLATFORM}/calls/placing.ts`],
  ['a widget shows what was said', 'transcript_enabled', `${PLATFORM}/sessions/widget.ts`],
  ['the model knows day and place', 'world_context', `${PLATFORM}/sessions/plan.ts`],
  ['pages that may use a public agent', 'allowed_origins', `${PLATFORM}/sessions/origin.ts`],
  ['machines that take a call', 'amd_enabled', `${PLATFORM}/sessions/voicemail.ts`],
  ['somebody who waits hears something', 'filler_mode', `${CALLS}/settings.ts`],
  ['a silent call ends', 'hangup_after_seconds', `${CALLS}/settings.ts`],
  ['a call goes on after a death', 'recovery_message', `${CALLS}/settings.ts`],
  ['noise is reduced before recognition', 'noise_reduction', `${CALLS}/agent-in-charge.ts`],
  ['a caller is connected to somebody', 'transfer_destinations', `${CALLS}/tools/tools.ts`],
  ['tools beside the conversation', 'execution_mode', `${CALLS}/tools/owned-tools.ts`],
  ['the older name of that', 'while_speaking', `${CALLS}/tools/owned-tools.ts`],
  ['a session has its longest duration', 'conversation_timeout', 'actors/agent/agent.ts'],
  ['a silent caller is asked', 'reengage', 'actors/agent/agent.ts'],
  ['three failed answers end a call', 'llm_endpoint_failure', 'actors/agent/job.ts'],
  ['a line that breaks is no hang-up', 'transport_lost', 'gateway/agents/calls/livekit.ts'],
  ['an owner is asked before a call', 'conversation_init', `${PLATFORM}/sessions/init.ts`],
  ['facts are drawn from a call', 'data_fields', 'gateway/agents/deliveries/analysis.ts'],
  ['keys that seal are changed', 'rotate', 'gateway/commands/secrets.ts'],
];

const ROOT = fileURLToPath(CHECKOUT);

const textsIn = (folder: string, ending: string): ReadonlyMap<string, string> =>
  new Map(
    readdirSync(new URL(folder, CHECKOUT), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith(ending))
      .map(({ parentPath, name }) => `${parentPath}/${name}`)
      .map((file) => [relative(ROOT, file), readFileSync(file, 'utf8')]),
  );

t.test('forty behaviours are found by one search for the contract’s own word', async (t) => {
  const contract = [...textsIn('docs/contract', '.md').values()].join('\n').toLowerCase();
  const sources = PRODUCT.flatMap((folder) => [...textsIn(folder, '.ts')]);
  t.equal(new Set(BEHAVIOURS.map(([promise]) => promise)).size, 40);
  for (const [promise, word, file] of BEHAVIOURS) {
    const found = sources.filter(([, text]) => text.includes(word)).map(([name]) => name);
    t.ok(contract.includes(word.toLowerCase()), `${promise}: the contract says ${word}`);
    t.ok(
      found.includes(file),
      `${promise}: ${word} leads to ${file}, not to ${found.slice(0, MOST).join(' ')}`,
    );
    t.ok(found.length <= MOST, `${promise}: ${word} stands in ${found.length} files`);
  }
});
