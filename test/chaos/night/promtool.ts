/**
 * Prometheus' own judgement of recorded figures: `promtool test rules` is told that nothing is ever true, and its
 * objections say at which seconds something was. Alerts are those of ops/monitoring/alerts.yaml without their `for`.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { CHECKOUT } from '../../../contracts/places.js';
import { externalTool } from '../../fixtures/external.js';
import { temporaryFolder } from '../../fixtures/folders.js';
import { inputSeries, type Scrape } from './figures.js';

export const PROMTOOL = 'promtool';
export const withoutPromtool = (): string | undefined =>
  externalTool(PROMTOOL) === undefined
    ? 'not on PATH: promtool, which checks alerts (Debian: apt-get install prometheus)'
    : undefined;

/** Runs promtool with these arguments; resolves with its exit code and all that it said. */
export async function promtool(
  ...args: readonly string[]
): Promise<{ readonly code: number; readonly said: string }> {
  const child = spawn(externalTool(PROMTOOL) ?? PROMTOOL, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const [out, error, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { code: Number(code), said: out + error };
}

const RULES = new URL('ops/monitoring/alerts.yaml', CHECKOUT);
/** The rules as they are, each of which fires as soon as its expression is true. */
const impatientRules = (): string => readFileSync(RULES, 'utf8').replaceAll(/^( +for:).*$/gm, '$1 0s');

/** `1m3s` of promtool. */
const secondsOf = (duration: string): number =>
  [...duration.matchAll(/(\d+)([hms])(?!s)/g)].reduce(
    (sum, [, number, unit]) => sum + Number(number) * { h: 3600, m: 60, s: 1 }[unit as 'h' | 'm' | 's'],
    0,
  );

const OBJECTION =
  /^\s*(?:alertname: (?<alert>\S+)|expr: (?<expr>"(?:[^"\\]|\\.)*")), time: (?<time>[\dhms]+)(?<got>[^]*?)(?=^\s*(?:alertname|expr): |(?![^]))/gm;
/** Of an alert that fired. */
const NAME_LABEL = /^\s*Labels:\{.*\bname=("(?:[^"\\]|\\.)*")/gm;

/** The alert of one of several parts. */
export const alertOf = (alert: string, name: string): string => `${alert}{name="${name}"}`;

/** The seconds at which each alert or expression was true, from promtool's objections; of an alert also those for each part that it names. */
export function objections(said: string): ReadonlyMap<string, readonly number[]> {
  const found = new Map<string, number[]>();
  for (const { groups } of said.matchAll(OBJECTION)) {
    const { alert, expr, time = '', got = '' } = groups ?? {};
    const parts = alert === undefined ? [] : [...got.matchAll(NAME_LABEL)];
    const names = [
      alert ?? String(JSON.parse(expr ?? '""')),
      ...parts.map(([, name]) => alertOf(alert!, String(JSON.parse(name!)))),
    ];
    for (const name of names) found.set(name, [...(found.get(name) ?? []), secondsOf(time)]);
  }
  return found;
}

/** The name of an alert, whichever part it is to be about. */
const wholeAlert = (alert: string): string => alert.replace(/\{.*$/, '');

/** Seconds of the recording (one scrape each, undefined: none) at which each of the alerts and of the expressions is true. */
export async function truthOf(
  scrapes: readonly (Scrape | undefined)[],
  alerts: readonly string[],
  expressions: readonly string[],
): Promise<ReadonlyMap<string, readonly number[]>> {
  const times = scrapes.map((_, second) => `${second}s`);
  const tests = {
    rule_files: ['alerts.yaml'],
    evaluation_interval: '1s',
    tests: [
      {
        interval: '1s',
        input_series: inputSeries(scrapes),
        alert_rule_test: alerts.flatMap((alertname) =>
          times.map((eval_time) => ({ alertname: wholeAlert(alertname), eval_time, exp_alerts: [] })),
        ),
        promql_expr_test: expressions.flatMap((expr) =>
          times.map((eval_time) => ({ expr, eval_time, exp_samples: [] })),
        ),
      },
    ],
  };
  const folder = temporaryFolder('night-');
  try {
    writeFileSync(join(folder, 'alerts.yaml'), impatientRules());
    // JSON is YAML.
    writeFileSync(join(folder, 'tests.yaml'), JSON.stringify(tests));
    const { code, said } = await promtool('test', 'rules', join(folder, 'tests.yaml'));
    const found = objections(said);
    if (code !== 0 && found.size === 0) throw new Error(`promtool: ${said}`);
    return found;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
