/**
 * The permission that each route needs: one row a route, by method and pattern, `SOCKET` for a WebSocket. A route
 * without a row needs `manage`, so that a forgotten one is closed to all keys but full ones; a test finds it.
 *
 * Rows of the protocols are below their base, which stands in the configuration's vocabulary; `*` at the end of a row
 * stands for one more segment.
 */
import type { Permission } from '../contracts/permissions.js';
import type { Vocabulary } from '../contracts/vocabulary.js';
import { basesOf } from './dialects/protocol-a/bases.js';
import { baseOf } from './dialects/protocol-b/parts.js';
import type { PermissionOf } from './server/router.js';

type Rows = Readonly<Record<string, Permission>>;

const NATIVE: Rows = {
  'POST /v1/tts': 'speech',
  'POST /v1/tts/stream/with-timestamp': 'speech',
  'SOCKET /v1/tts/live': 'speech',
  'SOCKET /v1/tts/live/with-timestamp': 'speech',
  'POST /v1/asr': 'speech',
  // About the key itself, whatever its role.
  'GET /v1/key': 'open',
};

const VOICES: Rows = {
  'GET /model': 'catalogue',
  'POST /model': 'manage',
  'GET /model/{id}': 'catalogue',
  'PATCH /model/{id}': 'manage',
  'DELETE /model/{id}': 'manage',
  'GET /wallet/{self}/api-credit': 'catalogue',
  'GET /wallet/{self}/package': 'catalogue',
};

/** Below each base of protocol A. */
const PROTOCOL_A: Rows = {
  'POST /audio/speech': 'speech',
  'POST /audio/transcriptions': 'speech',
  'POST /chat/completions': 'speech',
  'POST /realtime/client_secrets': 'speech',
  'SOCKET /realtime': 'speech',
  'GET /models': 'open',
};

/** Below `/v1` only: lists that need no key. */
const AUDIO_LISTS: Rows = {
  'GET /audio/voices': 'open',
  'GET /audio/models': 'open',
};

/** Below the base of protocol B. */
const PROTOCOL_B: Rows = {
  'POST /v1/text-to-speech/{voice_id?}': 'speech',
  'POST /v1/text-to-speech/{voice_id?}/stream': 'speech',
  'POST /v1/text-to-speech/{voice_id?}/with-timestamps': 'speech',
  'POST /v1/text-to-speech/{voice_id?}/stream/with-timestamps': 'speech',
  'SOCKET /v1/text-to-speech/{voice_id?}/stream-input': 'speech',
  'SOCKET /v1/text-to-speech/{voice_id?}/multi-stream-input': 'speech',
  'POST /v1/speech-to-text': 'speech',
  'SOCKET /v1/speech-to-text/realtime': 'speech',
  'POST /v1/single-use-token/{type}': 'speech',
  'GET /v1/voices': 'catalogue',
  'GET /v2/voices': 'catalogue',
  'GET /v1/voices/{voice_id}': 'catalogue',
  'GET /v1/voices/{voice_id}/settings': 'catalogue',
  'GET /v1/voices/settings/default': 'catalogue',
  'GET /v1/models': 'catalogue',
  'GET /v1/user': 'catalogue',
  'GET /v1/user/subscription': 'catalogue',
};

const PLATFORM: Rows = {
  'GET /v1/agent/agents': 'read',
  'POST /v1/agent/agents': 'manage',
  'GET /v1/agent/agents/{agent_id}': 'read',
  'PATCH /v1/agent/agents/{agent_id}': 'manage',
  'DELETE /v1/agent/agents/{agent_id}': 'manage',
  'GET /v1/agent/agents/{agent_id}/config': 'read',
  'PATCH /v1/agent/agents/{agent_id}/config': 'manage',
  'POST /v1/agent/agents/{agent_id}/publish': 'manage',
  'GET /v1/agent/agents/{agent_id}/versions': 'read',
  'GET /v1/agent/agents/{agent_id}/versions/{version_number}': 'read',
  // Runs the draft, so it needs the right to change it.
  'POST /v1/agent/agents/{agent_id}/preview': 'manage',
  // Shown on public pages before a call.
  'GET /v1/agent/agents/{agent_id}/widget': 'open',
  'GET /v1/agent/tools': 'read',
  'POST /v1/agent/tools': 'manage',
  'GET /v1/agent/tools/{tool_id}': 'read',
  'PATCH /v1/agent/tools/{tool_id}': 'manage',
  'DELETE /v1/agent/tools/{tool_id}': 'manage',
  'GET /v1/agent/tools/{tool_id}/agents': 'read',
  'POST /v1/agent/tools/{tool_id}/test': 'manage',
  'POST /v1/agent/tools/test': 'manage',
  'GET /v1/agent/knowledge-sources': 'read',
  'POST /v1/agent/knowledge-sources': 'manage',
  'GET /v1/agent/knowledge-sources/{source_id}': 'read',
  'PATCH /v1/agent/knowledge-sources/{source_id}': 'manage',
  'DELETE /v1/agent/knowledge-sources/{source_id}': 'manage',
  'GET /v1/agent/knowledge-sources/{source_id}/agents': 'read',
  // Changes nothing.
  'POST /v1/agent/agents/{agent_id}/knowledge/search': 'read',
  // Deliveries quote the session, so they need the right to read it.
  'GET /v1/agent/deliveries': 'records',
  'GET /v1/agent/deliveries/{delivery_id}': 'records',
  'POST /v1/agent/deliveries/{delivery_id}/redeliver': 'manage',
  'POST /v1/agent/redeliveries': 'manage',
  'GET /v1/agent/redeliveries/{redelivery_id}': 'records',
  'POST /v1/agent/agents/{agent_id}/webhooks/test': 'manage',
};

const PHONE: Rows = {
  'GET /v1/agent/phone-numbers': 'read',
  'POST /v1/agent/phone-numbers': 'manage',
  'GET /v1/agent/phone-numbers/{phone_number_id}': 'read',
  'PATCH /v1/agent/phone-numbers/{phone_number_id}': 'manage',
  'DELETE /v1/agent/phone-numbers/{phone_number_id}': 'manage',
  // A call that is placed is a session.
  'POST /v1/agent/calls': 'sessions',
  'POST /v1/agent/calls/{call_id}/cancel': 'sessions',
  'GET /v1/agent/calls': 'records',
  'GET /v1/agent/calls/{call_id}': 'records',
  // Authenticated by the provider's signature, and by the token it was given.
  'POST /v1/phone/{provider}/answer/{token?}': 'open',
  'POST /v1/phone/{provider}/calls/{call_id}/answer': 'open',
  'POST /v1/phone/{provider}/calls/{call_id}/message': 'open',
  'POST /v1/phone/{provider}/calls/{call_id}/status': 'open',
  'POST /v1/phone/{provider}/calls/{call_id}/machine': 'open',
  'POST /v1/phone/{provider}/transfers/{transfer_id}/answer': 'open',
  'POST /v1/phone/{provider}/transfers/{transfer_id}/status': 'open',
  'POST /v1/phone/{provider}/transfers/{transfer_id}/machine': 'open',
  'POST /v1/phone/{provider}/transfers/{transfer_id}/action': 'open',
  'POST /v1/phone/{provider}/transfers/{transfer_id}/document': 'open',
  'SOCKET /v1/phone/{provider}/{token?}': 'open',
};

const SESSIONS: Rows = {
  'POST /v1/agent/sessions': 'sessions',
  'POST /v1/agent/sessions/{session_id}/end': 'sessions',
  'GET /v1/agent/sessions': 'records',
  'GET /v1/agent/sessions/{session_id}': 'records',
  'GET /v1/agent/sessions/{session_id}/recording': 'records',
  // Permanent: a key that creates sessions must not be able to erase their records.
  'DELETE /v1/agent/sessions': 'manage',
  'DELETE /v1/agent/sessions/{session_id}': 'manage',
  // The address is signed.
  'GET /v1/agent/recordings/{token}': 'open',
};

/** Tests of agents: their transcripts are records, and running one needs the right to create sessions. */
const TESTS: Rows = {
  'GET /v1/agent/tests/scenarios': 'records',
  'POST /v1/agent/tests/scenarios': 'manage',
  'GET /v1/agent/tests/scenarios/{scenario_id}': 'records',
  'PATCH /v1/agent/tests/scenarios/{scenario_id}': 'manage',
  'DELETE /v1/agent/tests/scenarios/{scenario_id}': 'manage',
  'GET /v1/agent/tests/suites': 'records',
  'POST /v1/agent/tests/suites': 'manage',
  'GET /v1/agent/tests/suites/{suite_id}': 'records',
  'PATCH /v1/agent/tests/suites/{suite_id}': 'manage',
  'DELETE /v1/agent/tests/suites/{suite_id}': 'manage',
  'GET /v1/agent/tests/runs': 'records',
  'POST /v1/agent/tests/runs': 'sessions',
  'GET /v1/agent/tests/runs/compare': 'records',
  'GET /v1/agent/tests/runs/{run_id}': 'records',
  'GET /v1/agent/tests/runs/{run_id}/results/{scenario_id}': 'records',
  'POST /v1/agent/tests/runs/{run_id}/cancel': 'sessions',
  'DELETE /v1/agent/tests/runs/{run_id}': 'manage',
};

/** Authenticated by the session's own token, or by the cluster's signature. */
const MEDIA: Rows = {
  'SOCKET /rtc': 'open',
  'SOCKET /rtc/v1': 'open',
  'GET /rtc/validate': 'open',
  'GET /rtc/v1/validate': 'open',
  'POST /livekit/webhook': 'open',
};

/** For operators, or authenticated by the signature of another node. */
const NODES: Rows = {
  'GET /nodes': 'machine',
  'GET /v1/machine/history': 'machine',
  'GET /v1/usage': 'catalogue',
  'GET /v1/keys': 'read',
  'SOCKET /nodes/signal': 'open',
};

const SYSTEM: Rows = {
  'GET /': 'open',
  'GET /health': 'open',
  'GET /health/ready': 'open',
  'GET /health/live': 'open',
  'GET /openapi.json': 'open',
  'GET /docs': 'open',
  'GET /docs/': 'open',
  'GET /docs/*': 'open',
  'GET /console': 'open',
  'GET /console/': 'open',
  'GET /console/*': 'open',
  // For requests from outside private networks.
  'GET /metrics': 'machine',
};

const below = (base: string, rows: Rows): Rows =>
  Object.fromEntries(Object.entries(rows).map(([row, needs]) => [row.replace(' ', ` ${base}`), needs]));

/** All rows, by `METHOD pattern`. */
export const permissionRows = (vocabulary: Vocabulary): Rows => ({
  ...NATIVE,
  ...VOICES,
  ...Object.assign(
    {},
    ...basesOf(vocabulary).map(({ path, audioLists }) =>
      below(path, { ...PROTOCOL_A, ...(audioLists ? AUDIO_LISTS : {}) }),
    ),
  ),
  ...below(baseOf(vocabulary), PROTOCOL_B),
  ...PLATFORM,
  ...PHONE,
  ...SESSIONS,
  ...TESTS,
  ...MEDIA,
  ...NODES,
  ...SYSTEM,
});

/** Undefined where a route has no row. */
export function permissionsFor(vocabulary: Vocabulary): PermissionOf {
  const rows = permissionRows(vocabulary);
  return (method, pattern) => {
    const row = `${method} ${pattern}`;
    return rows[row] ?? rows[row.replace(/[^/]+$/, '*')];
  };
}
