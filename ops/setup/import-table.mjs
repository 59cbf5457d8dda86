/**
 * The rule of imports, as data; docs/architecture.md "Rooms" is made from it. The longest room that holds a file is its
 * room; `*` in a room stands for one folder, each of which is a room of its own, and `.` for the files directly in a
 * folder. `may` lists rooms or single files, without ending; a room may always import itself, and one with `*`
 * everything but what is CLOSED. `packages` and `builtins`, where given, are the only ones allowed. `computed` lists the
 * files that may import what has no literal name.
 */
const PURE = { builtins: [] };

/** Nothing but itself and a room that names it may import these. */
export const CLOSED = ['test', 'bench/src', 'bench/test', 'client'];

/** A package that has one home: only files below it import the package. Tests and load tests import what they like. */
export const HOMES = {
  typebox: 'contracts/schemas',
  xstate: 'actors',
  postgres: 'storage',
  'uWebSockets.js': 'gateway/server',
  'node-datachannel': 'media/embedded',
  'fluent-ffmpeg': 'codecs/decode',
  htmlparser2: 'engines/documents',
  unpdf: 'engines/documents',
  pino: 'gateway/wiring',
  '@opentelemetry/api': 'gateway',
};

export const ROOMS = {
  contracts: {
    holds: 'schemas, ports, errors, limits',
    may: [],
    packages: ['typebox'],
    builtins: ['node:async_hooks', 'node:crypto'],
  },
  processes: { holds: 'child processes: framing, flow control, restarts', may: ['contracts'] },
  storage: {
    holds: 'Postgres: migrations, one file a resource, the embedded server',
    // Embedded Postgres is a process in a folder of its own.
    may: [
      'contracts',
      'processes/listening',
      'processes/make-folder',
      'processes/process-table',
      'processes/private-folder',
    ],
  },
  codecs: { holds: 'audio formats, encoding, decoding', may: ['contracts', 'processes'] },
  engines: {
    holds: 'synthesis, transcription, language models, embeddings, documents',
    may: ['contracts', 'processes', 'codecs'],
  },
  media: {
    holds: 'calls on the wire: signalling, WebRTC, playout, VAD',
    may: ['contracts', 'processes', 'codecs', 'actors', 'engines/resampling'],
  },
  actors: { holds: 'statecharts', may: ['contracts'], packages: ['xstate'], ...PURE },
  client: {
    holds: 'the session SDK, the widget and the console',
    // The console saves an agent as the files that `agents pull` writes.
    may: ['ops/agents/export'],
    // It loads a script from where its own came from.
    computed: ['client/src/widget/call-script'],
  },
  'gateway/server': {
    holds: 'the HTTP and WebSocket edge',
    // A copy of uWebSockets.js for an older glibc is in a folder of its own.
    may: ['contracts', 'processes/garbage', 'processes/private-folder'],
    // It loads uWebSockets.js, whose file is named after platform and Node version.
    computed: ['gateway/server/adapters/bindings'],
  },
  'gateway/dialects/*': {
    holds: 'one wire protocol',
    may: ['contracts', 'actors', 'codecs/formats', 'codecs/subtitles', 'gateway/server'],
  },
  'gateway/dialects/platform': {
    holds: 'the agent platform’s routes',
    // Answers of chats are streamed as they are written.
    may: ['contracts', 'actors', 'media/async-queue', 'gateway/server'],
  },
  'gateway/dialects/agent-realtime': {
    holds: 'an agent as the model of protocol A’s realtime',
    // Protocol A owns the address, and how its events look.
    may: [
      'contracts',
      'gateway/server',
      'gateway/dialects/protocol-a/agent-door',
      'gateway/dialects/protocol-a/realtime',
    ],
  },
  'gateway/agents/calls': {
    holds: 'calls that this process owns, and how clients join them',
    may: [
      'contracts',
      'actors',
      'processes',
      'media',
      'gateway/config',
      'gateway/agents/conversations',
      'gateway/agents/recordings',
      'gateway/server',
    ],
  },
  'gateway/agents/phone': {
    holds: 'telephone providers: their webhooks, their media streams',
    may: ['contracts', 'gateway/agents/calls', 'gateway/agents/conversations', 'gateway/server'],
  },
  'gateway/agents/conversations': {
    holds: 'the host of the agent’s statechart',
    // What callers say is written as people write it.
    may: ['contracts', 'actors', 'engines/text/written', 'gateway/outbound', 'media/async-queue'],
  },
  'gateway/agents/deliveries': {
    holds: 'webhooks and the analysis after a call',
    may: ['contracts', 'actors', 'gateway/outbound'],
  },
  'gateway/agents/stats': { holds: 'figures of calls, and who did what', may: ['contracts'] },
  'gateway/agents/agent-tests': {
    holds: 'tests of agents: a simulated user, mocks, checks',
    may: ['contracts', 'gateway/agents/conversations', 'gateway/agents/deliveries'],
  },
  'gateway/agents/knowledge': {
    holds: 'knowledge by meaning: what becomes vectors, and how both searches are merged',
    may: ['contracts', 'engines/embeddings'],
  },
  'gateway/outbound': { holds: 'guarded requests to other servers', may: ['contracts'] },
  'gateway/agents/recordings': {
    holds: 'files of recorded calls, and when they go',
    may: ['contracts', 'media', 'storage', 'gateway/config'],
  },
  'gateway/config': {
    holds: 'the settings',
    may: [
      'contracts',
      'engines',
      'codecs/formats',
      'processes/make-folder',
      'gateway/config',
      'gateway/dialects/protocol-a/bases',
    ],
  },
  'gateway/commands': {
    holds: 'the operator’s commands',
    may: [
      'contracts',
      'storage',
      'processes/supervisor/hang-up',
      'gateway/output',
      'gateway/agents/recordings',
    ],
  },
  'gateway/doctor': { holds: 'what is wrong with an installation', may: ['*'] },
  'gateway/wiring': { holds: 'each part of a gateway, opened from its configuration', may: ['*'] },
  'gateway/workers': { holds: 'the entries of child processes', may: ['*'] },
  'gateway/.': { holds: 'the supervisor, one gateway, their configuration', may: ['*'] },
  test: { holds: 'tests', may: ['*', ...CLOSED] },
  // A package of its own, which runs without the gateway's sources.
  'bench/src': {
    holds: 'the load tests for speech gateways',
    may: [],
    // They load uWebSockets.js where that is installed, and a checkout's recogniser.
    computed: ['bench/src/baselines/binding', 'bench/src/baselines/model', 'bench/src/speakers/espeak'],
  },
  'bench/test': { holds: 'their tests', may: ['bench/src'] },
};
