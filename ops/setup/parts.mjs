/**
 * The parts of package-lock.json that npm can leave out. What runs the gateway is always there; `dev` is what builds,
 * tests and checks it; `extras` are big packages that few settings need, kept in package.json as peerDependencies.
 */

/** The kind of dependency that npm knows a part as (`--omit`, `--include`, and a mark in the lock). */
export const KINDS = { dev: 'dev', extras: 'peer' };

export const EVERYTHING = Object.keys(KINDS);

/** The variables that need the extras: rtc-node for LiveKit, the client of S3, OpenTelemetry's exporter for tracing. */
const EXTRA_VARIABLES = [
  'LIVEKIT_URL',
  'RECORDINGS_URL',
  'OTEL_EXPORTER_OTLP_ENDPOINT',
  'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
];

/** The parts that a gateway with these settings needs. */
export const partsToRun = (env = process.env) =>
  EXTRA_VARIABLES.some((name) => env[name]) ? ['extras'] : [];

/** Whether an entry of the lock belongs to what runs, or to one of the parts. */
export const isWithin = (entry, parts) =>
  Object.entries(KINDS).every(([part, kind]) => !entry[kind] || parts.includes(part));

/** npm's arguments for these parts. */
export const partArguments = (parts) => [
  '--include=optional',
  ...Object.entries(KINDS).map(([part, kind]) => `--${parts.includes(part) ? 'include' : 'omit'}=${kind}`),
];
