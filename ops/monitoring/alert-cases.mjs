/**
 * A case for each alert: figures a minute apart in Prometheus' notation (`0+5x10`: 0, 5, … 50), when it is silent and
 * when it fires. `npm run generate` writes alerts.test.yaml from here, which `promtool test rules` runs.
 *
 * `series`: metrics with their labels besides `instance`, and their values; another instance keeps the first of them. `silent`: minutes at which it says nothing;
 * `fires`: those at which it does, with `labels` besides `instance` and `severity`.
 */
const [PIECE_WAIT, FIRST_BYTE, PART] = [
  'gateway_child_piece_wait_seconds_bucket',
  'gateway_first_byte_seconds_bucket',
  'gateway_part_seconds_bucket',
];
/** A histogram of which each minute adds `quick` values below a tenth of a second, and `slow` ones above two. */
const histogram = (name, labels, quick, slow, minutes) =>
  Object.fromEntries(
    [
      ['0.1', quick],
      ['2', quick],
      ['5', quick + slow],
      ['+Inf', quick + slow],
    ].map(([le, each]) => [`${name}{${labels}, le="${le}"}`, `0+${each}x${minutes}`]),
  );

/** A part of the operator's fails from the fifth minute to the 28th. */
const partCase = (name, part, lastsMinutes) => ({
  alert: `Gateway${name}Fails`,
  series: { [`gateway_part_failing{part="${part}", name="one"}`]: '0x4 1x23 0x10' },
  silent: [4, 4 + lastsMinutes, 29],
  fires: [5 + lastsMinutes, 28],
  labels: { name: 'one' },
});

/** What accounts have configured: a third of the requests fails, which is theirs to mend, then two of three. */
const accountsCase = (name, part) => ({
  alert: `Gateway${name}Fail`,
  series: {
    [`gateway_part_requests_total{part="${part}", name="account", outcome="ok"}`]: '0+10x60',
    [`gateway_part_requests_total{part="${part}", name="account", outcome="timeout"}`]:
      '0+5x20 120+20x20 500x20',
  },
  silent: [10, 25, 50],
  fires: [35, 41],
  labels: { part, name: 'account' },
});

export const CASES = [
  ...[
    ['Model', 'model', 1],
    ['Voice', 'voice', 1],
    ['Recogniser', 'recogniser', 1],
    ['Database', 'database', 1],
    ['Livekit', 'livekit', 1],
    ['Child', 'child', 1],
    ['Bucket', 'bucket', 10],
    ['Ice', 'ice', 10],
    ['Analysis', 'analysis', 10],
  ].map((row) => partCase(...row)),
  ...[
    ['Tools', 'tool'],
    ['Phone', 'phone'],
    ['Webhooks', 'webhook'],
  ].map((row) => accountsCase(...row)),
  {
    alert: 'GatewayModelSlow',
    series: histogram(PART, 'part="model", name="main"', 10, 2, 30),
    silent: [5],
    fires: [12, 30],
    labels: { name: 'main' },
  },
  {
    alert: 'GatewayDatabaseSlow',
    series: histogram(PART, 'part="database", name="postgres"', 10, 2, 30),
    silent: [5],
    fires: [12, 30],
  },
  {
    alert: 'GatewayOutOfMemory',
    series: { 'gateway_child_restarts_total{role="stt", index="0", cause="memory"}': '0x4 1x40' },
    silent: [4, 25],
    fires: [6, 15],
    labels: { role: 'stt', index: '0', cause: 'memory' },
  },
  {
    alert: 'GatewayChildDied',
    series: { 'gateway_child_restarts_total{role="media", index="0", cause="killed"}': '0x4 1x40' },
    silent: [4, 11],
    fires: [6, 9],
    labels: { role: 'media' },
  },
  {
    alert: 'GatewayDiskFull',
    series: { 'gateway_check_failing{check="storage"}': '0x4 1x10 0x5' },
    silent: [4, 5, 16],
    fires: [6, 15],
    labels: { check: 'storage' },
  },
  {
    alert: 'GatewayChildRestarts',
    series: {
      'gateway_child_restarts_total{role="stt", index="0", cause="exited"}': '0x4 1+1x2 4x60',
      'gateway_child_restarts_total{role="stt", index="1", cause="killed"}': '0x4 2x60',
    },
    silent: [4, 30],
    fires: [10, 15],
    labels: { role: 'stt' },
  },
  {
    alert: 'GatewayDown',
    series: { 'up{job="speech-gateway"}': '1x4 0x5 1x5' },
    silent: [4, 6, 11],
    fires: [7, 9],
    labels: { job: 'speech-gateway' },
  },
  {
    alert: 'GatewayProcessMissing',
    series: { gateway_processes: '4x4 3x20 4x5' },
    silent: [4, 9, 26],
    fires: [10, 25],
  },
  {
    alert: 'GatewayChildDown',
    series: { 'gateway_child_connected{role="speech", index="0"}': '1x4 0x5 1x5' },
    silent: [4, 5, 11],
    fires: [6, 10],
    labels: { role: 'speech', index: '0' },
  },
  {
    alert: 'GatewayFails',
    series: {
      'gateway_requests_total{route="/v1/tts", status="200"}': '0+90x30',
      'gateway_requests_total{route="/v1/tts", status="503"}': '0x5 10+10x10 110x20',
    },
    silent: [5, 10, 25],
    fires: [13, 15],
  },
  {
    alert: 'GatewaySheds',
    series: { 'gateway_shed_requests_total{reason="overloaded"}': '0x5 1+1x10 11x20' },
    silent: [5, 10, 25],
    fires: [12, 15],
  },
  {
    alert: 'GatewayLoopBehind',
    series: { gateway_loop_delay_seconds: '0.01x4 0.3x10 0.01x5' },
    silent: [4, 9, 16],
    fires: [10, 14],
  },
  {
    alert: 'GatewayChildQueue',
    series: { 'gateway_child_jobs_queued{role="encode", index="1"}': '0x4 40x10 0x5' },
    silent: [4, 9, 16],
    fires: [10, 14],
    labels: { role: 'encode', index: '1' },
  },
  {
    alert: 'GatewayEngineWaits',
    series: histogram(PIECE_WAIT, 'role="speech"', 10, 2, 30),
    silent: [5],
    fires: [12, 30],
    labels: { role: 'speech' },
  },
  {
    alert: 'GatewayFirstAudioSlow',
    series: {
      ...histogram(FIRST_BYTE, 'route="/v1/tts"', 10, 2, 30),
      ...histogram(FIRST_BYTE, 'route="/v1/agent/agents"', 1000, 0, 30),
    },
    silent: [5],
    fires: [12, 30],
  },
  {
    alert: 'GatewayVoicesStutter',
    series: {
      'gateway_call_frames_total{kind="sent"}': '0+3000x60',
      'gateway_call_frames_total{kind="late"}': '0x5 100+100x25 2600x30',
    },
    silent: [5, 20, 50],
    fires: [25, 30],
  },
  {
    alert: 'GatewayCallsFail',
    series: {
      'gateway_calls_ended_total{reason="hangup"}': '0+9x60',
      'gateway_calls_ended_total{reason="error"}': '0x5 1+1x25 26x30',
    },
    silent: [5, 20, 50],
    fires: [25, 30],
  },
  {
    alert: 'GatewayDeliveriesWait',
    series: {
      gateway_deliveries_oldest_seconds: '0x4 0+60x60 0x10',
      gateway_deliveries_waiting: '0x4 1+1x60 0x10',
    },
    silent: [4, 25, 68],
    fires: [32, 60],
  },
  {
    alert: 'GatewayDeliveriesGivenUp',
    series: { 'gateway_deliveries_given_up_total{event="call.ended"}': '0x4 3x90' },
    silent: [4, 70],
    fires: [6, 60],
    labels: { event: 'call.ended' },
  },
  {
    alert: 'GatewayDrainsLong',
    series: { gateway_draining: '0x4 1x100' },
    silent: [4, 74],
    fires: [76, 100],
  },
];
