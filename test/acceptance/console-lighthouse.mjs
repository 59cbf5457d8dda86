/**
 * Lighthouse's own scores of the console, of a user who has signed in; measures.mjs has what tests hold.
 *
 *   npm install --prefix FOLDER lighthouse
 *   node test/acceptance/console-lighthouse.mjs FOLDER [VIEW …]     the views' addresses, such as agents; '' is Start
 *
 * Fails where one score of a desktop or a phone is below 95.
 */
import { startGateway, TEST_KEY } from '../../dist/test/fixtures/gateway.js';
import { startLighthouse } from './lighthouse.mjs';

const ENOUGH = 95;
const VIEWS = [
  ...['', 'speak', 'listen', 'realtime', 'talk', 'agents', 'tools', 'knowledge', 'voices', 'tests', 'phone'],
  ...['calls', 'deliveries', 'machine'],
];
const FORMS = ['desktop', 'mobile'];

const [folder, ...asked] = process.argv.slice(2);
const lighthouse = await startLighthouse(folder);
const gateway = await startGateway();
const signIn = (page) =>
  page.evaluateOnNewDocument((key) => sessionStorage.setItem('console.key', key), TEST_KEY);
try {
  for (const view of asked.length > 0 ? asked : VIEWS)
    for (const form of FORMS) {
      const { scores, wrong } = await lighthouse.look(`${gateway.base}/console#/${view}`, form, signIn);
      console.log(view || 'start', form, scores);
      for (const line of wrong) console.log(`  ${line}`);
      const { performance, accessibility, 'best-practices': practices } = scores;
      if (Math.min(performance, accessibility, practices) < ENOUGH) process.exitCode = 1;
    }
} finally {
  await lighthouse.stop();
  await gateway.stop();
}
