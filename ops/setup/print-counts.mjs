/** Prints `N passed, N failed` from the counts that the last run of the tests has written; CI's last line. */
import './node-version.mjs';
import { countLine, readCounts } from './counts.mjs';

console.log(countLine(readCounts(process.argv[2])));
