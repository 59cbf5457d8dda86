/** `node print-counts.mjs FILE…`: `N passed, N failed`, the sum of what these runs of the tests have counted; CI's last line. */
import './node-version.mjs';
import { countLine, readCounts, sum } from './counts.mjs';

console.log(countLine(sum(process.argv.slice(2).map((file) => ({ ...readCounts(file), skipped: 0 })))));
