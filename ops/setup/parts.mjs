/**
 * The parts of package-lock.json that npm can leave out. What runs the gateway is always there; `dev` is what builds,
 * tests and checks it; `extras` are big packages that few settings need, kept in package.json as peerDependencies.
 */

import { packageFolder } from './paths.mjs';

/** The kind of dependency that npm knows a part as (`--omit`, `--include`, and a mark in the lock). */
export const KINDS = { dev: 'dev', extras: 'peer' };

export const EVERYTHING = Object.keys(KINDS);

const TRACING = [
  '@opentelemetry/exporter-trace-otlp-proto',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-trace-base',
];

/** The variables that need extras, and which: rtc-node for LiveKit, the client of S3, OpenTelemetry's exporter for tracing. */
const EXTRAS = {
  LIVEKIT_URL: ['@livekit/rtc-node'],
  RECORDINGS_URL: ['@aws-sdk/client-s3', '@aws-sdk/s3-request-presigner'],
  OTEL_EXPORTER_OTLP_ENDPOINT: TRACING,
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: TRACING,
};

/** The variables that are set and need extras. */
const variablesSet = (env) => Object.keys(EXTRAS).filter((name) => env[name]);

/** The parts that a gateway with these settings needs. */
export const partsToRun = (env = process.env) => (variablesSet(env).length > 0 ? ['extras'] : []);

/** The extras that these settings need and that are not there, as `{ variable, packages }`, one a variable. */
export const missingExtras = (env = process.env, folderOf = packageFolder) =>
  variablesSet(env)
    .map((variable) => ({ variable, packages: EXTRAS[variable].filter((name) => !folderOf(name)) }))
    .filter(({ packages }) => packages.length > 0);

/** Whether an entry of the lock belongs to what runs, or to one of the parts. */
export const isWithin = (entry, parts) =>
  Object.entries(KINDS).every(([part, kind]) => !entry[kind] || parts.includes(part));

/** npm's arguments for these parts. */
export const partArguments = (parts) => [
  '--include=optional',
  ...Object.entries(KINDS).map(([part, kind]) => `--${parts.includes(part) ? 'include' : 'omit'}=${kind}`),
];
