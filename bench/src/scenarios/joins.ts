/** Callers that join: how long until media flows in both directions, and what a join costs. */
import { latencyFigures } from '../figures.js';
import { doubtsIn, failedFigure, interleaved, latenciesIn, requestsIn } from '../measure/phase.js';
import { percentileChart } from '../report/charts.js';
import { TONE } from '../servers/checkout.js';
import { callEnvironment, Callers, makeListener } from './call-load.js';
import { scenario } from './scenario.js';

interface Parameters {
  /** In each round; they leave before the next one. */
  readonly calls: number;
  readonly atOnce: number;
  readonly rounds: number;
}

export default scenario<Parameters>({
  name: 'joins',
  title: 'Callers that join: until media flows, and what a join costs',
  isLocal: true,
  parameters: { full: { calls: 40, atOnce: 4, rounds: 3 }, quick: { calls: 4, atOnce: 2, rounds: 1 } },
  async run(context, { calls, atOnce, rounds }) {
    const server = await context.start({ ...TONE, ...(await callEnvironment(context)) });
    const invite = await makeListener(server);
    const join = async () => {
      const callers = new Callers(context, server, invite);
      const joined = await callers.join(calls, atOnce);
      await callers.leave();
      await callers.stop();
      return joined;
    };
    const phases = await interleaved([join], rounds, (each) => each());
    const phase = phases.get(join)!;
    const common = { subject: server.name, doubts: doubtsIn(phase) };
    const n = requestsIn(phase);
    const each = (ms: number | undefined): number => (ms ?? Number.NaN) / n;
    context.add(
      ...latencyFigures('joins.join', latenciesIn(phase, 'join'), common),
      { ...common, name: 'joins.cpu', unit: 'ms', n, value: each(phase.cost?.process) },
      { ...common, name: 'joins.cpu.all', unit: 'ms', n, value: each(phase.cost?.family) },
      failedFigure('joins.failed', server.name, phase),
    );
    context.chart(percentileChart('joins: until media flows', { gateway: phase }, 'join'));
  },
});
