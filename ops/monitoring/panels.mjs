/**
 * The panels of the Grafana dashboard, in rows. `npm run generate` writes dashboard.json from here.
 *
 * A panel: title, unit (Grafana's names), queries (`expr`, `legend`). `$instance` is chosen at the top of the dashboard.
 */
import { SPEECH_ROUTES } from './speech-routes.mjs';

const of = (metric, more = '') => `${metric}{instance=~"$instance"${more}}`;
const rate = (metric, by, more) => `sum by (${by}) (rate(${of(metric, more)}[$__rate_interval]))`;
const now = (metric, by = 'instance') => ({ expr: `sum by (${by}) (${of(metric)})`, legend: `{{${by}}}` });
const percentiles = (histogram, more) =>
  ['0.5', '0.95', '0.99'].map((quantile) => ({
    expr: `histogram_quantile(${quantile}, ${rate(`${histogram}_bucket`, 'le', more)})`,
    legend: `p${Number(quantile) * 100}`,
  }));

const SPEECH = `, ${SPEECH_ROUTES}`;

/** What was asked and failed; `cancelled` and `refused` are no failures of the part. */
const FAILED = ', outcome!~"ok|refused|cancelled"';

export const ROWS = [
  {
    title: 'What the gateway asks',
    panels: [
      {
        title: 'Parts that fail now, and what ends readiness',
        unit: 'short',
        queries: [
          {
            expr: `max by (instance, part, name) (${of('gateway_part_failing')}) == 1`,
            legend: '{{part}}, {{name}} ({{instance}})',
          },
          { expr: `${of('gateway_check_failing')} == 1`, legend: 'not ready: {{check}} ({{instance}})' },
        ],
      },
      {
        title: 'Requests to parts that failed, by what came of them',
        unit: 'reqps',
        queries: [
          {
            expr: rate('gateway_part_requests_total', 'part, name, outcome', FAILED),
            legend: '{{part}}, {{name}}: {{outcome}}',
          },
        ],
      },
      {
        title: 'Time to the answer of a part, 95th percentile',
        unit: 's',
        queries: [
          {
            expr: `histogram_quantile(0.95, ${rate('gateway_part_seconds_bucket', 'le, part, name')})`,
            legend: '{{part}}, {{name}}',
          },
        ],
      },
      {
        title: 'Restarts of child processes',
        unit: 'short',
        queries: [
          {
            expr: `sum by (instance, role, cause) (increase(${of('gateway_child_restarts_total')}[$__rate_interval]))`,
            legend: '{{role}}: {{cause}} ({{instance}})',
          },
        ],
      },
    ],
  },
  {
    title: 'Each kind of part',
    panels: [
      'model',
      'voice|recogniser',
      'tool|mcp',
      'webhook|analysis',
      'phone|bucket|livekit|ice',
      'database|child',
    ].map((parts) => ({
      title: `Requests by what came of them: ${parts.replaceAll('|', ', ')}`,
      unit: 'reqps',
      queries: [
        {
          expr: rate('gateway_part_requests_total', 'part, name, outcome', `, part=~"${parts}"`),
          legend: '{{part}}, {{name}}: {{outcome}}',
        },
      ],
    })),
  },
  {
    title: 'Requests',
    panels: [
      {
        title: 'Requests by status',
        unit: 'reqps',
        queries: [{ expr: rate('gateway_requests_total', 'status'), legend: '{{status}}' }],
      },
      {
        title: 'Refused: overloaded or draining',
        unit: 'reqps',
        queries: [{ expr: rate('gateway_shed_requests_total', 'reason'), legend: '{{reason}}' }],
      },
      { title: 'In progress', unit: 'short', queries: [now('gateway_requests_in_flight')] },
      {
        title: 'Bytes',
        unit: 'Bps',
        queries: [{ expr: rate('gateway_bytes_total', 'direction'), legend: '{{direction}}' }],
      },
    ],
  },
  {
    title: 'Speech',
    panels: [
      {
        title: 'Time to the first byte of speech',
        unit: 's',
        queries: percentiles('gateway_first_byte_seconds', SPEECH),
      },
      {
        title: 'Time to the last byte of speech',
        unit: 's',
        queries: percentiles('gateway_request_seconds', SPEECH),
      },
      { title: 'Speech jobs running', unit: 'short', queries: [now('gateway_speech_jobs_running')] },
      {
        title: 'Jobs and pieces that wait in child processes',
        unit: 'short',
        queries: [
          { ...now('gateway_child_jobs_queued', 'role'), legend: 'jobs, {{role}}' },
          { ...now('gateway_child_pieces_queued', 'role'), legend: 'pieces, {{role}}' },
        ],
      },
      {
        title: 'Wait of a piece for its engine, 95th percentile',
        unit: 's',
        queries: [
          {
            expr: `histogram_quantile(0.95, ${rate('gateway_child_piece_wait_seconds_bucket', 'le, role')})`,
            legend: '{{role}}',
          },
        ],
      },
    ],
  },
  {
    title: 'Calls and sockets',
    panels: [
      { title: 'Calls', unit: 'short', queries: [now('gateway_calls')] },
      {
        title: 'Calls ended per minute',
        unit: 'short',
        queries: [{ expr: `60 * ${rate('gateway_calls_ended_total', 'reason')}`, legend: '{{reason}}' }],
      },
      {
        title: 'Audio frames late or lost',
        unit: 'percentunit',
        queries: ['late', 'lost'].map((kind) => ({
          expr: `${rate('gateway_call_frames_total', 'instance', `, kind="${kind}"`)} / ${rate(
            'gateway_call_frames_total',
            'instance',
            ', kind="sent"',
          )}`,
          legend: `${kind}, {{instance}}`,
        })),
      },
      {
        title: 'WebSockets',
        unit: 'short',
        queries: [
          now('gateway_open_sockets'),
          { ...now('gateway_unauthenticated_sockets'), legend: 'not known yet, {{instance}}' },
        ],
      },
    ],
  },
  {
    title: 'Turns of calls',
    panels: [
      {
        title: 'End of the user’s turn to the first audio',
        unit: 's',
        queries: percentiles('gateway_turn_seconds'),
      },
      {
        title: 'Where that time goes, on average',
        unit: 's',
        queries: [
          {
            expr: `${rate('gateway_turn_part_seconds_sum', 'part')} / ${rate('gateway_turn_part_seconds_count', 'part')}`,
            legend: '{{part}}',
          },
        ],
      },
      {
        title: 'Interruption to silence',
        unit: 's',
        queries: percentiles('gateway_barge_in_seconds'),
      },
      {
        title: 'Interruptions per minute',
        unit: 'short',
        queries: [
          { expr: `60 * ${rate('gateway_interruptions_total', 'by')}`, legend: '{{by}}' },
          {
            expr: `60 * ${rate('gateway_false_interruptions_total', 'instance')}`,
            legend: 'false, {{instance}}',
          },
        ],
      },
    ],
  },
  {
    title: 'Webhooks',
    panels: [
      {
        title: 'Attempts to deliver post-call events',
        unit: 'ops',
        queries: [{ expr: rate('gateway_deliveries_total', 'outcome'), legend: '{{outcome}}' }],
      },
      {
        title: 'Post-call events that wait; receivers that fail',
        unit: 'short',
        queries: [
          { expr: `max(${of('gateway_deliveries_waiting')})`, legend: 'waiting' },
          { expr: `max(${of('gateway_deliveries_failing_receivers')})`, legend: 'failing receivers' },
        ],
      },
      {
        title: 'Age of the oldest that waits',
        unit: 's',
        queries: [{ expr: `max(${of('gateway_deliveries_oldest_seconds')})`, legend: 'oldest' }],
      },
      {
        title: 'Given up per hour',
        unit: 'short',
        queries: [
          { expr: `3600 * ${rate('gateway_deliveries_given_up_total', 'event')}`, legend: '{{event}}' },
        ],
      },
    ],
  },
  {
    title: 'Processes',
    panels: [
      {
        title: 'Event loop delay',
        unit: 's',
        queries: [{ expr: of('gateway_loop_delay_seconds'), legend: '{{instance}}' }],
      },
      {
        title: 'CPU of gateway processes',
        unit: 'percentunit',
        queries: [{ expr: rate('process_cpu_seconds_total', 'instance'), legend: '{{instance}}' }],
      },
      {
        title: 'Memory of gateway processes',
        unit: 'bytes',
        queries: [now('process_resident_memory_bytes')],
      },
      {
        title: 'Gateway processes; children that are not connected; draining',
        unit: 'short',
        queries: [
          { ...now('gateway_processes'), legend: 'processes, {{instance}}' },
          {
            expr: `count by (instance, role) (${of('gateway_child_connected')} == 0)`,
            legend: 'not connected: {{role}} ({{instance}})',
          },
          { expr: of('gateway_draining'), legend: 'draining, {{instance}}' },
        ],
      },
    ],
  },
];
