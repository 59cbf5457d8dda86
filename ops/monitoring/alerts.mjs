/**
 * Alerts for operators. `npm run generate` writes alerts.yaml from here. Thresholds are starting points:
 * they say that callers notice, not that something is unusual.
 *
 * Where several gateways are scraped, an alert has the label `instance`, which its summary ends with; `ofAll`: it is about what all
 * gateways of the installation share. `for`: how long it must hold. `severity`: `page` where callers are hurt now, `ticket` where somebody should look.
 */
import { SPEECH_ROUTES } from './speech-routes.mjs';

const served = (status) => `sum by (instance) (rate(gateway_requests_total{status=~"${status}"}[5m]))`;
const share = (part, whole) => `(${part}) / (${whole} > 0)`;

/** The operator's parts, by kind: what it means when one fails, and how urgent that is. */
const PARTS = [
  [
    'Model',
    'model',
    'page',
    'The language model, {{ $labels.name }}, fails: agents cannot answer, or wait for the second one',
  ],
  ['Voice', 'voice', 'page', 'A remote engine that speaks, {{ $labels.name }}, fails'],
  ['Recogniser', 'recogniser', 'page', 'A remote engine that transcribes, {{ $labels.name }}, fails'],
  ['Database', 'database', 'page', 'The database is away: no call begins, and nothing is written'],
  ['Livekit', 'livekit', 'page', 'The LiveKit server fails: no call begins'],
  ['Child', 'child', 'page', 'Child processes, {{ $labels.name }}, die or do not come back'],
  ['Bucket', 'bucket', 'ticket', 'The bucket of recordings fails: they wait in DATA_DIR'],
  [
    'Ice',
    'ice',
    'ticket',
    'A server of ICE_SERVERS, {{ $labels.name }}, fails: clients in strict networks hear nothing',
  ],
  ['Analysis', 'analysis', 'ticket', 'Ended calls are not analysed'],
];

const partAlert = ([name, part, severity, summary]) => ({
  name: `Gateway${name}Fails`,
  expr: `max by (instance, name) (gateway_part_failing{part="${part}"}) == 1`,
  for: severity === 'page' ? '1m' : '10m',
  severity,
  summary: `${summary}; /health and the log name its address and setting`,
});

/** What accounts have configured, and its owners' fault: many failures may be the network's all the same. */
const OF_ACCOUNTS = [
  ['Tools', 'tool|mcp', 'tools of agents, {{ $labels.part }},'],
  ['Phone', 'phone', 'APIs of telephone providers, {{ $labels.name }},'],
  ['Webhooks', 'webhook', 'receivers of webhooks'],
];

const FAILED = 'outcome=~"refused_key|limited|wrong_address|failed|unreachable|timeout|invalid"';
const asked = (part, more = '') =>
  `sum by (instance, part, name) (rate(gateway_part_requests_total{part=~"${part}"${more}}[5m]))`;

const accountsAlert = ([name, part, what]) => ({
  name: `Gateway${name}Fail`,
  expr: `${share(asked(part, `, ${FAILED}`), asked(part))} > 0.5`,
  for: '10m',
  severity: 'ticket',
  summary: `More than half of the requests to ${what} fail; the log names addresses and workspaces`,
});

export const ALERTS = [
  ...PARTS.map(partAlert),
  ...OF_ACCOUNTS.map(accountsAlert),
  {
    name: 'GatewayModelSlow',
    expr: 'histogram_quantile(0.95, sum by (instance, name, le) (rate(gateway_part_seconds_bucket{part="model"}[10m]))) > 3',
    for: '10m',
    severity: 'ticket',
    summary:
      'One request in twenty to the language model, {{ $labels.name }}, waits more than three seconds for its first word',
  },
  {
    name: 'GatewayDatabaseSlow',
    expr: 'histogram_quantile(0.95, sum by (instance, le) (rate(gateway_part_seconds_bucket{part="database"}[10m]))) > 0.5',
    for: '10m',
    severity: 'ticket',
    summary: 'The database takes more than half a second for the cheapest question',
  },
  {
    name: 'GatewayOutOfMemory',
    expr: 'increase(gateway_child_restarts_total{cause="memory"}[15m]) > 0',
    for: '0m',
    severity: 'page',
    summary: 'A child process, {{ $labels.role }}, was killed for lack of memory',
  },
  {
    name: 'GatewayChildDied',
    expr: 'sum by (instance, role) (increase(gateway_child_restarts_total[5m])) > 0',
    for: '0m',
    severity: 'ticket',
    summary: 'A child process, {{ $labels.role }}, died or was stuck, and was started again',
  },
  {
    name: 'GatewayDiskFull',
    expr: 'gateway_check_failing{check="storage"} == 1',
    for: '1m',
    severity: 'page',
    summary: 'No room is left where DATA_DIR is, or for the database: what must be written is refused',
  },
  {
    name: 'GatewayChildRestarts',
    expr: 'sum by (instance, role) (increase(gateway_child_restarts_total[15m])) > 3',
    for: '0m',
    severity: 'ticket',
    summary:
      'Child processes, {{ $labels.role }}, were started again more than three times in a quarter of an hour',
  },
  {
    name: 'GatewayDown',
    expr: 'up{job="speech-gateway"} == 0',
    for: '2m',
    severity: 'page',
    summary: 'A gateway does not answer scrapes',
  },
  {
    name: 'GatewayProcessMissing',
    expr: 'gateway_processes < max_over_time(gateway_processes[1h])',
    for: '5m',
    severity: 'ticket',
    summary: 'A gateway process (of WORKERS) is missing and does not come back',
  },
  {
    name: 'GatewayChildDown',
    expr: 'gateway_child_connected == 0',
    for: '1m',
    severity: 'page',
    summary: 'A child process, {{ $labels.role }}, is not connected',
  },
  {
    name: 'GatewayFails',
    expr: `${share(served('5..'), served('...'))} > 0.05`,
    for: '5m',
    severity: 'page',
    summary: 'More than one request in twenty gets a 5xx',
  },
  {
    name: 'GatewaySheds',
    expr: 'sum by (instance) (rate(gateway_shed_requests_total{reason="overloaded"}[5m])) > 0',
    for: '5m',
    severity: 'page',
    summary: 'Requests are refused because the machine is overloaded: add machines, or reduce the load',
  },
  {
    name: 'GatewayLoopBehind',
    expr: 'gateway_loop_delay_seconds > 0.1',
    for: '5m',
    severity: 'ticket',
    summary:
      'The event loop of a gateway process is a tenth of a second behind; at twice that it refuses requests',
  },
  {
    name: 'GatewayChildQueue',
    expr: 'gateway_child_jobs_queued > 16',
    for: '5m',
    severity: 'ticket',
    summary: 'Jobs wait for a child process, {{ $labels.role }}: it is slower than new work arrives',
  },
  {
    name: 'GatewayEngineWaits',
    expr: 'histogram_quantile(0.95, sum by (instance, role, le) (rate(gateway_child_piece_wait_seconds_bucket[10m]))) > 2',
    for: '10m',
    severity: 'ticket',
    summary: 'One piece of work in twenty waits more than two seconds for its engine, {{ $labels.role }}',
  },
  {
    name: 'GatewayFirstAudioSlow',
    expr: `histogram_quantile(0.95, sum by (instance, le) (rate(gateway_first_byte_seconds_bucket{${SPEECH_ROUTES}}[10m]))) > 2`,
    for: '10m',
    severity: 'ticket',
    summary: 'One speech request in twenty waits more than two seconds for its first byte',
  },
  {
    name: 'GatewayVoicesStutter',
    expr: `${share(
      'sum by (instance) (rate(gateway_call_frames_total{kind=~"late|lost"}[15m]))',
      'sum by (instance) (rate(gateway_call_frames_total{kind="sent"}[15m]))',
    )} > 0.01`,
    for: '15m',
    severity: 'ticket',
    summary: 'More than one in a hundred of the agents’ audio frames left late or not at all',
  },
  {
    name: 'GatewayCallsFail',
    expr: `${share(
      'sum by (instance) (rate(gateway_calls_ended_total{reason="error"}[15m]))',
      'sum by (instance) (rate(gateway_calls_ended_total[15m]))',
    )} > 0.05`,
    for: '15m',
    severity: 'page',
    summary: 'More than one call in twenty ends with an error',
  },
  {
    name: 'GatewayDeliveriesWait',
    ofAll: true,
    expr: 'max(gateway_deliveries_oldest_seconds) > 900 and max(delta(gateway_deliveries_waiting[15m])) > 0',
    for: '10m',
    severity: 'ticket',
    summary:
      'Post-call events wait for more than a quarter of an hour, and become more: a receiver is away, or deliveries are too slow',
  },
  {
    name: 'GatewayDeliveriesGivenUp',
    ofAll: true,
    expr: 'sum by (event) (increase(gateway_deliveries_given_up_total[1h])) > 0',
    for: '0m',
    severity: 'ticket',
    summary:
      'Post-call events were given up, {{ $labels.event }}: the console lists them under Deliveries, and sends them again',
  },
  {
    name: 'GatewayDrainsLong',
    expr: 'gateway_draining == 1',
    for: '70m',
    severity: 'ticket',
    summary: 'A gateway has been draining for more than an hour',
  },
];
