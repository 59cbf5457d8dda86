/** The gateway's event loop while 8 requests of 200 characters are spoken, against an idle gateway's. */
import { setTimeout as pause } from 'node:timers/promises';
import { DEFAULTS, type Gateway, startGateway } from '../test/fixtures/gateway.js';
import { median, row, speak } from './measure.js';

const SENTENCE = 'The package was delivered to the front door this morning, and the driver left a note. ';
const TEXT = SENTENCE.repeat(3).slice(0, 200);
const ROUNDS = 5;

/** p99 of the loop's delay since the last scrape, in milliseconds. */
async function p99(gateway: Gateway): Promise<number> {
  const metrics = await (await fetch(`${gateway.base}/metrics`)).text();
  return Number(/^nodejs_eventloop_lag_p99_seconds (\S+)/m.exec(metrics)?.[1]) * 1000;
}

const gateway = await startGateway(DEFAULTS);
try {
  const added: number[] = [];
  const idle: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    await p99(gateway);
    await pause(3000);
    const quiet = await p99(gateway);
    await Promise.all(Array.from({ length: 8 }, () => speak(gateway, { text: TEXT, format: 'mp3' })));
    added.push((await p99(gateway)) - quiet);
    idle.push(quiet);
  }
  row('loop delay, p99, idle', median(idle), 'ms');
  row('loop delay, p99, added by 8 requests of 200 characters', median(added), 'ms', '+20 ms');
} finally {
  await gateway.stop();
}
