/**
 * What an operator may meet at night: how it shows, and what to do. `npm run generate` writes docs/operate/incidents.md from
 * here, and `npm run chaos -- night` makes each fault and looks whether all of it comes.
 *
 * A part has what its incidents share: `metric` (an expression that is true meanwhile), `alert` (alerts.mjs), `health` (what
 * `/health` says: `parts.KIND`, `checks.NAME`, `status: draining`, `no answer`), `console`, and `back`, the line when it is
 * over. An incident may have others, or '' where there is none. `log`: its line, in which `…` stands for anything. `faults`:
 * faults of the benches (test/chaos) that show it.
 */
const second = (names) => names.flatMap((name) => [name, `second ${name}`]);

const MODEL = {
  title: 'The language model',
  metric: 'gateway_part_failing{part="model"} == 1',
  alert: 'GatewayModelFails',
  health: 'parts.model',
  console: 'Calls: the mark "answers failed"; in the call, the error of the turn',
  back: 'The language model (…) at … is back after … s',
  incidents: [
    {
      symptom: 'Agents say "Sorry, I could not answer that", or a second model answers',
      log: 'The language model (…) at … refused the key (401): check …',
      todo: 'Give it a key that its server takes, and restart.',
      settings: ['LLM_API_KEY', 'LLM_FALLBACK_API_KEY'],
      faults: second(['model refuses the key']),
    },
    {
      symptom: 'The same',
      log: 'The language model (…) at … cannot be reached (ECONNREFUSED): check LLM_BASE_URL',
      todo: 'Start the server, or correct its address. Is there a firewall between?',
      settings: ['LLM_BASE_URL', 'LLM_FALLBACK_BASE_URL'],
      faults: ['model refuses connections'],
    },
    {
      symptom: 'The same',
      log: 'The language model (…) at … failed (…)',
      todo: 'Look into the log of its server. Is its model loaded, and has it memory left?',
      settings: ['LLM_MODEL', 'LLM_FALLBACK_BASE_URL'],
      faults: second(['model closes connections', 'model answers 500']),
    },
    {
      symptom: '"One moment", then "Sorry, I could not answer that"',
      log: 'The language model (…) at … did not answer in time',
      todo: 'It is overloaded, or thinks for longer than a caller waits: a smaller model, fewer calls (`CALL_PLACES`), a second model.',
      settings: ['LLM_FIRST_WORD_SECONDS', 'LLM_FALLBACK_BASE_URL'],
      faults: second([
        'model hangs',
        'model stalls in mid-sentence',
        'model thinks for ever',
        'model sends blank lines',
      ]),
    },
    {
      symptom: 'Answers are missing or end in mid-sentence',
      log: 'The language model (…) at … answered something unexpected',
      todo: 'Its server is not compatible, or its template is another model’s: try it with curl.',
      settings: ['LLM_BASE_URL', 'LLM_MODEL'],
      faults: second(['model answers nothing']),
    },
  ],
};

const voiceOrRecogniser = (kind, who, title, setting, symptom) => ({
  title,
  metric: `gateway_part_failing{part="${kind}"} == 1`,
  alert: `Gateway${kind[0].toUpperCase()}${kind.slice(1)}Fails`,
  health: `parts.${kind}`,
  console:
    'Calls: the mark "answers failed", if no other engine took over; in the call, the error of the turn',
  back: `${who} (…) at … is back after … s`,
  incidents: [
    {
      symptom,
      log: `${who} (…) at … refused the key (401): check …`,
      todo: 'Give it a key that the service takes, and restart. Callers of the speech APIs get 502, never 401.',
      settings: ['REMOTE_OPENAI_KEY', 'REMOTE_NATIVE_KEY'],
      faults: second([`${kind} refuses the key`]),
    },
    {
      symptom: 'The same',
      log: `${who} (…) at … failed (…)`,
      todo: `Look into the service’s log. Another engine in \`${setting}\` takes over while it fails.`,
      settings: [setting],
      faults: second([
        `${kind} closes connections`,
        `${kind} answers 500`,
        `${kind} breaks off in the middle`,
      ]),
    },
    {
      symptom: 'The same, seconds later',
      log: `${who} (…) at … did not answer in time`,
      todo: `The service is overloaded. Another engine in \`${setting}\` takes over after three seconds.`,
      settings: [setting],
      faults: second([`${kind} hangs`, `${kind} stops in the middle`]),
    },
    {
      symptom: 'The same',
      log: `${who} (…) at … answered something unexpected`,
      todo: 'Is it the right address, format and rate? Try the service with curl.',
      settings: ['REMOTE_OPENAI_URL', 'REMOTE_NATIVE_URL', 'REMOTE_OPENAI_FORMAT', 'REMOTE_OPENAI_RATE'],
      faults: second([`${kind} answers nothing`]),
    },
  ],
});

const VOICE = voiceOrRecogniser(
  'voice',
  'The voice service',
  'Remote voices',
  'TTS_ENGINES',
  'Agents speak with another voice, or nothing is heard of an answer',
);
const RECOGNISER = voiceOrRecogniser(
  'recogniser',
  'The recogniser',
  'Remote recognisers',
  'STT_ENGINES',
  'Agents say "I did not get that", or understand less',
);

const ANALYSIS = {
  title: 'Analyses of calls',
  metric: 'gateway_part_failing{part="analysis"} == 1',
  alert: 'GatewayAnalysisFails',
  health: 'parts.analysis',
  console: 'Calls: the call has no summary, and its analysis an error',
  back: 'The analysis of calls (…) is back after … s',
  incidents: [
    {
      symptom: 'Calls have no summary, post-call events no analysis',
      log: 'The analysis of calls (…) answered something unexpected…',
      todo: 'The model does not write the JSON that it is asked for, or fails (then it has a line of its own): take another one.',
      settings: ['LLM_MODEL'],
      faults: ['analysis is not understood'],
    },
  ],
};

const DATABASE = {
  title: 'The database',
  metric: 'gateway_part_failing{part="database"} == 1',
  alert: 'GatewayDatabaseFails',
  health: 'checks.database',
  console: 'Start: the gateway is not ready',
  back: 'The database (…)… is back after … s',
  incidents: [
    {
      symptom: 'Requests get 503; calls go on, without passages of knowledge',
      log: 'The database (…)… is away',
      todo: 'Start it, or repair the way to it. What calls have to write waits meanwhile.',
      settings: ['DATABASE_URL'],
      faults: ['database is away'],
      nodes: ['cut'],
    },
  ],
};

const BUCKET = {
  title: 'The bucket of recordings',
  metric: 'gateway_part_failing{part="bucket"} == 1',
  alert: 'GatewayBucketFails',
  health: 'parts.bucket',
  console: 'Calls: recordings stay "processing"',
  back: 'The bucket of recordings (…)… is back after … s',
  incidents: [
    {
      symptom: 'Recordings are not there; `gateway_recordings_waiting_bytes` grows',
      log: 'The bucket of recordings (…) at … cannot be reached (ECONNREFUSED): check RECORDINGS_URL',
      todo: 'Repair the way to it. Recordings wait in `DATA_DIR`, up to `RECORDINGS_SPOOL_MB`.',
      settings: ['RECORDINGS_URL', 'RECORDINGS_SPOOL_MB'],
      faults: ['bucket is away'],
    },
    {
      symptom: 'The same',
      log: 'The bucket of recordings (…) at … refused the key (403): check AWS_ACCESS_KEY_ID',
      todo: 'Give it credentials that may read, write and delete in the bucket, and restart.',
      settings: ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'],
      faults: ['bucket refuses the key'],
    },
  ],
};

const LIVEKIT = {
  title: 'The LiveKit server',
  metric: 'gateway_part_failing{part="livekit"} == 1',
  alert: 'GatewayLivekitFails',
  health: 'parts.livekit',
  console: 'Talk and Calls: no call begins',
  back: 'The LiveKit server (…)… is back after … s',
  incidents: [
    {
      symptom: 'Sessions get 503, no agent comes into its room',
      log: 'The LiveKit server (…) at … cannot be reached (ECONNREFUSED): check LIVEKIT_URL',
      todo: 'Start it, or repair the way to it ([livekit.md](livekit.md)).',
      settings: ['LIVEKIT_URL'],
      faults: ['LiveKit server is away'],
    },
  ],
};

/** What an account has configured: its own to mend, and no concern of `/health`. */
const ofAccount = (part) =>
  `increase(gateway_part_requests_total{part="${part}", name="account", outcome!~"ok|refused|cancelled"}[5m]) > 0`;

const TOOL = {
  title: 'Tools',
  metric: ofAccount('tool'),
  alert: 'GatewayToolsFail',
  health: '',
  console: 'Calls: the tool’s result in the transcript; Tools: try it there',
  back: 'A tool at … is back after … s',
  incidents: [
    {
      symptom: 'Agents say that something did not work',
      log: 'A tool at … failed (…)',
      todo: 'The line has the `workspaceId` of the account that owns it: tell them.',
      settings: [],
      faults: ['tool answers 500'],
    },
    {
      symptom: 'The same, or that it may have happened',
      log: 'A tool at … cannot be reached (…)',
      todo: 'The same. If it concerns many accounts, look at the way out of your network (`OUTBOUND_ALLOW` for private addresses).',
      settings: ['OUTBOUND_ALLOW'],
      faults: ['tool closes connections'],
    },
    {
      symptom: '"One moment", then that it may have happened',
      log: 'A tool at … did not answer in time',
      todo: 'The same. An account may set `timeout_seconds` of a tool.',
      settings: [],
      faults: ['tool hangs'],
    },
  ],
};

const MCP = {
  title: 'MCP servers',
  metric: ofAccount('mcp'),
  alert: 'GatewayToolsFail',
  health: '',
  console: 'Calls: the tool’s result in the transcript; Tools: try it there',
  back: 'An MCP server at … is back after … s',
  incidents: [
    {
      symptom: 'Agents say that something did not work, or do not know the tool',
      log: 'An MCP server at … failed (…)',
      todo: 'The line has the `workspaceId` of the account that owns it: tell them.',
      settings: [],
      faults: ['mcp answers 500'],
    },
    {
      symptom: '"One moment", then that it may have happened',
      log: 'An MCP server at … did not answer in time',
      todo: 'The same.',
      settings: [],
      faults: ['mcp hangs', 'mcp has a lost stream'],
    },
  ],
};

const WEBHOOK = {
  title: 'Receivers of webhooks',
  metric: ofAccount('webhook'),
  alert: 'GatewayWebhooksFail',
  health: '',
  console: 'Deliveries: status "Failed" or "Waiting", with the answer to each attempt; "Deliver again"',
  back: 'A webhook at … is back after … s',
  incidents: [
    {
      symptom: 'An account misses post-call events',
      log: 'A webhook at … cannot be reached…',
      todo: 'Nothing is lost for a day: events are sent again with growing gaps. Tell the account that the line names. What was given up after a day is delivered again in the console ([webhooks.md](../webhooks.md)).',
      settings: [],
      faults: ['webhook receiver is away'],
    },
    {
      symptom: 'The same',
      log: 'A webhook at … failed (500)',
      todo: 'The same.',
      settings: [],
      faults: ['webhook receiver answers 500'],
    },
  ],
};

const PHONE = {
  title: 'Telephone providers',
  metric: 'increase(gateway_part_requests_total{part="phone", outcome!~"ok|refused|cancelled"}[5m]) > 0',
  alert: 'GatewayPhoneFail',
  health: '',
  console: 'Phone: placed calls have failed',
  back: 'The telephone provider (…) at … is back after … s',
  incidents: [
    {
      symptom: 'Placed calls fail, transfers and hang-ups do not work',
      log: 'The telephone provider (…) at … refused the key (401)…',
      todo: 'Enter new credentials for the numbers of the workspace that the line names.',
      settings: [],
      faults: ['telephone provider refuses the key'],
    },
    {
      symptom: 'The same',
      log: 'The telephone provider (…) at … cannot be reached…',
      todo: 'Look at the provider’s status page, and at the way out of your network.',
      settings: [],
      faults: ['telephone provider is away'],
    },
  ],
};

const PROCESSES = {
  title: 'Processes',
  console: 'Machine',
  incidents: [
    {
      symptom: 'Calls of one media worker are silent for seconds, or requests get one 503',
      log: 'worker exited, starting it again',
      back: 'The child process (…) is back after … s',
      metric: 'increase(gateway_child_restarts_total[5m]) > 0',
      alert: 'GatewayChildDied',
      health: 'parts.child',
      todo: 'Another one is started at once. The line has its `role`, `code`, `signal` and `cause`; is that `memory`? See [memory.md](memory.md).',
      settings: ['MEMORY_BUDGET_MB'],
      faults: ['media process dies', 'process that speaks dies', 'process that recognises dies'],
      nodes: ['child'],
    },
    {
      symptom: 'Work of one kind stands still for five seconds, then goes on',
      log: 'The child process (…) said nothing, and is replaced…',
      back: 'The child process (…) is back after … s',
      metric: 'increase(gateway_child_restarts_total[5m]) > 0',
      alert: 'GatewayChildDied',
      health: 'parts.child',
      todo: 'It was stopped, or stuck in one piece of work. If it comes again: is the machine swapping, has it too few processors?',
      settings: [],
      faults: ['process that speaks is frozen', 'process that recognises is frozen'],
    },
    {
      symptom: 'All work of one kind fails: nothing is spoken, encoded or heard',
      log: 'The child process (…) …',
      back: 'The child process (…) is back after … s',
      metric: 'gateway_part_failing{part="child"} == 1',
      alert: 'GatewayChildFails',
      health: 'checks.encode',
      todo: 'Read its last lines in the log. Is there enough memory, is a model file damaged (`npm run models`)? Readiness ends after three deaths in a row, so that balancers use other machines.',
      settings: ['MEMORY_BUDGET_MB', 'ENCODE_PROCESSES', 'MODELS_DIR'],
      faults: ['worker dies again and again'],
    },
    {
      symptom: 'Nothing answers on that machine; its calls go on at other nodes after five seconds',
      log: '',
      back: '',
      metric: 'up{job="speech-gateway"} == 0',
      alert: 'GatewayDown',
      health: 'no answer',
      todo: 'It cannot write a line of that. The service manager starts it again; `dmesg` says whether the kernel killed it, `docker inspect` what ended a container.',
      settings: [],
      faults: ['gateway is killed'],
      nodes: ['kill'],
    },
    {
      symptom: 'Connections are made and nothing is answered: the process, or the whole machine, is stopped',
      log: '',
      back: '',
      metric: 'up{job="speech-gateway"} == 0',
      alert: 'GatewayDown',
      health: 'no answer',
      todo: 'Is the machine suspended, swapping, or is a debugger attached (`ps -o stat`: `T`)? Kill it; it is started again.',
      settings: [],
      faults: ['gateway is stopped'],
      nodes: ['stop'],
    },
    {
      symptom: 'New requests get 503, calls go on',
      log: 'leaving: new work is refused, what runs goes on',
      back: '',
      metric: 'gateway_draining == 1',
      alert: 'GatewayDrainsLong',
      health: 'status: draining',
      todo: 'Somebody sent SIGTERM: an upgrade, or a scheduler. It waits for calls, `DRAIN_SECONDS` at most; further lines say for what.',
      settings: ['DRAIN_SECONDS', 'DRAIN_ANNOUNCE_SECONDS'],
      faults: ['gateway drains'],
      nodes: ['drain'],
    },
    {
      symptom: 'What must be written gets 503; speaking and reading go on',
      log: 'no room left on the disk: not ready until there is',
      back: 'ready again',
      metric: 'gateway_check_failing{check="storage"} == 1',
      alert: 'GatewayDiskFull',
      health: 'checks.storage',
      todo: 'Make room where `DATA_DIR` is: logs, old recordings (`RECORDING_DAYS`), backups.',
      settings: ['DATA_DIR', 'RECORDING_DAYS', 'RECORDINGS_URL'],
      faults: ['disk is full'],
    },
  ],
};

/** Callers are answered all the same. */
const ODD = {
  title: 'Oddities that callers are spared',
  metric: '',
  alert: '',
  health: '',
  back: '',
  console: 'Calls: the turns of the call',
  incidents: [
    {
      symptom: 'An answer ends in mid-sentence',
      log: 'a language model broke its answer off',
      todo: '`cut` in the line says why: `length` (raise the server’s limit of an answer), `content_filter`, `unfinished` (a proxy that cuts streams).',
      settings: ['LLM_MODEL'],
      faults: second([
        'model is cut by length',
        'model is cut by a content filter',
        'model ends without an end',
      ]),
    },
    {
      symptom: 'An agent forgets how the call began',
      log: 'a conversation has outgrown the language model’s window: it is told less of it',
      todo: 'Give the model a larger window, or say how large it is, so that no request is refused first.',
      settings: ['LLM_CONTEXT_TOKENS'],
      faults: second(['model outgrows its window']),
    },
    {
      symptom: 'Nothing',
      log: 'a language model writes its tool calls as text: let its server parse them',
      todo: 'Switch the parser of tool calls on in the model’s server (vLLM: `--enable-auto-tool-choice --tool-call-parser`).',
      settings: [],
      faults: second(['model writes tools as text']),
    },
    {
      symptom: '"One moment" while a tool works',
      log: 'a tool kept somebody on the line waiting',
      todo: 'It is the account’s: tell them, or let them set its execution mode to `background`.',
      settings: [],
      faults: ['tool is slow'],
    },
    {
      symptom: 'An agent knows only a part of what a tool answered',
      log: 'a tool answered more than is taken',
      todo: 'It is the account’s: tell them ([limits.md](../contract/limits.md)).',
      settings: [],
      faults: ['tool answers megabytes'],
    },
    {
      symptom: 'Nothing',
      log: 'an MCP server has forgotten the session: another one was begun',
      todo: 'It was started again. Nothing, unless it happens at every call.',
      settings: [],
      faults: ['mcp is started again'],
    },
    {
      symptom: 'Nothing',
      log: 'an MCP server offers other tools',
      todo: 'Nothing.',
      settings: [],
      faults: ['mcp changes its tools'],
    },
    {
      symptom: 'A pause before a tool’s result',
      log: 'a stream of an MCP server broke off and was resumed',
      todo: 'A proxy between here and there cuts streams: raise its time-out.',
      settings: [],
      faults: ['mcp has a dead stream'],
    },
  ],
};

export const PARTS = [
  MODEL,
  VOICE,
  RECOGNISER,
  TOOL,
  MCP,
  WEBHOOK,
  PHONE,
  ANALYSIS,
  DATABASE,
  BUCKET,
  LIVEKIT,
  PROCESSES,
  ODD,
];

/** All incidents, each with what its part has. */
export const INCIDENTS = PARTS.flatMap(({ incidents, ...shared }) =>
  incidents.map((own) => ({ nodes: [], ...shared, ...own })),
);
