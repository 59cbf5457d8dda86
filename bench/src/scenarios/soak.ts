/** The same load for long, speech and calls that come and go: whether memory, handles or latency grow (`--minutes`). */
import { readdirSync } from 'node:fs';
import { doubtsIn, failedFigure, latenciesIn, merged, type Phase } from '../measure/phase.js';
import { familyMemory, familyOf } from '../measure/processes.js';
import type { Line } from '../report/report.js';
import { type StartedServer, TONE } from '../servers/checkout.js';
import { callEnvironment, Callers, type Inviting, makeListener } from './call-load.js';
import type { Context } from './context.js';
import { scenario } from './scenario.js';
import { speechOf } from './speech/speech-request.js';

interface Parameters {
  readonly text: string;
  readonly rate: number;
  readonly minutes: number;
  /** Calls that are joined and left in each window, beside the speech. */
  readonly calls: number;
  /** The length is cut into so many windows; the first is a warm-up. */
  readonly windows: number;
}

const FULL: Parameters = { text: 'A second of tones.', rate: 20, minutes: 1, calls: 8, windows: 8 };
const QUICK: Parameters = { ...FULL, minutes: 0.2, calls: 2, windows: 4 };

interface Window {
  readonly phase: Phase;
  /** Minutes from the beginning to its end. */
  readonly at: number;
  /** MB of all processes. */
  readonly memory: number;
  /** Open files and sockets, and threads, of all processes. */
  readonly handles: number;
}

const entriesOf = (folder: string): number => {
  try {
    return readdirSync(folder).length;
  } catch {
    return 0;
  }
};

/** Connections of the database come and go by themselves. */
const handlesOf = (root: number): number =>
  familyOf(root).reduce((sum, pid) => sum + entriesOf(`/proc/${pid}/fd`) + entriesOf(`/proc/${pid}/task`), 0);

async function joinAndLeave(
  context: Context,
  server: StartedServer,
  invite: Inviting,
  calls: number,
): Promise<void> {
  const callers = new Callers(context, server, invite);
  await callers.join(calls, 2);
  await callers.leave();
  await callers.stop();
}

async function measureWindows(
  context: Context,
  server: StartedServer,
  parameters: Parameters,
): Promise<Window[]> {
  const { text, rate, calls, windows } = parameters;
  const minutes = context.options.minutes ?? parameters.minutes;
  const seconds = (minutes * 60) / windows;
  const params = speechOf(server, { dialect: 'native', format: 'mp3', text }, context.options);
  const invite = await makeListener(server);
  const measured: Window[] = [];
  const begun = performance.now();
  for (let window = 0; window < windows; window += 1) {
    const arrivals = {
      kind: context.options.arrivals,
      rate: context.options.rate ?? rate,
      seconds,
      seed: window + 1,
    };
    const speaking = context.load(server, `window ${window + 1} of ${windows}`, 'speech', params, {
      arrivals,
    });
    await joinAndLeave(context, server, invite, calls);
    const phase = await speaking;
    const at = (performance.now() - begun) / 60_000;
    measured.push({ phase, at, memory: familyMemory(server.pid), handles: handlesOf(server.pid) });
  }
  return measured.slice(1);
}

/** The slope of the best line through points (least squares). */
export function slopeOf(points: readonly (readonly [x: number, y: number])[]): number {
  const mean = (pick: (point: readonly [number, number]) => number): number =>
    points.reduce((sum, point) => sum + pick(point), 0) / points.length;
  const [middleX, middleY] = [mean(([x]) => x), mean(([, y]) => y)];
  const spread = points.reduce((sum, [x]) => sum + (x - middleX) ** 2, 0);
  return points.reduce((sum, [x, y]) => sum + (x - middleX) * (y - middleY), 0) / spread;
}

function report(context: Context, windows: readonly Window[]): void {
  const phase = merged(windows.map((window) => window.phase));
  const common = { subject: 'gateway', n: windows.length, doubts: doubtsIn(phase) };
  const line = (name: string, pick: (window: Window) => number): Line => ({
    name,
    points: windows.map((window) => [window.at, pick(window)] as const),
  });
  const lines = {
    memory: line('MB of all processes', ({ memory }) => memory),
    handles: line('handles and threads', ({ handles }) => handles),
    // For the eye: in a window there are fewer samples than a percentile of its own would need.
    ttfa: line('p95 of the first audio', (window) => latenciesIn(window.phase, 'ttfa').at(95) ?? Number.NaN),
  };
  const growth = (name: keyof typeof lines): number => slopeOf(lines[name].points);
  context.add(
    { ...common, name: 'soak.memory', unit: 'MB a minute', value: growth('memory') },
    { ...common, name: 'soak.handles', unit: 'a minute', value: growth('handles') },
    { ...common, name: 'soak.ttfa', unit: 'ms a minute', value: growth('ttfa') },
    failedFigure('soak.failed', 'gateway', phase),
  );
  for (const each of Object.values(lines))
    context.chart({
      title: `soak: ${each.name}`,
      kind: 'curve',
      x: { label: 'min' },
      y: { label: '' },
      lines: [each],
    });
}

export default scenario<Parameters>({
  name: 'soak',
  title: 'The same load for long: growth of memory, handles and latency (--minutes)',
  isLocal: true,
  parameters: { full: FULL, quick: QUICK },
  async run(context, parameters) {
    const server = await context.start({ ...TONE, ...(await callEnvironment(context)) });
    report(context, await measureWindows(context, server, parameters));
  },
});
